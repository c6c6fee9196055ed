"""The gain of the best predicted sampler over a given one, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._jackknife import LeftOut, jackknife_plus
from fullrank.advise.table import GROUP, codes

if TYPE_CHECKING:
    import polars as pl

RANGE = (-2.0, 2.0)
"""Of the difference of two taus."""


def gains(
    known: pl.DataFrame,
    taus: NDArray[np.float64],
    parts: Sequence[tuple[NDArray[np.float64], pl.DataFrame]],
    over: str,
    level: float | None,
) -> pl.DataFrame:
    """See ``Fitted.gains``.

    Args:
        known: cells, sorted.
        taus: predicted for them: float64 ``[n]``.
        parts: for each data set left out the taus that the model without it predicts for the
            cells, and its own cells with ``tau`` and ``predicted``.
        over: the given strategy.
        level: of the intervals.
    """
    import polars as pl

    pairs = best_others(known, taus, over)
    out: list[tuple[object, ...]] = []
    for best, base in pairs:
        key = known.row(best, named=True)
        left = []
        for predicted, own in parts:
            errors = gain_errors(own.filter(own["scenario"] == key["scenario"]), over)
            if len(errors):
                left.append(LeftOut(np.array([predicted[best] - predicted[base]]), errors))
        low = high = None
        if level is not None:
            ends = jackknife_plus(left, level, RANGE) if left else RANGE
            low, high = (float(np.ravel(end)[0]) for end in ends)
        gain = float(taus[best] - taus[base])
        out.append((*(key[name] for name in GROUP), key["strategy"], gain, low, high, len(left)))
    text, number = pl.String, pl.Float64
    shape = {
        "data": text, "scenario": text, "metric": text, "keep": number, "strategy": text,
        "gain": number, "low": number, "high": number, "data_sets": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(out, shape, orient="row")


def best_others(known: pl.DataFrame, taus: NDArray[np.float64], over: str) -> list[tuple[int, int]]:
    """For each group that has the given sampler and others: rows of the best other and of it.

    Of equal taus the first one by name.
    """
    group, mine = codes(known, GROUP), (known["strategy"] == over).to_numpy()
    found = []
    for base in np.flatnonzero(mine):
        others = np.flatnonzero((group == group[base]) & ~mine)
        if len(others):
            found.append((int(others[np.argmax(taus[others])]), int(base)))
    return found


def gain_errors(own: pl.DataFrame, over: str) -> NDArray[np.float64]:
    """How far predicted gains of the chosen samplers lay from the measured ones: float64 ``[m]``.

    Args:
        own: cells of a data set left out, with ``tau`` and ``predicted``.
        over: the given strategy.
    """
    if not len(own):
        return np.zeros(0)
    tau, predicted = own["tau"].to_numpy(), own["predicted"].to_numpy()
    pairs = best_others(own, predicted, over)
    return np.array([
        abs((tau[best] - tau[base]) - (predicted[best] - predicted[base])) for best, base in pairs
    ])  # fmt: skip
