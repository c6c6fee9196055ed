"""Lists and held-out items that are integer codes already, to ``TargetRanks``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.threads import run_chunks
from fullrank.core.vocabulary import Vocabulary
from fullrank.rank._coded import CodedLists, Codes, Starts, list_starts
from fullrank.rank._keys import ListKeys

_ROWS = 1 << 18  # rows of a task: they stay in the cache from one look to the next


def ranks_from_codes(
    users: ArrayLike,
    items: ArrayLike,
    target_users: ArrayLike,
    target_items: ArrayLike,
    *,
    gains: ArrayLike | None = None,
    user_vocab: Vocabulary | None = None,
    item_vocab: Vocabulary | None = None,
    depth: int | None = None,
) -> TargetRanks:
    """Find held-out items in lists given as arrays of codes, best first within a user.

    ``ranks_from_lists`` for who has codes already: nothing is read, and rows that are grouped by
    user are recognised in one pass and not copied. The policies are the same.

    Args:
        users: integers ``[n]`` from 0, user of each recommendation.
        items: integers ``[n]`` from 0; int32 arrays are used as they are.
        target_users: integers ``[t]``, user of each held-out item: who is evaluated.
        target_items: integers ``[t]``.
        gains: ``[t]`` grades of the held-out items, 0 or more; 1 without.
        user_vocab: outside ids of the users; the codes themselves without.
        item_vocab: outside ids of the items; the codes themselves without.
        depth: declared depth of the lists; without it lists are taken as complete.

    Returns:
        Ranks with one query per user who has held-out items, in the order of codes.

    Raises:
        DataError: arrays of unequal length, codes beyond a vocabulary, grades that are none; no
            held-out item.
        SpecError: a depth below 1.

    Example:
        >>> ranked = ranks_from_codes([0, 0, 1], [7, 3, 5], [0, 1], [3, 9])
        >>> ranked.best.tolist()  # second, and not in the list
        [2, 2147483647]
    """
    if depth is not None and (isinstance(depth, bool) or not 1 <= depth < UNRANKED):
        raise SpecError(f"depth must be 1 or more and below {UNRANKED:,}, got {depth!r}")
    recs, truth, starts, (last_user, last_item) = _coded(
        (users, items), (target_users, target_items)
    )
    user_ids = _vocabulary(user_vocab, last_user, "user")
    item_ids = _vocabulary(item_vocab, last_item, "item")
    # A column in no order may have hidden the highest code.
    starts = tuple(None if s is None or len(s) != len(user_ids) + 1 else s for s in starts)
    evaluated = _met(truth[0], starts[1], len(user_ids))
    strangers = 0
    if not evaluated.all():
        listed = _met(recs[0], starts[0], len(user_ids))
        strangers = int(np.count_nonzero(listed & ~evaluated))
        wanted = np.flatnonzero(evaluated)
        place = np.full(len(user_ids), -1, np.int32)
        place[wanted] = np.arange(len(wanted), dtype=np.int32)
        recs, truth = (place[recs[0]], recs[1]), (place[truth[0]], truth[1])
        user_ids, starts = Vocabulary(user_ids.ids[wanted], "user"), (None, None)
    graded = gains is not None
    lists = CodedLists(
        where="the lists",
        users=user_ids,
        items=item_ids,
        recs=recs,
        truth=truth,
        train=None,
        keys=ListKeys(np.zeros(0, np.int32), recs[0], "row order", None, {}),
        gains=_gains(gains, len(truth[0])) if gains is not None else None,
        design={
            "grade": "gains" if graded else None,
            "gain": "the gains given" if graded else "1 for every target",
            "ungraded": None,
        },
        strangers=strangers,
        starts=(starts[0], starts[1]),
    )
    return lists.ranks(depth, keep_seen=False)


def _coded(
    recs: tuple[ArrayLike, ArrayLike], truth: tuple[ArrayLike, ArrayLike]
) -> tuple[Codes, Codes, tuple[Starts, ...], tuple[int, int]]:
    """Codes of lists and held-out items, ``_starts`` of their users, highest user and item."""
    rec_users, rec_items = _pair(*recs, ("users", "items"))
    held_users, held_items = _pair(*truth, ("target_users", "target_items"))
    if not len(held_users):
        raise DataError("no held-out item is given; nobody can be evaluated")
    starts = _starts(rec_users, held_users)
    left, last_left = _codes(rec_users, "users", starts[0] is not None)
    items, last_item = _codes(rec_items, "items")
    right, last_right = _codes(held_users, "target_users", starts[1] is not None)
    held, last_held = _codes(held_items, "target_items")
    highest = max(last_left, last_right), max(last_item, last_held)
    return (left, items), (right, held), starts, highest


def _pair(
    users: ArrayLike, items: ArrayLike, names: tuple[str, str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns of integers of the same length."""
    left, right = _integers(users, names[0]), _integers(items, names[1])
    if len(left) != len(right):
        raise DataError(
            f"{names[0]} and {names[1]} have {len(left):,} and {len(right):,} elements; give one "
            "of each a row"
        )
    return left, right


def _integers(values: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise DataError(
            f"{name} must be a one-dimensional array of integer codes, got {array.dtype} of shape "
            f"{array.shape}; encode outside ids with a Vocabulary, or use ranks_from_lists"
        )
    return array


def _starts(*columns: NDArray[Any]) -> tuple[Starts, ...]:
    """Where the rows of each user begin in columns of users; None if they are in no order.

    Codes in order need no look at the lowest and the highest.
    """
    if any(column.dtype != np.int32 or not column.flags.c_contiguous for column in columns):
        return (None,) * len(columns)
    last = max(int(column[-1]) for column in columns if len(column))
    if not 0 <= last < UNRANKED:
        return (None,) * len(columns)
    return tuple(list_starts(column, np.zeros(0, np.int32), last + 1) for column in columns)


def _codes(array: NDArray[Any], name: str, ordered: bool = False) -> tuple[NDArray[np.int32], int]:
    """Codes as an int32 array, none below 0, and the highest (-1 without any)."""
    if ordered:
        return array, int(array[-1]) if len(array) else -1
    ends = run_chunks(
        lambda start, stop: (int(array[start:stop].min()), int(array[start:stop].max())),
        len(array),
        _ROWS,
    )
    low, high = min((x for x, _ in ends), default=0), max((x for _, x in ends), default=-1)
    if low < 0 or high >= UNRANKED:
        raise DataError(f"{name} must be codes from 0 and below {UNRANKED:,}, got {low}…{high}")
    return np.ascontiguousarray(array, dtype=np.int32), high


def _met(users: NDArray[np.int32], starts: Starts, n_users: int) -> NDArray[np.bool_]:
    """Bool ``[n_users]``: the user has a row."""
    if starts is not None:
        return np.asarray(starts[1:] > starts[:-1])
    out = np.zeros(n_users, dtype=bool)
    out[users] = True
    return out


def _vocabulary(given: Vocabulary | None, highest: int, name: str) -> Vocabulary:
    if given is None:
        return Vocabulary(np.arange(highest + 1, dtype=np.int64), name)
    if highest >= len(given):
        raise DataError(
            f"{name} code {highest} is beyond the vocabulary, which has {len(given):,} {name}s; "
            "give the one that the codes were made with"
        )
    return given


def _gains(gains: ArrayLike, n: int) -> NDArray[np.float64]:
    array = np.asarray(gains, dtype=np.float64)
    if array.shape != (n,) or bool((~(array >= 0) | np.isinf(array)).any()):
        raise DataError(
            f"gains must be {n:,} finite numbers that are not negative, one for each held-out "
            f"item, got shape {array.shape} with least {array.min(initial=np.inf):g}"
        )
    return array
