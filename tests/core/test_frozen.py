"""What models are handed can't be changed by them; what callers hand in stays their own."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.test_interactions import ITEMS, USERS, make

from fullrank.core.queries import Queries

ROWS = [(0, 2, 1, 1, "x", 0), (0, 1, 1, 2, "x", 0), (1, 1, 2, 2, "y", 1), (1, 0, 2, 3, "y", 1)]


def arrays_of(value):
    found = {name: part for name, part in vars(value).items() if isinstance(part, np.ndarray)}
    return {**found, **getattr(value, "extras", {})}


def queries():
    return Queries.from_lists(
        np.array([0, 1]), [[0], [1]], [[1], [2]], user_vocab=USERS, item_vocab=ITEMS
    )


@pytest.mark.parametrize(
    "value",
    [
        make(ROWS), make(ROWS[::-1]), make(ROWS).take(np.array([True, False, True, True])),
        make(ROWS).compact(), queries(), queries()[:1], queries()[np.array([1, 0])],
        queries().without_targets(),
    ],
)  # fmt: skip
def test_arrays_are_read_only(value):
    assert len(arrays_of(value)) > 3
    for name, part in arrays_of(value).items():
        if len(part):
            with pytest.raises(ValueError, match="read-only"):
                part[0] = part[-1]
        assert not part.flags.writeable, name


def test_the_cached_matrix_is_read_only():
    matrix = make(ROWS).csr()
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 7


def test_the_array_of_the_caller_stays_writeable():
    users = np.array([0, 1], np.int32)
    made = Queries.from_lists(users, [[], []], [[], []], user_vocab=USERS, item_vocab=ITEMS)
    users[0] = 1
    assert not made.users.flags.writeable
