"""Splits in folders: the same back, or a refusal that names the file."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from fullrank.core.errors import StoreError
from fullrank.core.interactions import NO_TIME
from fullrank.data.filters import Core
from fullrank.split import GlobalTime, RandomRows, Split, UnseenUsers, with_train_filter
from fullrank.testing.split import interactions, tied_world


@pytest.fixture
def saved(tmp_path):
    split = GlobalTime().split(interactions(**tied_world()))
    split.save(tmp_path / "split")
    return tmp_path / "split"


def same(split, folder):
    split.save(folder)
    again = Split.load(folder)
    assert np.array_equal(split.part, again.part)
    assert split.fingerprint == again.fingerprint
    one, other = split.data, again.data
    assert one.fingerprint == other.fingerprint
    assert one.user_vocab == other.user_vocab
    assert one.item_vocab == other.item_vocab
    assert one.user_vocab.ids.dtype == other.user_vocab.ids.dtype
    assert one.time_unit == other.time_unit
    for name in ("users", "items", "values", "times"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name, column in one.extras.items():
        assert np.array_equal(column, other.extras[name])
        assert column.dtype == other.extras[name].dtype
    assert split.card() == again.card()
    return again


def test_ids_times_and_columns_of_every_kind(tmp_path):
    n = 40
    rng = np.random.default_rng(0)
    big = np.arange(n, dtype=np.uint64) % 7 + np.uint64(2**63)
    data = interactions(
        big,
        np.arange(n) % 5 - 2,
        times=np.where(np.arange(n) % 9 == 0, NO_TIME, 1_600_000_000_123 + np.arange(n)),
        time_unit="ms",
        values=rng.normal(size=n),
        rating=rng.integers(0, 9, n).astype(np.int16),
        row_number=rng.random(n) < 0.5,
        extra_x=rng.random(n).astype(np.float32),
        title=np.array([f"ti,tle \u00e9 {i % 3}" for i in range(n)], dtype=object),
    )
    again = same(RandomRows().split(data), tmp_path / "a")
    assert int(again.data.user_vocab.ids[0]) == 2**63
    assert np.array_equal(again.data.times == NO_TIME, data.times == NO_TIME)
    bare = interactions([f"0{i}" for i in range(n)], ["x"] * n)
    assert same(RandomRows().split(bare), tmp_path / "b").data.user_vocab.ids[1] == "01"


def test_vocabularies_keep_ids_without_rows(tmp_path):
    data = interactions(**tied_world())
    fewer = data.take(data.items != 3)
    again = same(RandomRows().split(fewer), tmp_path / "a")
    assert again.data.n_items == data.n_items


def test_the_rows_of_a_filtered_refit_come_back(tmp_path):
    split = with_train_filter(GlobalTime().split(interactions(**tied_world())), [Core(3, 9)])
    again = same(split, tmp_path / "a")
    assert np.array_equal(split.refit, again.refit)


def test_a_new_split_replaces_the_old_one(saved):
    split = UnseenUsers(valid=0).split(interactions(**tied_world()))
    same(split, saved)
    assert not (saved / "valid.parquet").exists()
    (saved / "notes.parquet").write_bytes(b"mine")
    with pytest.raises(StoreError, match=r"holds other files \(notes.parquet"):
        split.save(saved)


def test_the_parts_can_be_read_as_plain_tables(saved):
    import polars as pl

    frame = pl.read_parquet(saved / "test.parquet")
    assert frame.columns == ["row_number", "user_id", "item_id", "rating", "timestamp", "split"]
    assert frame.height == json.loads((saved / "split.json").read_text())["counts"]["test"]


def cut_short(folder):
    path = folder / "train.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def drop_a_row(folder):
    import polars as pl

    pl.read_parquet(folder / "test.parquet")[1:].write_parquet(folder / "test.parquet")


def change_a_value(folder):
    import polars as pl

    frame = pl.read_parquet(folder / "test.parquet")
    frame.with_columns(pl.col("rating") + 1).write_parquet(folder / "test.parquet")


def drop_a_column(folder):
    import polars as pl

    pl.read_parquet(folder / "test.parquet").drop("rating").write_parquet(folder / "test.parquet")


def other_format(folder):
    about = json.loads((folder / "split.json").read_text())
    (folder / "split.json").write_text(json.dumps({**about, "format": 99}))


def forget_a_key(folder):
    about = json.loads((folder / "split.json").read_text())
    del about["counts"]
    (folder / "split.json").write_text(json.dumps(about))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "split.json").unlink(), "holds no split.json"),
        (lambda f: (f / "split.json").write_text("{"), "split.json can't be read"),
        (other_format, "has format 99, this version reads 1"),
        (lambda f: (f / "valid.parquet").unlink(), "valid.parquet is missing"),
        (lambda f: (f / "item_ids.parquet").unlink(), "item_ids.parquet is missing"),
        (cut_short, "train.parquet can't be read"),
        (drop_a_row, "test.parquet has 41 rows and split.json says 42"),
        (change_a_value, "not those that were written"),
        (forget_a_key, "does not hold a whole split .KeyError: 'counts'"),
        (drop_a_column, "does not hold a whole split"),
    ],
)
def test_a_damaged_folder_is_refused(saved, damage, message):
    damage(saved)
    with pytest.raises(StoreError, match=message):
        Split.load(saved)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(StoreError, match="it is no split"):
        Split.load(tmp_path / "nowhere")


def test_importing_the_package_loads_no_data_frames():
    import subprocess

    code = (
        "import sys, fullrank.split, fullrank.data.filters;"
        "print([m for m in ('polars', 'scipy', 'numba', 'pandas') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
