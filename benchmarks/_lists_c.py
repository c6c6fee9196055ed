"""The plain loop in C that lists to metrics are measured against, built on the spot."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).parent / "c" / "lists.c"
FAMILIES = ("ndcg", "recall", "precision", "hitrate", "f1", "mrr", "map")
CUTS = (5, 10, 20, 50, 100)
NAMES = (*(f"{family}@{k}" for family in FAMILIES for k in CUTS), "rprecision")
"""Metrics in the order of the rows that the loop writes."""


def build() -> ctypes.CDLL:
    """Compile with ``gcc -O3 -march=native``."""
    folder = Path(tempfile.mkdtemp())
    made = folder / "lists.so"
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(made), str(SOURCE)]
    subprocess.run([*command, "-lm"], check=True)
    return ctypes.CDLL(str(made))


def per_query(
    library: ctypes.CDLL, arrays: tuple[NDArray[np.int32], ...], n_users: int, n_items: int
) -> NDArray[np.float64]:
    """Values ``[metric, user]`` of lists and held-out items (users, items, users, items)."""
    out = np.empty((len(NAMES), n_users))
    cuts = np.array(CUTS, dtype=np.int32)
    users, items, target_users, target_items = (a.ctypes.data_as(ctypes.c_void_p) for a in arrays)
    n, n_targets = ctypes.c_int64(len(arrays[0])), ctypes.c_int64(len(arrays[2]))
    failed = library.lists_to_metrics(
        users, items, n, target_users, target_items, n_targets, ctypes.c_int32(n_users),
        ctypes.c_int32(n_items), cuts.ctypes.data_as(ctypes.c_void_p), ctypes.c_int32(len(cuts)),
        ctypes.c_int32(max(CUTS)), out.ctypes.data_as(ctypes.c_void_p),
    )  # fmt: skip
    assert not failed, "no memory for the loop"
    return out
