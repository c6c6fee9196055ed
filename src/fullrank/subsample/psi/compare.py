"""Samplers against each other: the same terms, the same repeats, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import count
from fullrank.core.errors import SpecError, suggest
from fullrank.stats import adjust, paired_t
from fullrank.subsample.psi.summary import Terms, ends

By = Literal["auto", "users", "repeats"]

LEAST_REPEATS = 3
"""Repeats from which ``auto`` tests by them: a t test of two has one degree of freedom."""


@dataclass(frozen=True)
class Comparison:
    """Psi of one sampler less Psi of another.

    Attributes:
        first: label.
        second: label.
        difference: of Psi over the common terms.
        low: lower end by resampled users; None without per-query values.
        high: upper end.
        test: what the p-value comes from.
        p_value: two-sided; None where no test could be made.
        adjusted: by Holm over all comparisons.
    """

    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    test: str
    p_value: float | None
    adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def compare_samplers(
    terms: Terms, *, baseline: str | None = None, by: By = "auto"
) -> tuple[Comparison, ...]:
    """Compare samplers over the terms that all have.

    Terms depend on each other (one split, one ranking of the full data), so that they are no
    replicates: tests resample users, or take the repeats of the outermost seed that varies.

    Args:
        terms: of a grid.
        baseline: compare the others with this sampler; every two by default.
        by: ``"users"``: ``2 min(share of resamples at or below 0, at or above 0)``, the observed
            one counted; ``"repeats"``: paired t over splits (or, with one split, over draws of
            the samplers, or over trainings); ``"auto"``: repeats if there are three, else users.

    Raises:
        SpecError: no such baseline.
    """
    if baseline is not None and baseline not in terms.samplers:
        raise SpecError(f"there is no sampler {baseline!r}{suggest(baseline, terms.samplers)}")
    if not terms.common:
        return ()
    pairs = [
        (a, b) if baseline is None else (b, a) if a == baseline else (a, b)
        for a, b in combinations(terms.samplers, 2)
        if baseline is None or baseline in (a, b)
    ]
    chosen = by if by != "auto" else "repeats" if terms.units >= LEAST_REPEATS else "users"
    found = [_compared(terms, a, b, chosen) for a, b in pairs]
    return _adjusted(found)


def _adjusted(found: Sequence[Comparison]) -> tuple[Comparison, ...]:
    named = {f"{c.first} - {c.second}": c.p_value for c in found}
    family = adjust(named, "holm", family=count(len(found), "comparison"))
    return tuple(replace(c, adjusted=family.adjusted[f"{c.first} - {c.second}"]) for c in found)


def _compared(terms: Terms, a: str, b: str, by: str) -> Comparison:
    gap = terms.grid(a, "tau").mean(axis=1).mean() - terms.grid(b, "tau").mean(axis=1).mean()
    left, right = terms.drawn(a, "tau"), terms.drawn(b, "tau")
    drawn = None if left is None or right is None else left - right
    low, high = ends(drawn, terms.level)
    test, p = _by_users(drawn) if by == "users" else _by_repeats(terms, a, b)
    return Comparison(a, b, float(gap), low, high, test, p)


def _by_users(drawn: NDArray[np.float64] | None) -> tuple[str, float | None]:
    if drawn is None:
        return "none: no values of users", None
    kept = drawn[~np.isnan(drawn)]
    tails = [(1 + int(np.count_nonzero(side))) / (1 + len(kept)) for side in (kept <= 0, kept >= 0)]
    return f"bootstrap by user, {len(kept):,} resamples", min(1.0, 2 * min(tails))


def _by_repeats(terms: Terms, a: str, b: str) -> tuple[str, float | None]:
    what = {"split": "splits", "sampler": "draws", "training": "trainings", "none": "repeats"}
    name = f"paired t over {terms.units} {what[terms.unit]}"
    if terms.units < 2:
        return f"none: one {what[terms.unit].removesuffix('s')}", None
    found = paired_t(terms.by_unit(a, "tau"), terms.by_unit(b, "tau"))
    return name, found.p_value
