"""What the advice itself is worth, not only the predictions behind it: leave one data set out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullrank.advise._regret import TIE
from fullrank.advise.learners._base import Learner
from fullrank.advise.meta_data import MetaData
from fullrank.advise.protocol import RANDOM, Evaluation, evaluate
from fullrank.advise.table import CELL, GROUP, cells
from fullrank.core.errors import DataError
from fullrank.core.random import RNG, derive, seed_of

if TYPE_CHECKING:
    import polars as pl

BASELINE = "RandomInteractions"
"""What a sampler has to beat: random rows cost nothing to draw."""
LEVEL = 0.8
"""Of intervals: jackknife+ needs four data sets at 80 %, and nineteen at 95 %."""
ADVISED = "advised"
"""Chooser: the sampler that ``advise`` names."""
ROWS = "random rows"
"""Chooser: always ``RandomInteractions``."""
_LEAST = 2


def track_record(
    meta: MetaData, learner: Learner, rng: RNG = 0, *, level: float = LEVEL
) -> Evaluation:
    """Leave each data set out in turn, and do there what ``advise`` does.

    Beside the choosers of ``evaluate`` (the learner under its own name) there are ``random rows``,
    which always takes ``RandomInteractions``, and ``advised``, which takes the best predicted
    sampler if ``advise`` would, having seen the other data sets alone, and random rows else. Their
    mse is that of the random choice and of the learner, whose taus they go by.

    Args:
        meta: of four data sets or more.
        learner: what predicts.
        rng: seed or Generator.
        level: of the interval that the advice depends on.

    Raises:
        DataError: too few data sets with ``RandomInteractions`` and others.
    """
    import polars as pl

    table, seed = comparable(meta.taus), seed_of(rng)
    found = evaluate(table, meta.features, {learner.name: learner}, seed)
    rows = []
    for one in table["data"].unique().sort():
        test, training = table.filter(pl.col("data") == one), table.filter(pl.col("data") != one)
        fitted = learner.fit(training, meta.features, derive(seed, one, learner.name), level=level)
        gains = fitted.gains(test, meta.features, BASELINE)
        rows += [_row(test, gain) for gain in gains.iter_rows(named=True)]
    taken = pl.DataFrame(rows, [*GROUP, "strategy", "best", "own", "base"], orient="row")
    out = [found.groups]
    for chooser, column, mse in ((ROWS, "base", RANDOM), (ADVISED, "own", learner.name)):
        errors = found.groups.filter(pl.col("chooser") == mse).select(*GROUP, "mse", "samplers")
        regret = pl.col("best") - pl.col(column)
        own = taken.join(errors, on=list(GROUP)).select(
            pl.lit(chooser).alias("chooser"), *GROUP, regret.alias("regret"),
            (regret <= TIE).cast(pl.Float64).alias("p@1"), "mse", "samplers",
        )  # fmt: skip
        out.append(own.select(found.groups.columns))
    unmeasured = len(meta.taus) - len(table)
    return replace(found, groups=pl.concat(out), unmeasured=unmeasured)


def is_taken(gain: float, low: float | None, usual_low: float | None) -> bool:
    """Whether the best other sampler is advised, and not random rows.

    Args:
        gain: predicted, over random rows.
        low: lower end of its interval for data like these.
        usual_low: lower end of what such choices gained on average over data sets left out.
    """
    sure = low is not None and low > 0
    return sure or (gain > 0 and usual_low is not None and usual_low > 0)


def _row(test: pl.DataFrame, gain: dict[str, Any]) -> tuple[object, ...]:
    """A group, the strategy advised, and the taus of the best, of it, and of random rows."""
    import polars as pl

    own = test.filter(*(pl.col(name) == gain[name] for name in GROUP))
    tau = dict(zip(own["strategy"], own["tau"]))
    taken = is_taken(gain["gain"], gain["low"], gain["usual_low"])
    advised = gain["strategy"] if taken else BASELINE
    group = tuple(gain[name] for name in GROUP)
    return (*group, advised, max(tau.values()), tau[advised], tau[BASELINE])


def comparable(taus: pl.DataFrame) -> pl.DataFrame:
    """Cells that can be judged on a data set left out.

    These are of groups with ``RandomInteractions`` and another sampler, and of samplers, scenarios
    and metrics that two data sets have at least.

    Raises:
        DataError: there are none.
    """
    import polars as pl

    table = cells(taus)
    while len(table):
        before = len(table)
        for name in ("strategy", "scenario", "metric"):
            table = table.filter(pl.col("data").n_unique().over(name) >= _LEAST)
        based = (pl.col("strategy") == BASELINE).any().over(GROUP)
        table = table.filter(based & (pl.len().over(GROUP) > 1))
        if len(table) == before:
            return table.select(*CELL, "tau", "tau_sd")
    raise DataError(
        f"no sampler beside {BASELINE} was measured on two data sets; there is nothing to judge "
        "advice by"
    )
