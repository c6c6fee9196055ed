"""How many users a paired comparison of means needs, and what it can detect."""

from __future__ import annotations

import math

from fullrank.core.errors import SpecError

_MOST = 10**12  # users; beyond this no comparison is planned


def paired_power(difference: float, sd: float, n_users: int, *, alpha: float = 0.05) -> float:
    """Chance that a two-sided paired t test finds a true mean difference.

    The noncentral t distribution with ``n_users - 1`` degrees of freedom and noncentrality
    ``difference / sd * sqrt(n_users)`` (Cohen 1988, ch. 2).

    Args:
        difference: true mean difference.
        sd: standard deviation of the differences over users.
        n_users: users compared, at least 2.
        alpha: level of the test.

    Raises:
        SpecError: a value out of range.

    Example:
        >>> round(paired_power(0.5, 1.0, 34), 4)
        0.8078
    """
    _check(difference, sd, alpha)
    if n_users < 2:
        raise SpecError(f"n_users must be at least 2 for a paired t test, got {n_users}")
    from scipy.special import nctdtr, stdtrit

    df = n_users - 1
    critical = float(stdtrit(df, 1 - alpha / 2))
    shift = abs(difference) / sd * math.sqrt(n_users)
    miss = float(nctdtr(df, shift, critical))
    # nctdtr gives NaN where it underflows: in the upper part only beyond a shift of 35, where the
    # chance to miss is under 1e-250; in the lower from 7 on, where t < 0 has chance 1e-12.
    wrong_side = float(nctdtr(df, shift, -critical)) if shift < 7 else 0.0
    return 1 - (0.0 if math.isnan(miss) else miss) + wrong_side


def users_needed(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Smallest number of users with which ``paired_power`` reaches ``power``.

    Raises:
        SpecError: no difference to find, more than 1e12 users, or a value out of range.

    Example:
        >>> users_needed(0.5, 1.0)
        34
    """
    _check(difference, sd, alpha)
    _check_power(power, alpha)
    if difference == 0:
        raise SpecError("difference must not be 0: no number of users can find it")
    low, high = 1, 2
    while paired_power(difference, sd, high, alpha=alpha) < power:
        low, high = high, 2 * high
        if high > _MOST:
            raise SpecError(
                f"a difference of {difference:g} with sd {sd:g} needs more than {_MOST:.0e} users"
            )
    while high - low > 1:
        middle = (low + high) // 2
        enough = paired_power(difference, sd, middle, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def detectable_difference(
    sd: float, n_users: int, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Smallest true mean difference that ``n_users`` users find with chance ``power``.

    Raises:
        SpecError: a value out of range.

    Example:
        >>> round(detectable_difference(1.0, 34), 3)
        0.495
    """
    _check(1.0, sd, alpha)
    _check_power(power, alpha)
    high = sd
    while paired_power(high, sd, n_users, alpha=alpha) < power:
        high *= 2
    low = 0.0
    for _ in range(60):  # halvings that exhaust the digits of a double
        middle = (low + high) / 2
        enough = paired_power(middle, sd, n_users, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def _check(difference: float, sd: float, alpha: float) -> None:
    if not math.isfinite(difference):
        raise SpecError(f"difference must be finite, got {difference!r}")
    if not (math.isfinite(sd) and sd > 0):
        raise SpecError(f"sd must be positive, got {sd!r}")
    if not 0 < alpha < 1:
        raise SpecError(f"alpha must lie between 0 and 1, such as 0.05, got {alpha!r}")


def _check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise SpecError(f"power must lie between alpha ({alpha}) and 1, such as 0.8, got {power!r}")
