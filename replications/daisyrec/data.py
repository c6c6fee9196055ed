"""Data sets, views and splits of the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fullrank as fr
from fullrank.core.interactions import Interactions
from fullrank.data.filters import NFilter, apply_all
from fullrank.split import RandomRows, Split
from fullrank.split._base import TEST, TRAIN

FILES = {"ML-1M": "ml-1m-pos4", "LastFM": "lastfm-2k"}
"""Folder of each set; ML-1M holds ratings of 4 and 5 only, as in the study."""

VIEWS = {"origin": 0, "5-filter": 5, "10-filter": 10}
"""Pairs that users and items must have, counted once."""

TIMED = ("ML-1M",)
"""Sets whose times are known: LastFM has none, so that its split by time was one by chance."""

STRATEGIES: dict[str, dict[str, Any]] = {
    "TSBR": {"strategy": "GlobalTime", "test": 0.2, "valid": 0.08},
    "RSBR": {"strategy": "RandomRows", "test": 0.2, "valid": 0.08},
    "TLOO": {"strategy": "LeaveLast", "n": 1, "valid": 1},
    "RLOO": {"strategy": "LeaveRandom", "n": 1, "valid": 1},
}
"""Splits of the honest part; by ratio a tenth of the training rows validates, as in the study."""


def path_of(data: str) -> str:
    """File of a set, below the folder with the data sets."""
    return f"{FILES[data]}/interactions.parquet"


def rows_of(folder: Path, data: str, view: str) -> Interactions:
    """A view of a data set."""
    log = fr.read(folder / path_of(data)).interactions
    n = VIEWS[view]
    return apply_all(log, [NFilter(users=n, items=n)] if n else [], 0, compact=True)


def authors_split(rows: Interactions, data: str, seed: int) -> Split:
    """80/20 as in the study: the last fifth of the rows in time to the row, or by chance."""
    if data not in TIMED:
        return RandomRows(test=0.2, valid=0.0).split(rows, rng=seed)
    assert rows.times is not None
    order = np.lexsort((rows.items, rows.users, rows.times))
    part = np.full(len(rows), TRAIN, np.int8)
    part[order[int(np.ceil(0.8 * len(rows))) :]] = TEST
    return Split(rows, part, {"strategy": "DaisyRec tsbr", "test": 0.2})
