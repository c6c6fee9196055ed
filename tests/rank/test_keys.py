"""What orders lists: ranks from 0 or 1, scores that are none, and who they speak for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import UNRANKED
from fullrank.metrics import AUC, HitRate, Recall
from fullrank.rank import ranks_from_lists

LIST = ["user_id", "item_id", "score"]
RANKED = ["user_id", "item_id", "rank"]


def table(rows, columns):
    return pl.DataFrame(rows, schema=columns, orient="row")


def mean(metric, ranked):
    return float(np.nanmean(metric.per_query(ranked)))


def test_ranks_of_people_who_are_not_evaluated_move_no_list():
    recs = [("u", "a", 1), ("u", "b", 2), ("x", "a", 0), ("x", "b", -3), ("x", "c", None)]
    ranked = ranks_from_lists(table(recs, RANKED), {"u": ["b"]})
    assert ranked.best.tolist() == [2]
    assert ranked.counts.get("ranks_counted_from_0", 0) == 0
    scored = [("u", "a", 2.0), ("u", "b", 1.0), ("x", "a", np.nan), ("x", "b", np.inf)]
    scored += [("x", "c", -np.inf)]
    ranked = ranks_from_lists(table(scored, LIST), {"u": ["b"]})
    assert ranked.best.tolist() == [2]
    assert "never_recommended" not in ranked.counts


def test_a_list_from_0_speaks_for_those_without_a_first_place():
    recs = [("u", "a", 0), ("u", "b", 1), ("v", "a", 2), ("v", "b", 5), ("x", "a", 1)]
    ranked = ranks_from_lists(table(recs, RANKED), {"u": ["b"], "v": ["b"]})
    assert ranked.best.tolist() == [2, 6]
    assert ranked.counts["ranks_counted_from_0"] == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [(99_999_999_999, "99999999999"), (1.5, "1.5"), (-1, "-1"), (None, "missing")],
)
def test_a_rank_that_is_none_says_what_was_expected_and_what_to_do(given, said):
    wanted = (
        rf"the lists: the rank of user 'u', item 'b' is {said}; expected a whole number from 1 "
        r"\(best\) to 2,147,483,646: give each item its place .* --columns score=NAME"
    )
    with pytest.raises(DataError, match=wanted):
        ranks_from_lists(table([("u", "a", 1), ("u", "b", given)], RANKED), {"u": ["b"]})


def test_ranks_beside_scores_decide_and_the_order_says_so():
    both = table([("u", "a", 1, 0.5), ("u", "b", 2, 0.5)], [*RANKED, "score"])
    ranked = ranks_from_lists(both, {"u": ["b"]})
    assert (ranked.best.tolist(), ranked.worst.tolist()) == ([2], [2])
    assert ranked.design["order"].startswith("rank column (the score column is not used")
    with pytest.raises(SpecError, match=r"go by their rank column .leave it out"):
        AUC.per_query(ranked)
    tied = ranks_from_lists(both.drop("rank"), {"u": ["b"]})
    assert (tied.best.tolist(), tied.worst.tolist()) == ([1], [2])
    assert tied.design["order"] == "score column"


def test_lists_from_0_beside_lists_from_1_are_refused():
    recs = [("u", "a", 0), ("u", "b", 1), ("v", "a", 1), ("v", "b", 2), ("w", "b", 1)]
    truth = {"u": ["b"], "v": ["b"], "w": ["b"]}
    with pytest.raises(DataError, match=r"user 'u' begin at 0 and those of user 'v' at 1 .1 and 2"):
        ranks_from_lists(table(recs, RANKED), truth)


def test_what_is_scored_minus_infinity_is_never_recommended():
    scored = [("u", "a", 0.9), ("u", "b", -np.inf), ("u", "c", -np.inf), ("u", "d", 0.1)]
    scored += [("v", "b", -np.inf)]
    ranked = ranks_from_lists(table(scored, LIST), {"u": ["b", "d"], "v": ["b"]})
    assert ranked.best.tolist() == [2, UNRANKED, UNRANKED]
    assert mean(HitRate @ 10, ranked) == 0.5
    assert mean(Recall, ranked) == 0.25
    counts = ranked.counts
    assert (counts["never_recommended"], counts["unranked_targets"]) == (3, 2)
    assert (counts["longest_list"], counts["users_without_recommendations"]) == (2, 1)


def test_candidates_scored_minus_infinity_are_below_the_ranked_ones():
    scored = table([("u", "a", 0.9), ("u", "b", 0.5), ("u", "c", -np.inf)], LIST)
    ranked = ranks_from_lists(scored, {"u": ["b"]})
    assert ranked.n_candidates.tolist() == [3]
    assert mean(AUC, ranked) == 0.5


def test_infinite_scores_are_refused():
    with pytest.raises(DataError, match=r"score of user 'u', item 'b' is inf.*rank column"):
        ranks_from_lists(table([("u", "a", 1.0), ("u", "b", np.inf)], LIST), {"u": ["b"]})
