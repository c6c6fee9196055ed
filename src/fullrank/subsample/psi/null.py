"""What Psi would be if a sample said nothing of the algorithms: their labels permuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.random import RNG, derive, generator, seed_of
from fullrank.subsample.psi.terms import Term

EXACT_UP_TO = 4_000_000
"""Relabellings up to which all are tried: 3, 5 and 7 algorithms have 3! 5! 7! = 3,628,800."""

DRAWS = 9_999
"""Draws above that: with the observed one, p-values are multiples of 1e-4."""

_SLACK = 1e-12  # sums that differ by less are tied, whatever rounding says


@dataclass(frozen=True)
class Null:
    """Psi of a sampler against relabelled algorithms.

    Attributes:
        p_value: one-sided: share of relabellings whose Psi is at least the observed one.
        mean: of the relabelled Psi; 0 but for the noise of draws.
        sd: its standard deviation.
        high: what 95 % of relabellings stay below or reach.
        relabellings: how many were tried.
        exact: all of them.
    """

    p_value: float
    mean: float
    sd: float
    high: float
    relabellings: int
    exact: bool


def psi_null(terms: Sequence[Term], rng: RNG = 0, *, draws: int = DRAWS) -> Null:
    """Permute the labels of the algorithms on the sample.

    Within a scenario one permutation serves all metrics, sizes and repeats, as their rankings are
    of the same algorithms and depend on each other; scenarios are permuted apart. All combinations
    are tried up to four million, else they are drawn.

    Args:
        terms: of one sampler; places count alike, and repeats within a place.
        rng: seed or Generator of the draws.
        draws: where not all are tried.

    Raises:
        SpecError: no terms, or fewer than 100 draws.
    """
    if not terms or draws < 100:
        raise SpecError(f"a null needs terms and at least 100 draws, got {len(terms)} and {draws}")
    groups = _groups(terms)
    observed = sum(float(_sums(table, np.arange(len(table))[None])[0]) for table in groups)
    sizes = [len(table) for table in groups]
    exact = prod(factorial(n) for n in sizes) <= EXACT_UP_TO
    if exact:
        parts = [_sums(table, _all(len(table))) for table in groups]
        found = reduce(lambda a, b: np.add.outer(a, b).ravel(), parts)
    else:
        seed = derive(seed_of(rng), "psi null")
        found = np.zeros(draws)
        for j, table in enumerate(groups):
            order = np.tile(np.arange(len(table)), (draws, 1))
            found += _sums(table, generator(derive(seed, j)).permuted(order, axis=1))
    hits = int(np.count_nonzero(found >= observed - _SLACK))
    p = hits / len(found) if exact else (1 + hits) / (1 + len(found))
    high = float(np.quantile(found, 0.95, method="higher"))
    return Null(p, float(found.mean()), float(found.std()), high, len(found), exact)


def _all(n: int) -> NDArray[np.int64]:
    return np.array(list(permutations(range(n))), dtype=np.int64)


def _groups(terms: Sequence[Term]) -> list[NDArray[np.float64]]:
    """By scenario the table ``[n, n, n, n]`` that the sum of taus of a relabelling is read from.

    With ``A`` and ``B`` the antisymmetric signs of a term over its norms, tau after the relabelling
    ``p`` is ``sum_{i < j} A_ij B_p(i)p(j)``: terms can be added before the relabelling.
    """
    counts: dict[object, int] = {}
    for term in terms:
        counts[term.place] = counts.get(term.place, 0) + 1
    out: dict[str, NDArray[np.float64]] = {}
    for term in terms:
        a, b = (_matrix(signs, len(term.models)) for signs in (term.full, term.sample))
        weight = 1 / (len(counts) * counts[term.place])
        table = weight / 2 * np.einsum("ij,kl->ijkl", a, b)
        scenario = term.place.scenario
        out[scenario] = out[scenario] + table if scenario in out else table
    return list(out.values())


def _matrix(signs: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    out = np.zeros((n, n))
    out[np.triu_indices(n, k=1)] = signs / np.sqrt((signs * signs).sum())
    return out - out.T


def _sums(table: NDArray[np.float64], orders: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of taus under relabellings ``[r, n]``: float64 ``[r]``."""
    out = np.zeros(len(orders))
    n = len(table)
    for i in range(n):
        for j in range(n):
            out += table[i, j, orders[:, i], orders[:, j]]
    return out
