"""``advise`` on the command line; what it says must not hang on the numbers that are shipped."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.advise.meta import STRATEGIES, meta
from tests.subsample.worlds import world

from fullrank.advise.shipped import shipped_data
from fullrank.cli.advise import _told_apart
from fullrank.data import write_interactions
from fullrank.split import Split

LOW = ("--floor", "rows=1", "--floor", "users=1", "--floor", "items=1")


@pytest.fixture
def log(tmp_path):
    write_interactions(world(50), tmp_path / "log.csv")
    return tmp_path / "log.csv"


@pytest.fixture
def own(tmp_path):
    """Meta-data in which HeadUsers is better than random rows."""
    meta().save(tmp_path / "own")
    return ("--meta", tmp_path / "own", "--learner", "ridge", *LOW)


def test_the_answer_names_the_sampler_its_gain_and_what_it_saves(cli, log, own):
    said = cli("advise", log, "--keep", 0.2, "--scenario", "implicit", *own)
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0] == (
        "scenario implicit (as asked), NDCG@10, 0.2 of the training rows; learnt from 6 data sets"
    )
    assert lines[1].split()[:2] == ["sampler", "predicted"]
    assert lines[2].split()[0] == "HeadUsers"  # the best one first
    assert {line.split()[0] for line in lines[2:6]} == {s.split()[0] for s in STRATEGIES}
    assert "advised: HeadUsers: better than random rows on data like these" in lines
    assert re.search(
        r"gain of HeadUsers over random rows: \+0\.[23]\d \[\+0\.\d+, \+0\.\d+\]", said.out
    )
    assert "(80 %, jackknife+ over 6 data sets)" in said.out
    assert "time of a study saved, drawing charged: 77.5 % (half of 6 data sets between" in said.out
    assert "Ridge was fitted here" in said.out


def test_it_says_that_nothing_is_told_from_random_rows(cli, log, tmp_path):
    meta(signal=0.0, noise=0.2).save(tmp_path / "own")
    said = cli("advise", log, "--keep", 0.5, "--no-proxy", "--meta", tmp_path / "own", *LOW)
    assert said.code == 0, said.err
    assert "scenario explicit (the data have ratings; for lists of items ask" in said.out
    assert "advised: RandomInteractions: nothing here can be told from random rows" in said.out
    assert (
        "gain of such choices on data sets left out, on average, at the nearest size: " in said.out
    )
    assert f"not drawn: {STRATEGIES[3]}: it trains a proxy, and none is wanted" in said.out


def test_json_and_the_advised_sample(cli, log, own, tmp_path):
    out = tmp_path / "small"
    said = cli(
        "advise", log, "--keep", 0.2, "--scenario", "implicit", "--no-proxy", "-o", out, "--json",
        *own,
    )  # fmt: skip
    told = said.json()
    assert told["advised"] == "HeadUsers"
    assert told["beats_random"] is True
    assert told["out"] == str(out)
    assert list(told["undrawn"]) == [STRATEGIES[3]]
    alone = cli(
        "subsample", log, "--strategy", "HeadUsers", "--keep", 0.2, "-o", tmp_path / "again", *LOW
    )
    assert alone.code == 0, alone.err
    again = pl.read_parquet(tmp_path / "again" / "train.parquet")
    assert pl.read_parquet(out / "train.parquet").equals(again)


def test_of_a_split_only_the_training_rows_are_sampled(cli, log, own, tmp_path):
    cli("split", log, "--strategy", "RandomRows", "--set", "test=0.2", "-o", tmp_path / "parts")
    said = cli("advise", tmp_path / "parts", "--keep", 0.5, "--no-proxy", "-o", tmp_path / "small",
               *own)  # fmt: skip
    assert said.code == 0, said.err
    before, after = Split.load(tmp_path / "parts"), Split.load(tmp_path / "small")
    assert after.part_fingerprints["test"] == before.part_fingerprints["test"]
    assert after.counts["train"] == -(-before.counts["train"] // 2)


def test_data_unlike_those_learnt_from_are_warned_of(cli, own, tmp_path):
    write_interactions(world(9, n=6000, n_users=500, n_items=300), tmp_path / "log.csv")
    said = cli("advise", tmp_path / "log.csv", "--keep", 0.2, "--no-proxy", *own)
    assert said.code == 0
    assert said.err.startswith("fullrank: warning: these data are unlike those that were learnt")
    assert "(learnt from " in said.err


def test_the_shipped_model_answers_without_anything_else(cli, tmp_path):
    write_interactions(world(50, n=3000, n_users=300, n_items=200), tmp_path / "log.csv")
    said = cli("advise", tmp_path / "log.csv", "--keep", 0.5, "--scenario", "implicit",
               "--no-proxy", "--json")  # fmt: skip
    told = said.json()
    assert told["learner"] == "Ridge"
    assert set(told["learnt_from"]) <= set(shipped_data().names)
    assert np.isfinite(told["record"]["gain"]["value"])
    assert (told["advised"] == "RandomInteractions") != told["beats_random"]
    said = cli("advise", tmp_path / "log.csv", "--keep", 0.5, "--scenario", "implicit",
               "--no-proxy", "--strategy", "RandomUsers")  # fmt: skip
    assert "leaving out each of" in said.out


def test_a_value_next_to_what_was_learnt_is_told_apart_from_it():
    assert _told_apart(11.5023, 8.671, 11.49) == ["11.5", "8.671", "11.49"]
    assert _told_apart(12.5, 8.671, 11.49) == ["12.5", "8.67", "11.5"]
