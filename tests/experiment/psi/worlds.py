"""A small Psi file on the log of the benchmarks' tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.experiment.worlds import log, toml

from fullrank.core.errors import DataError
from fullrank.models import Popularity

MODELS = [
    {"name": "Popularity"},
    {"name": "ItemKNN", "search": {"neighbours": [2, 20]}},
    {"name": "EASE", "settings": {"reg": 10.0}},
]
FUSSY = {"name": "tests.experiment.psi.worlds:Fussy"}


class Fussy(Popularity):
    """Popularity that refuses few rows."""

    def _fit(self, train, rng, monitor):
        if len(train) < 200:
            raise DataError(f"{len(train)} rows are too few; bring 200")
        super()._fit(train, rng, monitor)


def scenario(name: str = "implicit", **changes: Any) -> dict[str, Any]:
    """A scenario with random rows held out."""
    base = {
        "name": name,
        "metrics": ["ndcg@10", "auc"],
        "split": {"strategy": "RandomRows", "valid": 0.2, "test": 0.2},
        "tune": {"metric": "ndcg@10", "trials": 2, "sampler": "grid"},
        "model": MODELS,
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def content(**changes: Any) -> dict[str, Any]:
    """A Psi file on ``log.csv``; ``None`` drops a key."""
    base: dict[str, Any] = {
        "keep": [0.6, 0.3],
        "resamples": 100,
        "floor": {"rows": 50, "users": 10, "items": 10},
        "data": {"name": "small", "path": "log.csv"},
        "sampler": [{"name": "RandomInteractions"}, {"name": "RandomUsers"}],
        "scenario": [scenario()],
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def psi_file(folder: Path, *, without: Sequence[str] = (), **changes: Any) -> Path:
    """Write the log, without some of its columns, and a Psi file; returns the latter's path."""
    log().drop(without).write_csv(folder / "log.csv")
    path = folder / "psi.toml"
    path.write_text(toml(content(**changes)))
    return path
