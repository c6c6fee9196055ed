"""Columns of numbers, parsed as such, are what their text would have become."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from fullrank.core.errors import FullrankError
from fullrank.data import _survey, read
from fullrank.data._options import ReadOptions
from fullrank.data._survey import Dialect, survey_text
from fullrank.data._tables import load_table, shape
from fullrank.kernels.survey import DECIMAL, EMPTY, TEXT, WHOLE

PLAIN = Dialect(",", '"', None)

ids = st.sampled_from(
    ["1", "7", "12", "-3", "0", "007", "+1", "a", "2.0", "2.5", "9" * 18, "9" * 20]
)
numbers = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-(10**6), 10**6, allow_nan=False, places=5).map(lambda x: format(x, "f")),
    st.sampled_from(["", "1", "2.50", ".5", "5.", "-0", "-0.0", "01.5", "1e3", "nan", "x", " 1"]),
)
SAFE = {"suppress_health_check": [HealthCheck.function_scoped_fixture], "deadline": None}


def outcome(path: Path, options: ReadOptions, *, typed: bool):
    """The shaped frame with the notes, or the error."""
    try:
        shaped = shape(load_table(path, options, typed=typed), options)
    except FullrankError as error:
        return None, (type(error).__name__, str(error))
    return shaped.table.frame, (shaped.notes, shaped.table.first_line)


@settings(max_examples=150, **SAFE)
@given(
    st.lists(st.tuples(ids, ids, numbers, numbers), min_size=1, max_size=6),
    st.booleans(), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_the_same_with_and_without(tmp_path, cells, alike, header, crlf, quoted):
    if alike:  # columns of one kind come up often
        cells = [(*cells[0][:2], *row[2:]) for row in cells]
    if quoted:
        cells = [(f'"{a}"', *rest) for a, *rest in cells]
    lines = ["user_id,item_id,rating,size"] if header else []
    lines += [",".join(row) for row in cells]
    path = tmp_path / "log.csv"
    path.write_bytes(("\r\n" if crlf else "\n").join(lines).encode())
    names = ("user_id", "item_id", "rating")
    columns = {} if header else {role: f"column_{j + 1}" for j, role in enumerate(names)}
    options = ReadOptions(columns, header=header, separator=",")
    frame, said = outcome(path, options, typed=True)
    want, want_said = outcome(path, options, typed=False)
    assert said == want_said
    if want is not None:
        assert_frame_equal(frame, want, check_exact=True)


def kinds(text: str, dialect: Dialect = PLAIN, *, width: int = 1, header: bool = False):
    found = survey_text(text.encode(), dialect, width, header)
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0\n10\n-7\n", WHOLE),
        ("9" * 18, WHOLE),
        ("9" * 19, TEXT),
        ("-0", TEXT),
        ("-", TEXT),
        ("1.5\n-0.25", DECIMAL),
        ("1.\n", TEXT),
        (".5\n", TEXT),
        ("00.5", TEXT),
        ("1e5", TEXT),
        ("1 ", TEXT),
        ('"1"', TEXT),
        ("1\n2.5\nx\n", WHOLE | DECIMAL | TEXT),
    ],
)
def test_kinds(text, kind):
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    ["1\n\n2", "1,2", "1\r\n", 'a"b', '"a', '"a"b', '"a\nb"', "1,", "\n"],
)
def test_what_is_not_plain(text):
    assert kinds(text) is None


def test_fields_and_chunks(monkeypatch):
    text = "user,item\n1,a\n,b\n-3,\n"
    assert kinds(text, width=2) == [TEXT | WHOLE | EMPTY, TEXT | EMPTY]
    for chunk in (1, 3, 8, 1 << 24):
        monkeypatch.setattr(_survey, "_CHUNK", chunk)
        assert kinds(text, width=2, header=True) == [WHOLE | EMPTY, TEXT | EMPTY]
        assert kinds(text + "x\n", width=2, header=True) is None
    for dialect in (Dialect("-", "", None), Dialect(",", '"', "\\"), Dialect("::", "", None)):
        assert kinds(text, dialect, width=2) is None


def test_floats_are_rounded_once(tmp_path):
    """As Python reads them, to the last bit."""
    rng = np.random.default_rng(0)
    digits = rng.integers(1, 25, 3000)
    texts = ["0." + "".join(map(str, rng.integers(0, 10, n))) for n in digits]
    texts += [f"{x:.25f}" for x in rng.normal(size=1000) * 10.0 ** rng.integers(-5, 15, 1000)]
    path = tmp_path / "log.csv"
    rows = [f"1,{row},{text}" for row, text in enumerate(texts)]
    path.write_text("user_id,item_id,rating\n" + "\n".join(rows))
    data = read(path).interactions
    assert data.values.tolist() == [float(text) for text in texts]
