"""The long table holds what the leaderboard averages."""

from __future__ import annotations

import polars as pl
import pytest
from tests.experiment.worlds import run_in

from fullrank.experiment.leaderboard import leaderboard
from fullrank.experiment.per_query import per_query_table
from fullrank.metrics import MAP


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_in(tmp_path_factory.mktemp("per_query"), tune=None, model=[
        {"name": "Popularity"}, {"name": "Random"},
    ])  # fmt: skip


def test_means_are_those_of_the_leaderboard(results):
    table = per_query_table(results)
    for users, part in (
        ("all", table),
        ("warm", table.filter(~pl.col("cold"))),
        ("cold", table.filter(pl.col("cold"))),
    ):
        means = part.group_by("model", "seed", "metric").agg(pl.col("value").mean())
        found = {(m, s, k): v for m, s, k, v in means.iter_rows()}
        rows = [row for row in leaderboard(results) if row["users"] == users]
        single = [row for row in rows if row["seed"] is not None or row["seeds"] == 1]
        assert len(single) == len(found) > 0
        for row in single:
            key = (row["model"], row["seed"], row["metric"])
            assert found[key] == pytest.approx(row["value"], abs=1e-12)


def test_other_metrics_follow_from_the_stored_ranks(results):
    table = per_query_table(results, (MAP @ 7,))
    assert table["metric"].unique().to_list() == ["MAP@7"]
    assert table["user_id"].dtype == pl.String
    assert table.columns[:4] == ["data", "fold", "model", "seed"]
