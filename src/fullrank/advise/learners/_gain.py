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
NUMBERS = (
    "gain", "low", "high", "single_low", "single_high", "usual", "usual_low", "usual_high",
)  # fmt: skip
USUAL_LEVEL = 0.95


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

    out: list[tuple[object, ...]] = []
    there = known["strategy"].unique().to_list()  # a choice among others says nothing of these
    parts = [(said, own.filter(own["strategy"].is_in(there))) for said, own in parts]
    errors_of = {
        scenario: [gain_errors(own.filter(own["scenario"] == scenario), over) for _, own in parts]
        for scenario in known["scenario"].unique()
    }
    usual_of = {
        (scenario, keep): usual_gain(
            [at_nearest_size(own.filter(own["scenario"] == scenario), keep) for _, own in parts],
            over,
        )
        for scenario, keep in known.select("scenario", "keep").unique().iter_rows()
    }
    for best, base in best_others(known, taus, over):
        key = known.row(best, named=True)
        mean, single = [], []
        for (predicted, _), errors in zip(parts, errors_of[key["scenario"]]):
            if len(errors):
                here = np.array([predicted[best] - predicted[base]])
                mean.append(LeftOut(here, np.abs(errors.mean(keepdims=True))))
                single.append(LeftOut(here, np.abs(errors)))
        ends = (*_ends(mean, level), *_ends(single, level), *usual_of[key["scenario"], key["keep"]])
        gain = float(taus[best] - taus[base])
        out.append((*(key[name] for name in GROUP), key["strategy"], gain, *ends, len(mean)))
    shape: dict[str, type[pl.DataType]] = dict.fromkeys(GROUP, pl.String)
    shape |= {"keep": pl.Float64, "strategy": pl.String, **dict.fromkeys(NUMBERS, pl.Float64)}
    return pl.DataFrame(out, {**shape, "data_sets": pl.Int64}, orient="row")


def _ends(parts: Sequence[LeftOut], level: float | None) -> tuple[float | None, float | None]:
    """Of the interval of one gain."""
    if level is None:
        return None, None
    if not parts:
        return RANGE
    low, high = jackknife_plus(parts, level, RANGE)
    return float(low[0]), float(high[0])


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
    """Measured gains of the samplers that would have been chosen less predicted: float64 ``[m]``.

    Args:
        own: cells of a data set left out, with ``tau`` and ``predicted``.
        over: the given strategy.
    """
    if not len(own):
        return np.zeros(0)
    error = own["tau"].to_numpy() - own["predicted"].to_numpy()
    pairs = best_others(own, own["predicted"].to_numpy(), over)
    return np.array([error[best] - error[base] for best, base in pairs])


def at_nearest_size(own: pl.DataFrame, keep: float) -> pl.DataFrame:
    """Cells of a data set at the size that lies nearest, by ratio; of two, at the larger one."""
    if not len(own):
        return own
    sizes = np.sort(own["keep"].unique().to_numpy())[::-1]
    nearest = sizes[np.argmin(np.abs(np.log(sizes / keep)))]
    return own.filter(own["keep"] == nearest)


def usual_gain(
    parts: Sequence[pl.DataFrame], over: str
) -> tuple[float | None, float | None, float | None]:
    """What it gained on data sets left out to take the sampler with the highest prediction.

    Where that is the given one, the gain is 0. A t interval over data sets at 95 %, widened as in
    ``fullrank.advise.protocol`` for the training data that they share.

    Args:
        parts: cells of each data set left out, with ``tau`` and ``predicted``.
        over: the given strategy.

    Returns:
        Mean over data sets with the ends of its interval; null with fewer than two data sets.
    """
    from fullrank.advise.protocol import of_data_sets
    from fullrank.stats import mean_interval

    means = []
    for own in parts:
        tau, predicted = own["tau"].to_numpy(), own["predicted"].to_numpy()
        found = [
            tau[best] - tau[base] if predicted[best] > predicted[base] else 0.0
            for best, base in best_others(own, predicted, over)
        ]
        if found:
            means.append(float(np.mean(found)))
    if len(means) < 2:
        return None, None, None
    usual = of_data_sets(
        mean_interval(np.array(means), level=USUAL_LEVEL, method="analytic"), learnt=True
    )
    return usual.value, usual.low, usual.high
