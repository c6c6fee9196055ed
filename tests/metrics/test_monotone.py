"""Moving a relevant target up past another candidate never hurts, whatever else is ranked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fullrank.core.ranked import TargetRanks
from fullrank.metrics import parse_many

METRICS = parse_many(
    "precision@3;recall@3;recall;hr@3;f1@3;mrr@4;mrr;map@3;map;map(denominator=relevant)@3;ndcg@4;"
    "ndcg;ndcg(gain=linear)@4;dcg@3;rbp;rprecision;auc;meanrank"
)


@st.composite
def one_list(draw):
    """Places of targets among ten candidates, their grades, and the one that moves up."""
    places = draw(st.lists(st.integers(1, 10), min_size=1, max_size=5, unique=True))
    grades = [float(draw(st.integers(1, 3))) for _ in places]
    mover = draw(st.integers(0, len(places) - 1))
    assume(places[mover] > 1)
    assume(places[mover] - 1 not in places)
    return places, grades, mover


@pytest.mark.parametrize("metric", METRICS, ids=str)
@given(case=one_list())
def test_up_past_a_miss(metric, case):
    places, grades, mover = case
    moved = [place - (i == mover) for i, place in enumerate(places)]
    ranked = TargetRanks.of([places, moved], [grades, grades], n_candidates=[10, 10])
    before, after = metric.per_query(ranked) * (1 if metric.higher_is_better else -1)
    assert after >= before - 1e-12


@pytest.mark.parametrize("text", ["ndcg@4", "ndcg", "dcg@3"])
@given(case=one_list(), data=st.data())
def test_a_higher_grade_before_a_lower_one(text, case, data):
    """Two targets that change places: the better one first is at least as good."""
    (metric,) = parse_many(text)
    places, grades, i = case
    assume(len(places) > 1)
    j = data.draw(st.sampled_from([x for x in range(len(places)) if x != i]))
    swapped = list(places)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    better = (grades[i] - grades[j]) * (places[j] - places[i]) >= 0
    first, second = (places, swapped) if better else (swapped, places)
    ranked = TargetRanks.of([first, second], [grades, grades], n_candidates=[10, 10])
    good, bad = metric.per_query(ranked)
    assert good >= bad - 1e-12


def test_order_of_targets_in_the_input_is_no_matter():
    rng = np.random.default_rng(0)
    ranks, grades = [4, 1, 9, 2], [1.0, 3.0, 2.0, 1.0]
    whole = TargetRanks.of([ranks], [grades], n_candidates=[12])
    for _ in range(5):
        order = rng.permutation(4)
        other = TargetRanks.of(
            [[ranks[i] for i in order]], [[grades[i] for i in order]], n_candidates=[12]
        )
        for metric in METRICS:
            assert metric.per_query(other)[0] == metric.per_query(whole)[0]


def test_constant_scores_are_worth_what_random_orders_are_on_average():
    """All candidates tied: the value is the mean over draws of random scores."""
    rng = np.random.default_rng(1)
    n, draws = 30, 4000
    orders = rng.permuted(np.tile(np.arange(1, n + 1), (draws, 1)), axis=1)[:, :3]
    drawn = TargetRanks.of(orders.tolist(), [[3.0, 1.0, 2.0]] * draws, n_candidates=[n] * draws)
    tied = TargetRanks.of([[1, 1, 1]], [[3.0, 1.0, 2.0]], worst=[[n, n, n]], n_candidates=[n])
    for metric in METRICS:
        values = metric.per_query(drawn)
        error = values.std() / np.sqrt(draws)
        assert abs(values.mean() - metric.per_query(tied)[0]) < 5 * error + 1e-12
