"""Text of pandas frames, in whatever memory pandas keeps it."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from fullrank.data import _frames
from fullrank.data._frames import to_frame


@pytest.mark.parametrize("dtype", ["str", "string[python]", "string[pyarrow]", object])
@pytest.mark.parametrize("values", [["x", None, "é"], [None], []])
def test_text_and_missing_text(dtype, values):
    column = to_frame(pd.DataFrame({"a": pd.Series(values, dtype=dtype)}))["a"]
    assert column.to_list() == values
    if values[:1] == ["x"] or dtype == "string[pyarrow]":
        assert column.dtype == pl.String


def test_text_in_arrow_memory_makes_no_objects(monkeypatch):
    monkeypatch.setattr(_frames, "_objects", lambda *_: pytest.fail("a Python object a row"))
    frame = pd.DataFrame({"a": pd.Series(["x", "y"], dtype="string[pyarrow]")})[::-1]
    assert to_frame(frame)["a"].to_list() == ["y", "x"]
