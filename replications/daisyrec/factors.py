"""One factor of MF at a time: objective, negatives, start and optimiser; ML-1M, 10-filter, TSBR.

Each level is run twice: with the settings that suit the base (the study's way), and tuned anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.experiment.run import run
from fullrank.experiment.spec import BenchSpec, parse_spec
from replications.daisyrec.data import STRATEGIES, path_of

TRIALS = 3
BASE: dict[str, Any] = {"embedding_dim": 16, "epochs": 10}
LEVELS: dict[str, dict[str, str]] = {
    "objective": {"cross-entropy": "crossentropy", "hinge": "hinge", "top-1": "top1"},
    "negatives": {
        "high popularity": "popularity(exponent=1)",
        "low popularity": "popularity(exponent=-1)",
        "uniform + high": "mixture(uniform, popularity(exponent=1), share=0.5)",
        "uniform + low": "mixture(uniform, popularity(exponent=-1), share=0.5)",
    },
    "init": {
        "normal 0.01": "normal(std=0.01)",
        "uniform 0 to 1": "uniform(low=0, high=1)",
        "Xavier uniform": "xavier_uniform",
        "Xavier normal": "xavier_normal",
    },
    "optimiser": {"AdaGrad": "adagrad"},
}
"""What is changed from BPR, uniform negatives, normal 0.1 and SGD."""

SPACE = {
    "learning_rate": {"low": 0.005, "high": 0.2, "log": True},
    "reg": {"low": 1e-4, "high": 0.1, "log": True},
}
METRICS = ("ndcg@10", "hr@10")


def names() -> dict[str, dict[str, str]]:
    """Settings by the name of a level; the base first."""
    made = {"base": dict[str, str]()}
    for factor, levels in LEVELS.items():
        made |= {f"{factor}: {name}": {factor: value} for name, value in levels.items()}
    return made


def spec() -> BenchSpec:
    """The benchmark: every level with fixed settings, and with a search."""
    models: list[dict[str, Any]] = []
    for name, changed in names().items():
        settings = {**BASE, **changed}
        models.append({"name": "BPRMF", "label": name, "settings": settings})
        tuned = {"name": "BPRMF", "label": f"{name}, tuned", "settings": settings, "search": SPACE}
        models.append(tuned)
    return parse_spec(
        {
            "name": "Factors of MF, ML-1M, 10-filter, TSBR",
            "seeds": [1],
            "baseline": "base, tuned",
            "metrics": list(METRICS),
            "data": [{"name": "ML-1M", "path": path_of("ML-1M")}],
            "filters": {"before": [{"nfilter": {"users": 10, "items": 10}}]},
            "split": STRATEGIES["TSBR"],
            "tune": {"metric": "ndcg@10", "trials": TRIALS},
            "model": models,
        }
    )


def run_all(folder: Path, cache: Path) -> Results:
    """Run what is missing."""
    return run(
        spec(), cache / "factors", base=folder, progress=lambda step: print(step.text, flush=True)
    )


def table(results: Results) -> list[list[str]]:
    """NDCG@10 of warm users: fixed settings, tuned, and how far tuned ones are from the base."""
    values = {
        row["model"]: row
        for row in leaderboard(results)
        if row["users"] == "warm" and row["metric"] == "NDCG@10"
    }
    tests = {
        row["model"]: row
        for row in paired_tests(results)
        if row["users"] == "warm" and row["metric"] == "NDCG@10"
    }
    out = []
    for name in names():
        fixed, tuned = values[name], values[f"{name}, tuned"]
        test = tests.get(f"{name}, tuned")
        apart = (
            ""
            if test is None
            else f"{test['difference']:+.4f} ({test['low']:+.4f} … {test['high']:+.4f})"
        )
        out.append([name, f"{fixed['value']:.4f}", f"{tuned['value']:.4f}", apart])
    return out
