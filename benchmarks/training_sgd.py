"""BPR and SLIM beside other tools: `python -m benchmarks.training_sgd`.

Every fit runs in a process of its own, with two threads. Beside each wall time stand the processor
seconds of all threads, which a busy machine changes less.

**BPR**, MovieLens-20M's shape, an epoch (as many steps as rows). implicit draws positives with
replacement and negatives by popularity, and leaves a step out whose negative the user has; fullrank
takes each row once, draws by popularity too here and draws again. Rates, penalty and start are
implicit's. irspack's BPR is LightFM's, whose AdaGrad steps have no other rule: the same rows, its
defaults, no recall beside it.

**SLIM**, MovieLens-1M's shape, the same objective: fastslim's ``lambd`` and ``beta`` are
``l1_reg`` and ``l2_reg``; irspack's ``alpha`` and ``l1_ratio`` times the number of users are
``l1_reg = n alpha l1_ratio`` and ``l2_reg = n alpha (1 - l1_ratio)``. All stop at the same
tolerance (``1e-4``); what the largest weight differs by is said, and with ``TIGHT`` at a smaller
shape, where weights must agree to 1e-5. irspack stops after a number of sweeps: its default of 100.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._interactions import SHAPE, recall_at_20, save
from benchmarks._measure import alone
from benchmarks._rows import Row, main
from benchmarks._training import cpu_seconds, interactions, peer, timed_fit, training_rows

BPR = (64, 5, 0.05, 0.01)
"""Factors, epochs, learning rate, penalty."""
SLIM_SHAPE, SMALL = (6040, 3706, 1_000_000), (900, 800, 60_000)
SLIM_AT, LOOSE, TIGHT = (5.0, 50.0), 1e-4, 1e-8
"""``l1_reg`` and ``l2_reg``; tolerances."""


def bpr(folder: str, d: int, epochs: int, rate: float, reg: float) -> dict[str, float]:
    """Median seconds of an epoch, processor seconds of one, and held-out recall."""
    import numpy as np

    from fullrank.models import BPRMF

    data = interactions(folder)
    start = f"uniform(low={-0.5 / d}, high={0.5 / d})"
    negatives = "popularity(exponent=1)"
    model = BPRMF(d, epochs, rate, reg, negatives=negatives, init=start)
    model.fit(data.take(np.arange(3000)), rng=0)
    before = cpu_seconds()
    model.fit(data, rng=0)
    used = (cpu_seconds() - before) / epochs
    recall = recall_at_20(folder, model.user_factors_, model.item_factors_)
    seconds = statistics.median(epoch.seconds for epoch in model.log_.epochs)
    return {"seconds": seconds, "cpu": used, "recall": recall}


def slim(folder: str, l1: float, l2: float, tolerance: float, out: str) -> dict[str, float]:
    """Seconds of a fit; the weights go to a file."""
    import numpy as np
    from scipy.sparse import save_npz

    from fullrank.models import SLIM

    data = interactions(folder)
    SLIM(l1, l2).fit(data.take(np.arange(3000)))
    before = cpu_seconds()
    model = SLIM(l1, l2, tolerance=tolerance)
    seconds, _ = timed_fit(data, model, 1)
    save_npz(out, model.weights_)
    return {"seconds": seconds, "cpu": cpu_seconds() - before}


def largest_difference(ours: str, theirs: str) -> float:
    """Between two files of weights."""
    from scipy.sparse import load_npz

    return float(abs(load_npz(ours) - load_npz(theirs)).max())


def _slim_peers(folder: str, home: str, tolerance: float) -> dict[str, Any]:
    """What fastslim and irspack need, and how far their weights are from ours."""
    out: dict[str, Any] = {}
    for tool in ("fastslim", "irspack"):
        place = f"{home}/{tool}.npz"
        found = peer(tool, "slim", folder, *SLIM_AT, tolerance, place)
        if isinstance(found, dict):
            far = alone("benchmarks.training_sgd:largest_difference", f"{home}/ours.npz", place)
            found["said"] = f"weights differ by {far.value:.1e}" if not far.error else far.error
        out[tool] = found
    return out


def _slim_rows(shape: tuple[int, int, int], tolerance: float) -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        save(Path(home), *shape)
        ours = alone("benchmarks.training_sgd:slim", home, *SLIM_AT, tolerance, f"{home}/ours.npz")
        peers = _slim_peers(home, home, tolerance)
    l1, l2 = SLIM_AT
    what = f"SLIM, {shape[1]:,} items, l1 = {l1:g}, l2 = {l2:g}, tolerance {tolerance:g}"
    return training_rows(what, ours, peers, goal="at most 1.2× each")


def rows(quick: bool) -> list[Row]:
    """BPR, then SLIM with the usual tolerance, then with one by which weights must agree."""
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder), *((2000, 900, 60_000) if quick else SHAPE))
        ours = alone("benchmarks.training_sgd:bpr", folder, *BPR)
        peers = {tool: peer(tool, "bpr", folder, *BPR) for tool in ("implicit", "lightfm")}
    d, epochs, rate, reg = BPR
    what = f"BPR, an epoch, {d} factors, rate {rate:g}, reg {reg:g}, recall@20 after {epochs}"
    out = training_rows(what, ours, peers)
    out += _slim_rows(SMALL if quick else SLIM_SHAPE, LOOSE)
    return out + _slim_rows(SMALL, TIGHT)


if __name__ == "__main__":
    main(rows)
