"""Lists and held-out items that are integer codes already, to ``TargetRanks``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.threads import run_chunks
from fullrank.core.vocabulary import Vocabulary
from fullrank.rank._coded import CodedLists
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
    recs, last = _pair(users, items, ("users", "items"))
    truth, last_held = _pair(target_users, target_items, ("target_users", "target_items"))
    if not len(truth[0]):
        raise DataError("no held-out item is given; nobody can be evaluated")
    user_ids = _vocabulary(user_vocab, max(last[0], last_held[0]), "user")
    item_ids = _vocabulary(item_vocab, max(last[1], last_held[1]), "item")
    counts = np.bincount(truth[0], minlength=len(user_ids))
    strangers = 0
    if not counts.all():
        wanted = np.flatnonzero(counts)
        strangers = len(np.setdiff1d(recs[0], wanted))
        place = np.full(len(user_ids), -1, np.int32)
        place[wanted] = np.arange(len(wanted), dtype=np.int32)
        recs, truth = (place[recs[0]], recs[1]), (place[truth[0]], truth[1])
        user_ids = Vocabulary(user_ids.ids[wanted], "user")
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
    )
    return lists.ranks(depth, keep_seen=False)


def _pair(
    users: ArrayLike, items: ArrayLike, names: tuple[str, str]
) -> tuple[tuple[NDArray[np.int32], NDArray[np.int32]], tuple[int, int]]:
    """Codes of users and items of some rows, and the highest of each."""
    (left, last_user), (right, last_item) = _codes(users, names[0]), _codes(items, names[1])
    if len(left) != len(right):
        raise DataError(
            f"{names[0]} and {names[1]} have {len(left):,} and {len(right):,} elements; give one "
            "of each a row"
        )
    return (left, right), (last_user, last_item)


def _codes(values: ArrayLike, name: str) -> tuple[NDArray[np.int32], int]:
    """Codes as an int32 array, none below 0, and the highest (-1 without any)."""
    array = np.asarray(values)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise DataError(
            f"{name} must be a one-dimensional array of integer codes, got {array.dtype} of shape "
            f"{array.shape}; encode outside ids with a Vocabulary, or use ranks_from_lists"
        )
    ends = run_chunks(
        lambda start, stop: (int(array[start:stop].min()), int(array[start:stop].max())),
        len(array),
        _ROWS,
    )
    low, high = min((x for x, _ in ends), default=0), max((x for _, x in ends), default=-1)
    if low < 0 or high >= UNRANKED:
        raise DataError(f"{name} must be codes from 0 and below {UNRANKED:,}, got {low}…{high}")
    return np.ascontiguousarray(array, dtype=np.int32), high


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
