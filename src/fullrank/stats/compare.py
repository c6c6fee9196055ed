"""Compare two systems on the same queries: difference, interval, tests, effect, wins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from fullrank.core.errors import SpecError, suggest
from fullrank.core.estimate import Estimate
from fullrank.core.random import RNG, seed_of
from fullrank.stats.effect import dz_of
from fullrank.stats.interval import Method, check_options, intervals
from fullrank.stats.moments import Bounds
from fullrank.stats.pairs import NO_PAIRS, Pairs, Significance
from fullrank.stats.randomisation import EXACT_UP_TO, FLIPS, sign_flip_of
from fullrank.stats.signed_rank import wilcoxon_of
from fullrank.stats.t_test import t_of

Test = Literal["t", "wilcoxon", "sign_flip"]
RESAMPLES = 10_000
"""Ends of a difference decide releases: with 1,000 resamples their third digit is chance."""

TESTS: tuple[Test, ...] = ("t", "wilcoxon", "sign_flip")


@dataclass(frozen=True)
class PairedTest:
    """Everything about one comparison of ``a`` with ``b``.

    Attributes:
        difference: mean of ``a - b`` over the queries where both have a value, with interval.
        mean_a: mean of ``a`` over these queries.
        mean_b: mean of ``b`` over these queries.
        significance: the test to report; its p-value is None only without pairs.
        tests: all tests that ran, by name.
        effect: Cohen's d_z over users, None where there is no spread.
        wins: users whose mean is higher under ``a``.
        ties: users whose means are equal, up to rounding.
        losses: users whose mean is lower under ``a``.
        one_sided: queries left out because only one of the two has a value.
    """

    difference: Estimate
    mean_a: float
    mean_b: float
    significance: Significance
    tests: dict[str, Significance]
    effect: float | None
    wins: int
    ties: int
    losses: int
    one_sided: int

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of the test to report."""
        return self.significance.p_value


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    users: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = RESAMPLES,
    rng: RNG = 0,
    bounds: Bounds | None = None,
    threads: int | None = None,
) -> Estimate:
    """Mean of ``a - b`` with an interval; see ``mean_interval`` for the options.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.
        level: confidence level.
        method: how the interval is made.
        resamples: bootstrap resamples.
        rng: seed or Generator of the bootstrap.
        bounds: range of a difference, such as ``(-1, 1)``; without use for values that are the
            same on every query, whose interval is [0, 0].
        threads: threads of the bootstrap; all cores by default.

    Example:
        >>> print(paired_difference([0.5, 0.7, 0.2, 0.9], [0.4, 0.4, 0.3, 0.5]))
        0.1750 [-0.1778, 0.5278]
    """
    check_options(level, method, resamples)
    pairs = Pairs.of(a, b, users)
    return _difference(pairs, level, method, resamples, seed_of(rng), bounds, threads)


def compare_pairs(
    a: ArrayLike,
    b: ArrayLike,
    users: ArrayLike | None = None,
    *,
    test: Test | Literal["auto"] = "auto",
    tests: Collection[Test] = TESTS,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
    rng: RNG = 0,
    bounds: Bounds | None = None,
    threads: int | None = None,
) -> PairedTest:
    """Compare two systems on the queries where both have a value.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.
        test: the test to report; "auto" is the exact sign flip up to 16 users with a difference
            and t above. A test without meaning here gives way to the sign flip, and the note
            says so.
        tests: which others to run beside it.
        level: confidence level of the interval.
        method: how the interval is made, see ``mean_interval``.
        resamples: bootstrap resamples.
        flips: draws of the sign-flip test.
        rng: seed or Generator.
        bounds: range of a difference, such as ``(-1, 1)``.
        threads: threads of bootstrap and sign flips; all cores by default.

    Raises:
        DataError: values or users that can't be used.
        SpecError: an unknown test or method, or an option out of range.

    Example:
        >>> found = compare_pairs([0.5, 0.7, 0.2], [0.5, 0.7, 0.2])
        >>> print(found.significance)
        sign flip by user: p = 1 (no difference)
    """
    check_options(level, method, resamples)
    for name in [*tests, *([] if test == "auto" else [test])]:
        if name not in TESTS:
            raise SpecError(f"unknown test {name!r}{suggest(name, TESTS)}")
    pairs, seed = Pairs.of(a, b, users), seed_of(rng)
    state = pairs.clusters.state

    def result(name: str) -> Significance:
        if name == "t":
            return t_of(pairs)
        if name == "wilcoxon":
            return wilcoxon_of(pairs)
        return sign_flip_of(pairs, flips, seed, threads)

    few = pairs.wins + pairs.losses <= EXACT_UP_TO
    chosen = ("sign_flip" if few else "t") if test == "auto" else test
    found: dict[str, Significance] = {
        name: result(name) for name in TESTS if name in tests or name == chosen
    }
    if found[chosen].p_value is None and found[chosen].note != NO_PAIRS:
        found.setdefault("sign_flip", result("sign_flip"))
    return PairedTest(
        difference=_difference(pairs, level, method, resamples, seed, bounds, threads),
        mean_a=pairs.mean_a,
        mean_b=pairs.mean_b,
        significance=_reported(found, chosen),
        tests=found,
        effect=dz_of(pairs),
        wins=pairs.wins,
        ties=state.n_users - pairs.wins - pairs.losses,
        losses=pairs.losses,
        one_sided=pairs.one_sided,
    )


def _difference(
    pairs: Pairs,
    level: float,
    method: Method,
    resamples: int,
    seed: int,
    bounds: Bounds | None,
    threads: int | None,
) -> Estimate:
    """The difference; systems whose values are all the same differ by 0, without allowance."""
    span = None if pairs.equal else bounds
    return intervals([pairs.clusters], level, method, resamples, seed, [span], threads)[0]


def _reported(found: dict[str, Significance], chosen: str) -> Significance:
    """The chosen test, or the sign flip with the reason why it stands in."""
    first = found[chosen]
    if first.p_value is not None or first.note == NO_PAIRS:
        return first
    instead = found["sign_flip"]
    note = "; ".join(text for text in (first.note, instead.note) if text)
    return Significance(instead.test, instead.p_value, instead.statistic, note)
