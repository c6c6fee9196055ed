"""What orders lists: ranks, scores, or the order of the rows, checked and made sort keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.ranked import UNRANKED
from fullrank.core.text import quoted
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl


UNUSED_SCORES = "rank column (the score column is not used, and equal scores do not tie)"


@dataclass(frozen=True, eq=False)
class ListKeys:
    """How the rows of lists are ordered; rows of users who aren't evaluated don't matter.

    Attributes:
        keys: ``[n]``, ascending within a list: int32 ranks, or float64 scores with their sign
            turned; of no meaning where ``users`` is -1. ``[0]`` for the order of the rows.
        users: int32 ``[n]`` user codes; -1 for rows that no list holds.
        order: ``"rank column"``, ``"score column"`` or ``"row order"``; ``UNUSED_SCORES`` where
            there are both columns, as ranks say how equal scores are ordered.
        never: bool ``[n]``, rows scored -inf, which left their lists; None if there is none.
        counts: policies applied, by name.
    """

    keys: NDArray[Any]
    users: NDArray[np.int32]
    order: str
    never: NDArray[np.bool_] | None
    counts: dict[str, int]


def list_keys(
    recs: pl.DataFrame, users: NDArray[np.int32], vocab: Vocabulary, where: str
) -> ListKeys:
    """Order lists by ``rank``, else by ``score``, else by the order of their rows.

    Args:
        recs: the lists.
        users: int32 ``[n]`` codes of their users, -1 for those who aren't evaluated.
        vocab: users who are evaluated.
        where: how messages call the lists.

    Raises:
        DataError: ranks or scores that are none; lists that count from 0 beside lists from 1.
    """
    if "rank" in recs.columns:
        rank = _whole_ranks(recs, users >= 0, where)
        moved = _from_zero(rank, users, vocab, where)
        counts = {"ranks_counted_from_0": int(np.count_nonzero(users >= 0))} if moved else {}
        order = UNUSED_SCORES if "score" in recs.columns else "rank column"
        return ListKeys(rank + np.int32(1) if moved else rank, users, order, None, counts)
    if "score" in recs.columns:
        score = recs["score"].to_numpy().astype(np.float64)
        _check_scores(recs, score, users >= 0, where)
        never = (score == -np.inf) & (users >= 0)
        np.negative(score, out=score)
        if not never.any():
            return ListKeys(score, users, "score column", None, {})
        counts = {"never_recommended": int(np.count_nonzero(never))}
        left = np.where(never, -1, users).astype(np.int32)
        return ListKeys(score, left, "score column", never, counts)
    return ListKeys(np.zeros(0, np.int32), users, "row order", None, {})


def _whole_ranks(recs: pl.DataFrame, own: NDArray[np.bool_], where: str) -> NDArray[np.int32]:
    """Ranks as int32 ``[n]``, checked where they are ``own``."""
    column = recs["rank"]
    if column.dtype.is_integer() and len(column):
        low, high = (int(end) for end in (column.min(), column.max()))  # type: ignore[arg-type]
        if low >= 0 and high < UNRANKED:
            out = np.empty(len(column), dtype=np.int32)
            start = 0
            for chunk in column.get_chunks():
                out[start : start + len(chunk)] = chunk.to_numpy()
                start += len(chunk)
            return out
    rank = column.to_numpy().astype(np.float64)
    _check_ranks(recs, rank, own, where)
    return np.where(own, rank, 0).astype(np.int32)


def _check_ranks(
    recs: pl.DataFrame, rank: NDArray[np.float64], own: NDArray[np.bool_], where: str
) -> None:
    whole = np.isfinite(rank) & (rank == np.floor(rank)) & (rank >= 0) & (rank < UNRANKED)
    bad = np.flatnonzero(own & ~whole)
    if len(bad):
        row = int(bad[0])
        given = "missing" if np.isnan(rank[row]) else f"{rank[row]:.15g}"
        raise DataError(
            f"{where}: the rank of {_row(recs, row)} is {given}; expected a whole number from 1 "
            f"(best) to {UNRANKED - 1:,}: give each item its place in the list, or, if the column "
            "holds scores, name it so: columns={'score': 'NAME'}, or --columns score=NAME on the "
            "command line"
        )


def _from_zero(
    rank: NDArray[np.int32], users: NDArray[np.int32], vocab: Vocabulary, where: str
) -> bool:
    """True if the lists of evaluated users count from 0.

    A list may begin below its first place, so one that holds a 0 speaks for all, unless another
    begins at 1: then nothing tells whether that one counts from 1 or lacks its first place.
    """
    if len(rank) == 0 or rank.min() > 0:
        return False
    own = users >= 0
    if not bool((rank[own] == 0).any()):
        return False
    lowest = np.full(len(vocab), UNRANKED)
    np.minimum.at(lowest, users[own], rank[own])
    zero, one = np.flatnonzero(lowest == 0), np.flatnonzero(lowest == 1)
    if len(one):
        raise DataError(
            f"{where}: the ranks of user {vocab.label(zero[0])} begin at 0 and those of user "
            f"{vocab.label(one[0])} at 1 ({len(zero):,} and {len(one):,} such lists), so that "
            "places can't be told; count all lists from 1"
        )
    return True


def _check_scores(
    recs: pl.DataFrame, score: NDArray[np.float64], own: NDArray[np.bool_], where: str
) -> None:
    bad = np.flatnonzero(own & ~(score < np.inf))  # NaN fails the comparison too
    if not len(bad):
        return
    row = int(bad[0])
    if np.isnan(score[row]):
        raise DataError(
            f"{where}: the score of {_row(recs, row)} is missing or NaN; scores must be numbers: "
            "leave out what the system doesn't recommend"
        )
    raise DataError(
        f"{where}: the score of {_row(recs, row)} is inf; scores must be below infinity (-inf "
        "means never recommend): mend it, or give a rank column"
    )


def _row(recs: Any, row: int) -> str:
    return f"user {quoted(recs['user_id'][row])}, item {quoted(recs['item_id'][row])}"
