"""Who is best, and which marks of significance stand where."""

from __future__ import annotations

from typing import Any

import pytest

from fullrank.report.board import BETTER, WORSE, boards, mark_of


def row(model: str, value: float | None, metric: str = "NDCG@10", **more: Any) -> dict[str, Any]:
    base = {
        "data": "d",
        "model": model,
        "seed": None,
        "users": "all",
        "metric": metric,
        "value": value,
        "low": None if value is None else value - 0.01,
        "high": None if value is None else value + 0.01,
        "level": 0.95,
        "best": value,
        "worst": value,
        "method": "BCa",
        "n_queries": 7,
        "n_users": 5,
        "undefined": 0,
        "seeds": 1,
        "seed_spread": None,
    }
    return {**base, **more}


def test_counts_of_ranking_metrics_come_first() -> None:
    (board,) = boards([row("A", 0.5), row("A", 0.9, "RMSE", n_queries=900)])
    assert board.counts == "5 users, 7 queries"
    (board,) = boards([row("A", 0.9, "RMSE", n_queries=900)])
    assert board.counts == "5 users, 900 rows"


def paired(difference: float | None, p: float | None, **more: Any) -> dict[str, Any]:
    base = {
        "data": "d",
        "users": "all",
        "metric": "NDCG@10",
        "model": "A",
        "baseline": "B",
        "difference": difference,
        "level": 0.95,
        "higher_is_better": True,
        "p_adjusted": p,
        "family": "Holm over 1 comparison (A against B)",
    }
    return {**base, **more}


@pytest.mark.parametrize(
    ("difference", "p", "higher", "mark"),
    [
        (0.1, 0.049, True, BETTER),
        (-0.1, 0.049, True, WORSE),
        (0.1, 0.049, False, WORSE),
        (-0.1, 0.049, False, BETTER),
        (0.1, 0.051, True, ""),
        (0.1, 0.05, True, BETTER),
        (0.0, 0.001, True, ""),
        (0.1, None, True, ""),
        (None, None, True, ""),
    ],
)
def test_marks(difference: float | None, p: float | None, higher: bool, mark: str) -> None:
    assert mark_of(paired(difference, p, higher_is_better=higher)) == mark


def test_level_of_the_benchmark_decides() -> None:
    assert mark_of(paired(0.1, 0.04)) == BETTER
    assert mark_of(paired(0.1, 0.04, level=0.99)) == ""


def test_best_is_by_unrounded_values_and_direction() -> None:
    rows = [
        row("A", 0.50001),
        row("B", 0.50002),
        row("A", 100.0, "MeanRank"),
        row("B", 101.0, "MeanRank"),
    ]
    (board,) = boards(rows)
    best = {key for key, place in board.places.items() if place.best}
    assert best == {("B", "NDCG@10"), ("A", "MeanRank")}


def test_equal_values_share_the_best_place_and_a_lone_value_has_none() -> None:
    (board,) = boards([row("A", 0.5), row("B", 0.5), row("A", 0.9, "RMSE"), row("B", None, "RMSE")])
    assert {key for key, place in board.places.items() if place.best} == {
        ("A", "NDCG@10"),
        ("B", "NDCG@10"),
    }


def test_undefined_values_are_never_best() -> None:
    (board,) = boards([row("A", None), row("B", None)])
    assert not any(place.best for place in board.places.values())
    assert any("undefined" in sentence for sentence in board.legend)


def test_rows_of_single_seeds_and_other_users_stay_out() -> None:
    rows = [row("A", 0.5), row("A", 0.9, seed=1), row("A", 0.8, users="cold")]
    (board,) = boards(rows)
    assert board.places["A", "NDCG@10"].row["value"] == 0.5
    assert boards(rows, users="warm") == []


def test_legend_names_family_and_level() -> None:
    (board,) = boards([row("A", 0.5), row("B", 0.4)], [paired(0.1, 0.01)])
    text = " ".join(board.legend)
    assert "worse than B at the 5 % level after Holm over 1 comparison (A against B)" in text
    assert "95 % (BCa)" in text


def test_legend_says_when_ties_matter() -> None:
    (board,) = boards([row("A", 0.5, best=0.9, worst=0.1), row("B", 0.4, best=0.405, worst=0.395)])
    ties = [sentence for sentence in board.legend if sentence.startswith("Many equal scores")]
    assert len(ties) == 1
    assert "A (NDCG@10 0.1000 to 0.9000)" in ties[0]
    assert "B (" not in ties[0]
