"""TimePopularity by hand."""

from __future__ import annotations

import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.models import Popularity, TimePopularity
from fullrank.testing.recommender import RecommenderContract, queries_of
from fullrank.testing.split import interactions

DAY = 86_400


class TestTimePopularity(RecommenderContract):
    learns_checkerboard = False
    blank_without_history = False

    def make(self) -> TimePopularity:
        return TimePopularity(half_life_days=0.5)


def test_by_hand() -> None:
    days = [0, 10, 20, 20]
    data = interactions(["u", "v", "v", "w"], ["a", "a", "b", "c"], times=[d * DAY for d in days])
    scores = TimePopularity(half_life_days=10.0).fit(data).score(queries_of(data))
    assert scores[0].tolist() == [0.25 + 0.5, 1.0, 1.0]


def test_users_count_once_by_their_last_row() -> None:
    data = interactions(["u", "u", "v"], ["a", "a", "b"], times=[0, 10 * DAY, 20 * DAY])
    score = {c: TimePopularity(10.0, c).fit(data).shared_scores()[0] for c in ("users", "rows")}
    assert score == {"users": 0.5, "rows": 0.75}


def test_is_popularity_with_a_half_life() -> None:
    data = interactions(["u", "v", "v"], ["a", "a", "b"], times=[0, DAY, 3 * DAY])
    same = Popularity(half_life=2.0).fit(data).shared_scores()
    assert (TimePopularity(2.0).fit(data).shared_scores() == same).all()


def test_refuses() -> None:
    with pytest.raises(DataError, match="TimePopularity needs a time"):
        TimePopularity().fit(interactions(["u"], ["a"]))
    with pytest.raises(SpecError, match="half_life_days must be > 0"):
        TimePopularity(0.0)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(SpecError, match="half_life_days must be a finite number"):
            TimePopularity(wrong)
    with pytest.raises(SpecError, match="unknown count 'row'"):
        TimePopularity(count="row")  # type: ignore[arg-type]
