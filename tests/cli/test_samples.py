"""``subsample`` on the command line."""

from __future__ import annotations

import json

import polars as pl
import pytest

from fullrank.split import Split


@pytest.fixture
def log(tmp_path):
    rows = [(u, i, 100 * u + i) for u in range(30) for i in range(u % 7 + 3)]
    frame = pl.DataFrame(rows, schema=["user_id", "item_id", "timestamp"], orient="row")
    frame.write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


LOW = ("--floor", "rows=1", "--floor", "users=1", "--floor", "items=1")


def test_a_file_is_sampled(cli, log, tmp_path):
    out = tmp_path / "out"
    said = cli("subsample", log, "--strategy", "random_users", "--keep", 0.5, "-o", out, *LOW)
    assert said.code == 0, said.err
    assert "rows: 88 of 175 (50.3 %)" in said.out
    assert pl.read_parquet(out / "train.parquet").height == 88
    assert pl.read_parquet(out / "catalogue.parquet").height == 9
    told = cli(
        "subsample", log, "--strategy", "RandomUsers", "--keep", 0.5, "-o", tmp_path / "again",
        "--json", *LOW,
    ).json()  # fmt: skip
    saved = (out / "manifest.json").read_text()
    assert told["fingerprint"]["sample"] in saved
    assert told["realised"]["rows"] == {"kept": 88, "of": 175, "share": 88 / 175}


def test_of_a_split_only_the_training_rows_are_sampled(cli, log, tmp_path):
    made = cli("split", log, "--strategy", "LeaveLast", "-o", tmp_path / "split")
    assert made.code == 0, made.err
    given, out = tmp_path / "split", tmp_path / "out"
    said = cli("subsample", given, "--strategy", "Temporal", "--keep", 0.4, "-o", out, *LOW)
    assert said.code == 0, said.err
    before, after = Split.load(given), Split.load(out)
    assert after.counts["test"] == before.counts["test"]
    assert after.part_fingerprints["test"] == before.part_fingerprints["test"]
    assert after.part_fingerprints["valid"] == before.part_fingerprints["valid"]
    assert after.counts["train"] == -(-4 * before.counts["train"] // 10)
    rows = pl.read_parquet(out / "rows.parquet")
    assert dict(rows["split"].value_counts().iter_rows()) == {
        name: n for name, n in after.counts.items() if n
    }
    said = cli(
        "subsample", given, "--strategy", "Temporal", "--keep", 0.4, "-o", tmp_path / "no",
        "--filter", "core={users=2}",
    )  # fmt: skip
    assert said.code == 2
    assert "leave --filter out" in said.err


def test_settings_may_stand_in_the_name(cli, log, tmp_path):
    args = ("--keep", 0.5, *LOW, "--json")
    one = cli(
        "subsample", log, "--strategy", "RandomWalk(restart=0.3)", "-o", tmp_path / "a", *args
    )
    two = cli(
        "subsample", log, "--strategy", "RandomWalk", "--set", "restart=0.3", "-o", tmp_path / "b",
        *args,
    )  # fmt: skip
    assert one.json()["fingerprint"] == two.json()["fingerprint"]
    assert one.json()["settings"]["restart"] == 0.3
    said = cli(
        "subsample", log, "--strategy", "RandomWalk(restart=0.3)", "--set", "restart=0.3",
        "-o", tmp_path / "c", *args,
    )  # fmt: skip
    assert "has the setting 'restart' twice" in said.err


def test_a_benchmark_runs_on_a_sample(cli, log, tmp_path, monkeypatch):
    """Ranked over the items that there were before, though the sample has fewer."""
    monkeypatch.chdir(tmp_path)
    cli("split", log, "--strategy", "LeaveLast", "-o", tmp_path / "split")
    said = cli(
        "subsample", tmp_path / "split", "--strategy", "HeadItems", "--keep", 0.2, "-o",
        tmp_path / "small", "--json", *LOW,
    )  # fmt: skip
    told = said.json()
    assert told["catalogue"]["cold_items"] > 0
    (tmp_path / "bench.toml").write_text(
        """
metrics = ["ndcg@10"]
[[data]]
name = "small/rows.parquet"
[split]
strategy = "Given"
left_out = ["left_out"]
[ranking]
catalogue = "small/catalogue.parquet"
[[model]]
name = "Popularity"
"""
    )
    done = cli("run", tmp_path / "bench.toml", "--store", tmp_path / "store", "--json")
    assert done.code == 0, done.err
    (cell,) = (tmp_path / "store" / "cells").iterdir()
    ranked = json.loads((cell / "cell.json").read_text())
    assert f'"catalogue_items": {told["catalogue"]["items"]}' in json.dumps(ranked)


def test_a_disk_that_fills_up_leaves_no_half_of_a_sample(cli, log, tmp_path, monkeypatch):
    written, write = [], pl.DataFrame.write_parquet

    def full(frame, file, **options):
        if "catalogue" in str(file):
            written.extend((tmp_path / "out").iterdir())
            raise pl.exceptions.ComputeError("No space left on device (os error 28)")
        write(frame, file, **options)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    how = ("--strategy", "RandomUsers", "--keep", 0.5, "-o", tmp_path / "out", *LOW)
    said = cli("subsample", log, *how)
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "No space left on device; make room and give the command again" in said.err
    assert written, "the rows were there already"
    assert not (tmp_path / "out").exists()
