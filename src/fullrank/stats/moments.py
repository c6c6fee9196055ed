"""The interval of a mean from its moments, and what can be said where there is no spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.core.estimate import Estimate
from fullrank.core.state import State
from fullrank.stats.clusters import NOISE

SAMPLE = "users are a simple random sample of the population"
Bounds = tuple[float, float]


def state_interval(state: State, *, level: float = 0.95, bounds: Bounds | None = None) -> Estimate:
    """Interval of the mean of a merged state, for results too large to keep value by value.

    ``mean ± t * se`` with ``n_users - 1`` degrees of freedom, where ``se`` is the standard error
    of a ratio of sums over users (Cochran 1977, eq. 6.13; Deng, Knoblich & Lu 2018).

    Args:
        state: moments by user; one user's queries must have gone into one part.
        level: confidence level.
        bounds: range of the metric, used if all users agree (see ``mean_interval``).

    Raises:
        SpecError: a level outside (0, 1), or bounds that don't hold the mean.
    """
    check_level(level)
    flat = not state.standard_error > NOISE * abs(state.value)
    return analytic(state, level, bounds, flat=flat)


def analytic(state: State, level: float, bounds: Bounds | None, *, flat: bool) -> Estimate:
    """``state_interval`` with the caller's word on whether there is any spread."""
    found = without_spread(state, level, bounds, flat=flat)
    if found is not None:
        return found
    from scipy.special import stdtrit

    half = float(stdtrit(state.n_users - 1, (1 + level) / 2)) * state.standard_error
    return replace(
        blank(state, level),
        low=state.value - half,
        high=state.value + half,
        se=state.standard_error,
        method="t from moments, by user",
        assumptions=(SAMPLE, f"the mean over {state.n_users:,} users is close to normal"),
    )


def blank(state: State, level: float) -> Estimate:
    """An estimate with the counts and the mean of a state, and no interval yet."""
    nan = float("nan")
    return Estimate(
        value=state.value,
        low=nan,
        high=nan,
        se=nan,
        level=level,
        n_queries=state.n_queries,
        undefined=state.undefined,
        n_users=state.n_users,
        method="none",
        assumptions=(),
    )


def without_spread(
    state: State, level: float, bounds: Bounds | None, *, flat: bool
) -> Estimate | None:
    """The estimate where no spread between users can be seen; None if one can.

    No value or one user gives no interval. If all of ``n`` users agree, a share of the population
    up to ``p = 1 - (1 - level)**(1/n)`` may be unlike them (the rule of three): with ``bounds``
    the interval allows for that share at the ends of the range, without it has width zero and
    says so.
    """
    found = blank(state, level)
    if state.n_users == 0:
        return replace(found, assumptions=("no query has a value: there is nothing to estimate",))
    if state.n_users == 1:
        reason = "one user shows no spread between users: there is no interval"
        return replace(found, assumptions=(reason,))
    if not flat:
        return None
    share = 1 - (1 - level) ** (1 / state.n_users)
    agree = f"all {state.n_users:,} users have the same mean"
    if bounds is None:
        doubt = (
            f"{agree}: width zero is no certainty, up to {share:.2%} of the population may be "
            "unlike them"
        )
        low = high = state.value
    else:
        low, high = _mixed(state.value, share, bounds)
        doubt = f"{agree}; up to {share:.2%} of the population may lie at the ends of the range"
    return replace(
        found, low=low, high=high, se=0.0, method="constant", assumptions=(SAMPLE, doubt)
    )


def _mixed(value: float, share: float, bounds: Bounds) -> Bounds:
    floor, ceiling = bounds
    slack = NOISE * float(np.max(np.abs(bounds)))
    if not floor - slack <= value <= ceiling + slack:
        raise SpecError(f"bounds {bounds} don't hold the mean {value:g}; give the metric's range")
    low = value - share * max(value - floor, 0.0)
    return low, value + share * max(ceiling - value, 0.0)


def check_level(level: float) -> None:
    """Refuse a confidence level that is none.

    Raises:
        SpecError: not between 0 and 1.
    """
    if not 0 < level < 1:
        raise SpecError(f"level must lie between 0 and 1, such as 0.95, got {level!r}")
