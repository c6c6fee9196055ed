"""The contract that every metric of ranks keeps; for authors of plug-ins.

Subclass it in a test file, and pytest runs it::

    class TestMine(MetricContract):
        metric = Mine @ 10
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.state import State
from fullrank.metrics import Metric

# Exact expectations are sums of up to a few hundred rounded terms.
_CLOSE = 1e-12


def sample_ranks(
    seed: int, *, n_queries: int = 40, n_candidates: int = 60, levels: int = 12
) -> TargetRanks:
    """Ranks of graded targets under random scores with ties.

    Some queries have no target, some targets no rank and some grade 0.

    Args:
        seed: of the draws.
        n_queries: number of queries, about three a user.
        n_candidates: candidates of each query.
        levels: number of distinct scores.
    """
    rng = np.random.default_rng(seed)
    best, worst, gains, sizes = [], [], [], []
    for _ in range(n_queries):
        scores = rng.integers(0, levels, n_candidates).astype(float)
        chosen = rng.choice(n_candidates, rng.integers(0, 7), replace=False)
        lost = rng.random(len(chosen)) < 0.1
        scores[chosen[lost]] = -np.inf
        first = (scores[None, :] > scores[chosen, None]).sum(axis=1) + 1
        last = (scores[None, :] >= scores[chosen, None]).sum(axis=1)
        best.append(np.where(lost, UNRANKED, first).tolist())
        worst.append(np.where(lost, UNRANKED, last).tolist())
        gains.append(rng.integers(0, 4, len(chosen)).astype(float).tolist())
        sizes.append(int(np.isfinite(scores).sum()))
    users = np.sort(rng.integers(0, n_queries // 3, n_queries)).tolist()
    return TargetRanks.of(best, gains, worst=worst, users=users, n_candidates=sizes)


def _same(left: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    np.testing.assert_array_equal(left, right)


class MetricContract:
    """Set ``metric`` to a metric with its cut-off; each method is a test.

    Class attributes:
        metric: what is tested.
        monotone: False if moving a target up may lower the metric.
    """

    metric: ClassVar[Metric]
    monotone: ClassVar[bool] = True

    def test_is_a_value(self) -> None:
        """Equal options make equal metrics, hashable and sortable; ``repr`` is ``str``."""
        copy = replace(self.metric)
        assert copy == self.metric
        assert hash(copy) == hash(self.metric)
        assert repr(self.metric) == str(self.metric)
        assert sorted([self.metric, copy]) == [self.metric, copy]

    def test_gives_one_float_a_query_within_bounds(self) -> None:
        """float64 ``[q]`` within ``bounds``, NaN exactly where no target is relevant."""
        ranked = sample_ranks(1)
        values = self.metric.per_query(ranked)
        assert values.dtype == np.float64
        assert values.shape == (len(ranked),)
        known = values[~np.isnan(values)]
        assert len(known)
        assert bool(np.all((known >= self.metric.bounds[0]) & (known <= self.metric.bounds[1])))

    def test_a_query_without_targets_has_no_value(self) -> None:
        """NaN, never a silent 0."""
        ranked = TargetRanks.of([[], [1]], [[], [3.0]], n_candidates=[9, 9])
        assert np.isnan(self.metric.per_query(ranked)).tolist() == [True, False]

    def test_a_query_depends_on_itself_alone(self) -> None:
        """Any order and any part of the queries gives the same bits."""
        ranked = sample_ranks(2)
        order = np.random.default_rng(0).permutation(len(ranked))
        whole = self.metric.per_query(ranked)
        _same(self.metric.per_query(ranked[order]), whole[order])
        one_by_one = [self.metric.per_query(ranked[np.array([i])])[0] for i in range(len(ranked))]
        _same(np.array(one_by_one), whole)

    def test_names_of_users_do_not_matter(self) -> None:
        """Relabelling users changes no value."""
        ranked = sample_ranks(3)
        other = replace(ranked, users=ranked.users[::-1].copy())
        _same(self.metric.per_query(other), self.metric.per_query(ranked))

    def test_leaves_its_input_alone(self) -> None:
        """No array of the ranks is written to."""
        ranked = sample_ranks(4)
        arrays = ("indptr", "best", "worst", "gains", "n_candidates")
        before = {name: getattr(ranked, name).copy() for name in arrays}
        self.metric.per_query(ranked)
        for name in arrays:
            _same(getattr(ranked, name), before[name])

    def test_states_merge(self) -> None:
        """Parts by user, in any order and with an empty one, give the state of the whole."""
        ranked = sample_ranks(5)
        part = ranked.users % 3
        states = [self.metric.state(ranked[part == i]) for i in range(3)]
        whole = self.metric.state(ranked)
        left = states[0].merge(states[1]).merge(states[2])
        right = states[2].merge(State.empty().merge(states[1].merge(states[0])))
        assert left == right == whole

    def test_nothing_gives_nothing(self) -> None:
        """No queries: an empty state, and a NaN mean."""
        nothing = sample_ranks(6)[np.zeros(0, dtype=np.int64)]
        assert self.metric.per_query(nothing).shape == (0,)
        assert self.metric.state(nothing) == State.empty()
        assert np.isnan(self.metric.value(nothing))

    def test_ties_lie_between_their_bounds(self) -> None:
        """The value with ties is between those of the best and the worst order."""
        ranked = sample_ranks(7, levels=5)
        value = self.metric.per_query(ranked)
        bounds = [
            self.metric.per_query(fixed) for fixed in (ranked.pessimistic(), ranked.optimistic())
        ]
        low, high = bounds if self.metric.higher_is_better else bounds[::-1]
        known = ~np.isnan(value)
        assert bool(np.all(low[known] <= value[known] + _CLOSE))
        assert bool(np.all(value[known] <= high[known] + _CLOSE))

    def test_moving_a_target_up_never_hurts(self) -> None:
        """One target at rank r - 1 is at least as good as at rank r."""
        if not self.monotone:
            return
        n = 15
        ladder = TargetRanks.of([[r] for r in range(1, n + 1)], [[3.0]] * n, n_candidates=[n] * n)
        steps = np.diff(self.metric.per_query(ladder))
        assert bool(np.all(steps <= _CLOSE if self.metric.higher_is_better else steps >= -_CLOSE))
