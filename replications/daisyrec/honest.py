"""The study under an honest protocol: full ranking, tuned on validation rows, cold users apart."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fullrank.experiment.results import Results
from fullrank.experiment.run import run
from fullrank.experiment.spec import BenchSpec, parse_spec
from replications.daisyrec.data import STRATEGIES, VIEWS, path_of

METRICS = ("ndcg@10", "precision@10", "recall@10", "hr@10", "map@10", "mrr@10")
TRIALS = 5

LIGHT: list[dict[str, Any]] = [
    {"name": "Popularity", "label": "MostPop"},
    {"name": "ItemKNN", "search": "default"},
    {"name": "PureSVD", "search": "default"},
    {"name": "SLIM", "search": "default"},
    {"name": "BPRMF", "settings": {"epochs": 50}, "search": "default"},
]
"""With BPR as its loss FM orders items as BPRMF does, whose items have biases here: one row."""

NEURAL: list[dict[str, Any]] = [
    {"name": "MultiVAE", "label": "Multi-VAE", "settings": {"epochs": 30}, "search": "default"},
    {"name": "NeuMF", "settings": {"epochs": 5, "batch_size": 512}, "search": "default"},
    {"name": "NFM", "settings": {"epochs": 5, "batch_size": 512}, "search": "default"},
    {
        "name": "NGCF",
        "settings": {"epochs": 5, "batch_size": 4096, "embedding_dim": 32},
        "search": {
            "learning_rate": {"low": 1e-3, "high": 1e-1, "log": True},
            "reg": {"low": 1e-5, "high": 1e-2, "log": True},
            "dropout": {"low": 0.0, "high": 0.8},
            "node_dropout": {"low": 0.0, "high": 0.8},
        },
    },
]

Bench = tuple[str, str, str]
"""Data set, view and split."""

BENCHES: tuple[Bench, ...] = (
    ("ML-1M", "10-filter", "TSBR"),
    ("LastFM", "10-filter", "RSBR"),
    ("ML-1M", "10-filter", "RSBR"),
    ("ML-1M", "10-filter", "TLOO"),
    ("LastFM", "5-filter", "RSBR"),
    ("LastFM", "origin", "RSBR"),
    ("LastFM", "10-filter", "RLOO"),
    ("ML-1M", "10-filter", "RLOO"),
    ("ML-1M", "origin", "TSBR"),
    ("ML-1M", "5-filter", "TSBR"),
)
WITH_NEURAL: tuple[Bench, ...] = BENCHES[:2]


def spec_of(bench: Bench, models: list[dict[str, Any]]) -> BenchSpec:
    """The benchmark file of one data set, view and split."""
    data, view, split = bench
    n = VIEWS[view]
    before = [{"nfilter": {"users": n, "items": n}}] if n else []
    return parse_spec(
        {
            "name": f"{data}, {view}, {split}",
            "seeds": [1],
            "baseline": "MostPop",
            "metrics": list(METRICS),
            "data": [{"name": data, "path": path_of(data)}],
            "filters": {"before": before},
            "split": STRATEGIES[split],
            "ranking": {"catalogue": "fit", "cold_users": "apart"},
            "tune": {"metric": "ndcg@10", "trials": TRIALS, "refit": "train+valid"},
            "model": models,
        }
    )


def models_of(bench: Bench) -> list[dict[str, Any]]:
    """The light models, and where they are run and PyTorch is there, the neural ones."""
    if bench in WITH_NEURAL and find_spec("torch") is not None:
        return [*LIGHT, *NEURAL]
    return LIGHT


def store_of(cache: Path, bench: Bench) -> Path:
    """Folder of the results of one bench."""
    return cache / "honest" / "-".join(bench).lower()


def run_all(folder: Path, cache: Path, chosen: Iterable[Bench] = BENCHES) -> dict[Bench, Results]:
    """Run what is missing, and read all results."""
    out = {}
    for bench in chosen:
        spec = spec_of(bench, models_of(bench))
        out[bench] = run(
            spec,
            store_of(cache, bench),
            base=folder,
            progress=lambda step, bench=bench: print(*bench, step.text, flush=True),  # type: ignore[misc]
        )
    return out
