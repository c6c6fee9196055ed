"""Settings chosen by the test rows, as the published code does, beside those by validation rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.experiment.psi import PsiResults, psi
from fullrank.experiment.store import Store
from fullrank.stats import kendall_tau
from replications.svpcf import parts, work
from replications.svpcf.grids import grid
from replications.svpcf.sets import Source

GRIDS: Mapping[str, tuple[str, list[Any]]] = {
    "ItemKNN": ("neighbours", [10, 100, 500]),
    "UserKNN": ("neighbours", [10, 100, 500]),
    "RP3beta": ("beta", [0.0, 0.3, 0.8]),
    "EASE": ("reg", [20.0, 200.0, 2000.0]),
    "SLIM": ("l2_reg", [1.0, 10.0, 100.0]),
    "PureSVD": ("embedding_dim", [8, 24, 64]),
    "IALS": ("reg", [0.001, 0.01, 0.1]),
}
"""One setting of each model, three values."""
FIXED = {"IALS": {"embedding_dim": 32}}
SAMPLERS = ("rows, random", "users, random", "users, head")
METRIC = "NDCG@10"
Values = dict[tuple[str, float], dict[str, float]]
"""By sampler and size the value of each model or setting."""


def searched() -> list[dict[str, Any]]:
    """Models with their values to choose from, on validation rows."""
    return [
        {"name": name, "settings": FIXED.get(name, {}), "search": {setting: values}}
        for name, (setting, values) in GRIDS.items()
    ]


def apart() -> list[dict[str, Any]]:
    """Every value as a model of its own, to choose from by what it has on the test rows."""
    return [
        {
            "label": f"{name} {value}",
            "name": name,
            "settings": {**FIXED.get(name, {}), setting: value},
        }
        for name, (setting, values) in GRIDS.items()
        for value in values
    ]


def best_of(values: Mapping[str, float]) -> dict[str, float]:
    """The best value of each model, by the test rows that it is reported on."""
    out: dict[str, float] = {}
    for label, value in values.items():
        name = label.split(" ")[0]
        out[name] = max(value, out.get(name, -np.inf))
    return out


def values_of(found: PsiResults, store: Path) -> Values:
    """Values of all models by sampler and size; the full data have no sampler."""
    out: Values = {}
    for row in work.values(found, Store.open(store)):
        if row["metric"] == METRIC:
            about = ("scenario", "metric", "keep", "sampler")
            out[row["sampler"], row["keep"]] = {k: v for k, v in row.items() if k not in about}
    return out


def taus(values: Values, sampler: str, keeps: Sequence[float]) -> float:
    """Mean tau over sizes."""
    full = values["", 1.0]
    pairs = [([full[m] for m in full], [values[sampler, keep][m] for m in full]) for keep in keeps]
    return float(np.mean([kendall_tau(a, b) for a, b in pairs]))


def rows(
    source: Source, seed: int, store: Path, keeps: Sequence[float]
) -> Iterator[dict[str, Any]]:
    """A row a sampler.

    Args:
        source: the data set.
        seed: of split, draws and fits.
        store: for the cells.
        keeps: sizes.
    """
    only = Source(source.name, ("implicit",), source.before)
    samplers = [dict(one) for one in parts.SAMPLERS if one["label"] in SAMPLERS]
    tune = {"metric": METRIC, "trials": 3, "sampler": "grid"}
    found: dict[str, Values] = {}
    for name, models in (("valid", searched()), ("test", apart())):
        scenario: dict[str, Any] = {
            **parts.scenario_of("implicit", models),
            "metrics": [METRIC],
            **({"tune": tune} if name == "valid" else {}),
        }
        spec = grid(only, seed, {}, keep=keeps, sampler=samplers, scenario=[scenario])
        results = psi(spec, store, progress=work.told(f"choice on {name} rows, seed {seed}"))
        found[name] = values_of(results, store)
    best = {place: best_of(values) for place, values in found["test"].items()}
    for sampler in SAMPLERS:
        without = taus(found["valid"], sampler, keeps)
        yield {
            "trap": "choice on test rows",
            "sampler": sampler,
            "without": without,
            "with": taus(best, sampler, keeps),
            "without_same_terms": without,
            "terms_without": len(keeps),
            "terms_with": len(keeps),
        }
