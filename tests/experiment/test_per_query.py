"""The long table holds what the leaderboard averages."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.experiment.worlds import run_in

from fullrank.experiment.leaderboard import Entry, leaderboard
from fullrank.experiment.measure import Values
from fullrank.experiment.per_query import _rows, per_query_table
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


@pytest.mark.parametrize("users", [[3, 2**63 + 1], [-3, 2**63 - 1], ["a", "b"]])
def test_ids_of_users_keep_their_type(users):
    values = Values(MAP @ 7, *[np.zeros(2)] * 3)
    keys = [(0, user, 0) for user in users]
    codes, cold = np.arange(2, dtype=np.int32), np.zeros(2, dtype=bool)
    entry = Entry("data", "model", codes, keys, cold, {None: {MAP @ 7: values}}, ("id",))
    assert _rows(entry, None, MAP @ 7)["user_id"].to_list() == users
