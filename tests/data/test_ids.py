"""Ids keep their type (D06 of the public faults: the loading side)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, IdTypeError
from fullrank.core.vocabulary import Vocabulary
from fullrank.data import encode_column, encode_columns, read, to_frame

BIG = 2**53 + 1  # a float would turn it into 2**53


def ids_of(frame: object) -> list[object]:
    return read(frame).interactions.user_vocab.ids.tolist()


def both(column: object) -> dict[str, object]:
    return {"user_id": column, "item_id": column}


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 2, BIG], dtype=np.int64),
        pd.array([1, 2, BIG], dtype="Int64"),
        pd.array([1, 2, BIG], dtype="UInt64"),
        pd.array([1, 2, BIG], dtype="int64[pyarrow]"),
        pd.Categorical([1, 2, BIG]),
        pd.Series([1, 2, BIG], dtype=object),
    ],
    ids=lambda column: str(getattr(column, "dtype", "")),
)
def test_pandas_integers(column: object) -> None:
    assert ids_of(pd.DataFrame(both(column))) == [1, 2, BIG]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint32", "uint64"])
def test_narrow_integers_equal_wide_ones(dtype: str) -> None:
    narrow = read(pd.DataFrame(both(np.array([3, 1, 2], dtype=dtype)))).interactions
    wide = read(pl.DataFrame(both([3, 1, 2]))).interactions
    assert narrow.user_vocab == wide.user_vocab
    assert narrow.fingerprint == wide.fingerprint


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "0001", " b"], dtype=object),
        pd.Series(["b", "0001", " b"], dtype="str"),
        pd.Series(["b", "0001", " b"], dtype="string"),
        pd.Categorical(["b", "0001", " b"]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_pandas_text_keeps_zeros_and_blanks(column: object) -> None:
    assert ids_of(pd.DataFrame(both(column))) == [" b", "0001", "b"]


def test_text_of_a_typed_frame_stays_text() -> None:
    assert ids_of(pl.DataFrame(both(["1", "2"]))) == ["1", "2"]
    assert ids_of(pa.table(both(["1", "2"]))) == ["1", "2"]
    assert ids_of(pa.table(both(pa.array(["b", "a"]).dictionary_encode()))) == ["a", "b"]


def test_ids_above_int64() -> None:
    assert ids_of(pl.DataFrame(both([2**63, 5]), schema_overrides=both(pl.UInt64))) == [5, 2**63]
    with pytest.raises(DataError, match=r"row 1: .*18446744073709551616, beyond 64 bits"):
        read(both([2**64, 1]))


def test_whole_floats_are_converted_and_noted() -> None:
    data = read(pd.DataFrame(both([1.0, 2.0])))
    assert data.interactions.user_vocab.ids.tolist() == [1, 2]
    assert "user_id: whole floats taken as integers" in data.source.notes


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.5, "1.5 is no exact whole number"), (float(2**53), "no exact whole number")],
)
def test_other_floats_are_refused(value: float, said: str) -> None:
    with pytest.raises(DataError, match=f"row 2: column 'user_id' .*{said}"):
        read(pl.DataFrame(both([1.0, value])))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(both([1.0, np.nan])),
        pd.DataFrame(both(pd.array([1, None], dtype="Int64"))),
        pd.DataFrame(both(pd.Series(["a", None], dtype=object))),
        pd.DataFrame(both(pd.Series(["a", None], dtype="str"))),
        pd.DataFrame(both(pd.Categorical(["a", None]))),
        pl.DataFrame(both(["a", ""])),
        pa.table(both(["a", None])),
    ],
    ids=lambda frame: type(frame).__module__ + str(list(map(str, frame.columns))),
)
def test_missing_ids(frame: object) -> None:
    with pytest.raises(DataError, match=r"row 2: no user_id.*1 such rows.*drop these rows"):
        read(frame)


def test_mixed_objects() -> None:
    with pytest.raises(IdTypeError, match=r"mixes text \(such as '2', row 2\) and int"):
        read(pd.DataFrame(both([1, "2"])))


def test_other_types_are_refused() -> None:
    with pytest.raises(DataError, match="must hold integers or text, got Boolean"):
        read(pl.DataFrame(both([True, False])))
    with pytest.raises(DataError, match=r"expected a frame .* got int"):
        read(7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2 30", [1, 2, 30]),
        ("-1 0 5", [-1, 0, 5]),
        ("1 02 3", ["02", "1", "3"]),
        ("1 2 x", ["1", "2", "x"]),
        ("1 +2 3", ["+2", "1", "3"]),
        ("-0 1 2", ["-0", "1", "2"]),
        ("1.0 2.0 3.0", [1, 2, 3]),
        ("1.0 2 3", ["1.0", "2", "3"]),
        ("1e5 2e5 3e5", ["1e5", "2e5", "3e5"]),
        (f"{BIG} 1 2", [1, 2, BIG]),
        (f"{2**64 - 1} 1 2", [1, 2, 2**64 - 1]),
        (f"{2**64} 1 2", ["1", str(2**64), "2"]),
    ],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_ids_of_text_files(tmp_path: Path, text: str, expected: list[object], quote: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,item\n" + "".join(f"{quote}{x}{quote},7\n" for x in text.split()))
    assert ids_of(path) == expected


def test_a_late_text_id_among_many_integers(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,item\n" + "".join(f"{j},1\n" for j in range(5000)) + "007,1\n")
    data = read(path).interactions
    assert data.user_vocab.kind == "text"
    assert data.n_users == 5001


def test_blanks_around_ids_of_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,item\n a,1\na,1\n")
    assert ids_of(path) == [" a", "a"]


def test_jsonl_keeps_types_and_refuses_two(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"user_id": "1", "item_id": 9007199254740993}\n')
    data = read(path).interactions
    assert data.user_ids.tolist() == ["1"]
    assert data.item_ids.tolist() == [BIG]
    path.write_text('{"user_id": "1", "item_id": 1}\n{"user_id": 2, "item_id": 1}\n')
    with pytest.raises(DataError, match="line 2: 'user_id' is a number here and text elsewhere"):
        read(path)


integers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 50), min_size=1)
texts = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
    min_size=1,
)


@given(integers | texts)
def test_codes_are_those_of_the_vocabulary(ids: list[int] | list[str]) -> None:
    codes, vocab = encode_column(pl.Series(ids), "user")
    assert vocab == Vocabulary.of(ids)
    assert codes.dtype == np.int32
    assert vocab.decode(codes).tolist() == ids
    assert codes.tolist() == vocab.encode(ids).tolist()


def test_encode_columns() -> None:
    frame = pl.DataFrame({"user_id": ["b", "a", "b"], "item_id": [2**40, -1, -1]})
    users, user_vocab, items, item_vocab = encode_columns(frame)
    assert users.tolist() == [1, 0, 1]
    assert items.tolist() == [1, 0, 0]
    assert (user_vocab.name, item_vocab.name) == ("user", "item")
    with pytest.raises(IdTypeError, match="user ids must be integers or text, got Float64"):
        encode_column(pl.Series([1.0]), "user")


def test_frames_of_each_kind() -> None:
    plain = {"user_id": ["u", "v"], "item_id": [1, 2], "rating": [1.0, 2.0]}
    frames = [plain, pl.DataFrame(plain), pl.LazyFrame(plain), pd.DataFrame(plain), pa.table(plain)]
    assert len({read(frame).interactions.fingerprint for frame in frames}) == 1


def test_pandas_columns_of_all_kinds() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": pd.array([True, None], dtype="boolean"),
            "when": pd.to_datetime(["2020-01-01T00:00:00", None]),
            "zoned": pd.to_datetime(["2020-01-01T01:00:00+01:00", None]),
            "number": [0.5, np.nan],
        },
        index=[5, 5],
    )
    out = to_frame(frame)
    assert out["whole"].to_list() == [1, None]
    assert out["flag"].to_list() == [True, None]
    assert out["when"].dt.epoch("s").to_list() == [1_577_836_800, None]
    assert out["zoned"].dt.epoch("s").to_list() == [1_577_836_800, None]
    with pytest.raises(DataError, match="more than one column 'a'"):
        to_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match="column 'a' holds objects"):
        to_frame(pd.DataFrame({"a": [{1}, object()]}))


def test_32_bit_floats_that_merged_neighbours_are_refused():
    ids = pl.Series([16777216, 16777217, 16777218], dtype=pl.Float32)
    with pytest.raises(DataError, match="no exact whole number"):
        read(pl.DataFrame({"user_id": ids, "item_id": [1, 1, 1]}))
    small = pl.Series([1, 2, 16777215], dtype=pl.Float32)
    data = read(pl.DataFrame({"user_id": small, "item_id": [1, 1, 1]})).interactions
    assert data.user_vocab.ids.tolist() == [1, 2, 16777215]
