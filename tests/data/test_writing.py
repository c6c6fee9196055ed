"""What is written is read back the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.data import read, read_table, write_interactions, write_table


def log(
    users: list[Any],
    items: list[Any],
    times: list[int] | None = None,
    unit: Any = "s",
    values: list[float] | None = None,
    **extras: Any,
) -> Interactions:
    user_vocab, item_vocab = Vocabulary.of(users, "user"), Vocabulary.of(items, "item")
    return Interactions(
        user_vocab.encode(users),
        item_vocab.encode(items),
        user_vocab,
        item_vocab,
        None if values is None else np.array(values),
        None if times is None else np.array(times, dtype=np.int64),
        unit,
        {name: np.array(column) for name, column in extras.items()},
    )


FULL = log(
    ["a", "b", 'c "x", y'],
    [2**60, 1, 7],
    [1_700_000_000, NO_TIME, 5],
    values=[0.1, 2.0, 1e-300],
    count=[1, 2, 3],
    price=[0.5, 1.5, 2.5],
    note=np.array(["x\ny", "0012", "z"], dtype=object),
)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "tsv", "jsonl", "arrow"])
def test_round_trip(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{suffix}"
    write_interactions(FULL, path)
    again = read(path).interactions
    assert again.fingerprint == FULL.fingerprint
    assert again.extras["note"].tolist() == FULL.extras["note"].tolist()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("s", [1, 2]),
        ("s", [20101231, 20110101]),
        ("s", [10**12, 0]),
        ("ms", [1, 1_700_000_000_000]),
        ("us", [1, 2]),
        ("ns", [0, 2**62]),
        ("order", [3, 1]),
    ],
)
def test_units_survive(suffix: str, unit: str, times: list[int], tmp_path: Path) -> None:
    data = log([1, 1], [1, 2], times, unit)
    write_interactions(data, tmp_path / f"log.{suffix}")
    again = read(tmp_path / f"log.{suffix}").interactions
    assert again.time_unit == unit
    assert again.fingerprint == data.fingerprint


text_ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
ids = st.lists(text_ids, min_size=1, max_size=6) | st.lists(
    st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6
)


def looks_numeric(labels: list[str]) -> bool:
    """Plain reference: each label is a number, in Polars' eyes."""
    return bool(pl.Series(labels).cast(pl.Float64, strict=False).is_not_null().all())


@given(users=ids, suffix=st.sampled_from(["parquet", "csv", "tsv", "jsonl"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120)
def test_any_ids_come_back_or_are_refused(users: list[Any], suffix: str, tmp_path: Path) -> None:
    data = log(users, list(range(len(users))))
    path = tmp_path / f"log.{suffix}"
    text = suffix in ("csv", "tsv") and isinstance(users[0], str)
    if text and (looks_numeric(users) or all(label.startswith(" ") for label in users)):
        with pytest.raises(DataError, match="can't keep"):
            write_interactions(data, path)
        return
    write_interactions(data, path)
    again = read(path).interactions
    assert again.user_vocab == data.user_vocab
    assert again.fingerprint == data.fingerprint


def test_text_that_looks_like_numbers_needs_types(tmp_path: Path) -> None:
    data = log(["1", "2"], [1, 2])
    with pytest.raises(
        DataError, match=r"user_id is text that looks like numbers .*write \.parquet"
    ):
        write_interactions(data, tmp_path / "log.csv")
    write_interactions(data, tmp_path / "log.jsonl")
    assert read(tmp_path / "log.jsonl").interactions.user_ids.tolist() == ["1", "2"]


def test_text_that_begins_with_blanks_needs_types(tmp_path: Path) -> None:
    data = log([" a", " b"], [1, 2])
    with pytest.raises(DataError, match=r"user_id begins with a blank in all rows .*' a'"):
        write_interactions(data, tmp_path / "log.csv")
    write_interactions(data, tmp_path / "log.jsonl")
    assert read(tmp_path / "log.jsonl").interactions.user_ids.tolist() == [" a", " b"]


def test_extra_names_that_would_change_their_meaning(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'stars' would be read back as rating"):
        write_interactions(log([1], [2], stars=[3]), tmp_path / "log.parquet")


def test_write_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user_id": ["u"], "item_id": [1], "score": [0.25]})
    write_table(frame, tmp_path / "recs.data", format="tsv")
    assert read_table(tmp_path / "recs.data", kind="recommendations").equals(frame)
    with pytest.raises(SpecError, match=r"can't tell the format of 'recs\.xyz'"):
        write_table(frame, tmp_path / "recs.xyz")
