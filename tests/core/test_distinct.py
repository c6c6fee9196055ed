"""Distinct items of ragged rows, against dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core import distinct
from fullrank.core.ragged import as_indptr, rows_of, run_ragged

ITEMS = 6

ragged = st.lists(
    st.lists(st.tuples(st.integers(0, ITEMS - 1), st.integers(-2, 2)), max_size=12), max_size=8
)


@pytest.fixture(params=[1, 4, 1 << 17], autouse=True, scope="module")
def elements(request):
    """Tasks of one row, of some, of all."""
    before, distinct._ELEMENTS = distinct._ELEMENTS, request.param
    yield
    distinct._ELEMENTS = before


def arrays(rows):
    """Indptr, items and values of lists of (item, value)."""
    flat = [cell for row in rows for cell in row]
    indptr = as_indptr([len(row) for row in rows])
    return indptr, np.array([i for i, _ in flat], np.int32), np.array([v for _, v in flat], float)


@given(ragged)
def test_distinct_items(rows):
    indptr, items, values = arrays(rows)
    for keep, dtype, join in (
        ("last", np.float32, lambda found: found[-1]),
        ("most", np.float64, max),
        ("count", np.float32, len),
    ):
        got_indptr, got_items, got = distinct.distinct_items(
            indptr, items, ITEMS, keep, None if keep == "count" else values, dtype
        )
        want = []
        for row in rows:
            by_item = {}
            for item, value in row:
                by_item.setdefault(item, []).append(value)
            want.append({item: join(found) for item, found in sorted(by_item.items())})
        assert got_indptr.tolist() == as_indptr([len(w) for w in want]).tolist()
        assert got_items.tolist() == [item for w in want for item in w]
        assert got.tolist() == [value for w in want for value in w.values()]
        assert got.dtype == dtype
    assert len(distinct.distinct_items(indptr, items, ITEMS)[2]) == 0


@given(ragged)
def test_elements_of_one_item(rows):
    indptr, items, values = arrays(rows)
    earlier, best = [], []
    for row in rows:
        earlier += [sum(i == item for i, _ in row[:at]) for at, (item, _) in enumerate(row)]
        for at, (item, value) in enumerate(row):
            before = [v for i, v in row[:at] if i == item]
            after = [v for i, v in row[at + 1 :] if i == item]
            best.append(all(value > v for v in before) and all(value >= v for v in after))
    assert distinct.earlier_of_item(indptr, items, ITEMS).tolist() == earlier
    assert distinct.first_of_item(indptr, items, ITEMS).tolist() == [e == 0 for e in earlier]
    assert distinct.best_of_item(indptr, items, ITEMS, values).tolist() == best


@given(ragged, ragged)
def test_shared_items(rows, others):
    rows, others = (x[: min(len(rows), len(others))] for x in (rows, others))
    indptr, items, _ = arrays(rows)
    other_indptr, other_items, _ = arrays(others)
    want = [i in {j for j, _ in rows[r]} for r, row in enumerate(others) for i, _ in row]
    got = distinct.shared_items(indptr, items, other_indptr, other_items, ITEMS)
    assert got.tolist() == want


@given(ragged, st.integers(1, 20))
def test_ranges_cover_each_row_once(rows, size):
    indptr, _, _ = arrays(rows)
    seen, ranges = [], []
    run_ragged(lambda first, last: ranges.append((first, last)), indptr, size)
    for first, last in ranges:
        seen += range(first, last)
        held = indptr[last] - indptr[first]
        assert held < size + max((len(row) for row in rows[first:last]), default=0) + 1
    assert sorted(seen) == list(range(len(rows)))
    assert len(rows_of(indptr)) == indptr[-1]
