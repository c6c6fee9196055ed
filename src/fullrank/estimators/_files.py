"""Sampled ranks in files: one row a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, EstimateError, SpecError, suggest
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators._file_columns import (
    LARGEST,
    check_blank_lines,
    check_notable,
    check_places,
    check_scheme,
    check_settled,
    codes_of,
    gains_of,
    replacement_of,
    size_of,
    whole_column,
)

if TYPE_CHECKING:
    import polars as pl

ROLES = (
    "rank", "user_id", "query_id", "item_id", "sample_size", "catalog_size", "replacement",
    "others", "listed", "list_size", "scheme",
)  # fmt: skip
"""Columns of a file of sampled ranks; only ``rank`` must be there."""

_CONTRADICTED = 10
"""Pairs of targets of a query whose ranks say the reverse of ``others``, if most of them do."""


def read_ranks(
    source: Any,
    *,
    sample_size: int | None = None,
    catalog_size: int | None = None,
    replacement: bool | None = None,
    grade: str | None = None,
    columns: Mapping[str, str] | None = None,
    read: Mapping[str, Any] | None = None,
) -> TargetRanks:
    """Read ranks among sampled candidates, one row a target.

    Args:
        source: path, or frame of any kind, with a column ``rank`` (1 is best; missing for a
            target that can't be ranked). ``user_id`` and ``query_id`` say which targets belong
            together; without them each row is a user of its own. Several targets of a query need
            ``others``: how many other targets precede each. A column ``scheme`` may say how
            candidates were drawn: only ``uniform`` can be estimated from. Where a list was scored
            first and the rest sampled, ``listed`` says how many of the list precede each; a target
            that stopped after its list has a sample of 1, and the fewest listed items and targets
            ahead of such a one are the deepest cut-off that can be estimated; ``list_size`` is how
            many the list holds, to count what was scored.
        sample_size: candidates and the target; or a column of that name where it varies.
        catalog_size: candidates that could be drawn and the target; or a column of that name.
        replacement: whether an item could be drawn twice; or a column of that name.
        grade: column with gains; 1 without.
        columns: names in the file by role.
        read: reading options of text.

    Raises:
        DataError: a column is missing or holds what it can't.
        EstimateError: sizes that nobody told, ranks that ties leave open.
    """
    from fullrank.data._options import ReadOptions
    from fullrank.data._tables import load_table

    columns = dict(columns or {})
    table = load_table(source, ReadOptions(**(read or {})))
    where, frame = table.where, table.frame
    check_blank_lines(source, table, (read or {}).get("encoding"))
    found = _found_columns(frame, columns, where)
    check_scheme(frame, found.get("scheme"), where)
    ranks = whole_column(frame, found["rank"], where, missing=0)
    check_settled(frame, ranks, where)
    sizes, catalogs = (
        size_of(frame, found.get(role), value, role, where)
        for role, value in (("sample_size", sample_size), ("catalog_size", catalog_size))
    )
    drawn_twice = replacement_of(frame, found.get("replacement"), replacement, where)
    if drawn_twice is None:
        check_notable(sizes, catalogs)
    others, listed = (
        whole_column(frame, found[role], where) if role in found else np.zeros(len(frame), np.int64)
        for role in ("others", "listed")
    )
    check_places(ranks + others + listed, where)
    narrow = [x.astype(np.int32) for x in (ranks, sizes, catalogs, others)]
    sample = Sample(narrow[0], narrow[1], narrow[2], narrow[3], replacement=bool(drawn_twice))
    if "listed" in found:
        sample = _with_lists(sample, listed)
    return _assembled(frame, found, sample, gains_of(frame, grade, where), where, drawn_twice)


def _found_columns(frame: pl.DataFrame, columns: Mapping[str, str], where: str) -> dict[str, str]:
    """Names in the frame by role, of those that are there."""
    for role, name in columns.items():
        if role not in ROLES:
            raise SpecError(f"ranks have no column {role!r}{suggest(role, ROLES)}")
        if name not in frame.columns:
            raise DataError(
                f"{where} has no column {name!r} (named for {role}){suggest(name, frame.columns)}"
            )
    named = {role: columns.get(role, role) for role in ROLES}
    found = {role: name for role, name in named.items() if name in frame.columns}
    if "rank" not in found:
        raise _no_rank(where, frame)
    if not len(frame):
        raise DataError(f"{where} has columns but no rows; expected one row a target")
    return found


def _with_lists(sample: Sample, listed: NDArray[np.int64]) -> Sample:
    """A sample from what lists left, with the deepest cut-off that all targets are known up to."""
    ahead = listed + sample.others
    stopped = (sample.ranks > 0) & (sample.sizes == 1) & (sample.catalog_sizes > 1) & (ahead > 0)
    k_max = int(ahead[stopped].min(initial=LARGEST))
    return replace(sample, listed=listed.astype(np.int32), k_max=k_max)


def ranks_frame(ranked: TargetRanks) -> pl.DataFrame:
    """Sampled ranks as a table that ``read_ranks`` and ``fullrank estimate`` take.

    Returns:
        One row a target: ``user_id, query_id, item_id, rank, sample_size, catalog_size,
        replacement, scheme, others, gain``, and ``listed`` and ``list_size`` after a proxy list;
        the rank is null for a target that isn't ranked.
    """
    import polars as pl

    from fullrank.estimators._cases import checked_sample

    sample, rows = checked_sample(ranked, lists=True), rows_of(ranked.indptr)
    listed = {}
    if sample.k_max is not None:
        listed = {"listed": sample.listed, "list_size": list_sizes(ranked)[rows]}
    return pl.DataFrame(
        {
            "user_id": ranked.user_vocab.series(ranked.users[rows]),
            "query_id": ranked.query_ids[rows],
            "item_id": ranked.item_vocab.series(ranked.items),
            "rank": sample.ranks,
            "sample_size": sample.sizes,
            "catalog_size": sample.catalog_sizes,
            "replacement": np.full(len(rows), sample.replacement),
            "scheme": [sample.scheme] * len(rows),
            "others": sample.others,
            **listed,
            "gain": ranked.gains,
        }
    ).with_columns(rank=pl.when(pl.col("rank") > 0).then(pl.col("rank")))


def list_sizes(ranked: TargetRanks) -> NDArray[np.int64]:
    """Items of each query's list that were compared first: int64 ``[q]``; 0 without lists."""
    sample = ranked.sample
    assert sample is not None
    drawn = np.zeros(len(ranked), np.int64)
    np.maximum.at(drawn, rows_of(ranked.indptr), sample.sizes)
    if sample.k_max is None:
        return np.zeros(len(ranked), np.int64)
    return np.asarray(np.maximum(ranked.n_candidates - drawn, 0))


def write_ranks(ranked: TargetRanks, path: str | Path) -> None:
    """Write sampled ranks for ``fullrank estimate``; the suffix says the format."""
    from fullrank.data import write_table

    write_table(ranks_frame(ranked), Path(path))


def _no_rank(where: str, frame: pl.DataFrame) -> DataError | EstimateError:
    if {"best", "worst"} <= set(frame.columns):
        return EstimateError(
            f"{where} has best and worst ranks, so ties are left open: the likelihood of a sampled "
            "rank needs one; settle equal scores at random, the same way for all candidates of a "
            "query, and give the result as the column 'rank'"
        )
    return DataError(
        f"{where} has the columns {', '.join(frame.columns)}; expected a column 'rank' (or "
        "--columns rank=NAME)"
    )


def _assembled(
    frame: pl.DataFrame,
    found: Mapping[str, str],
    sample: Sample,
    gains: NDArray[np.float64],
    where: str,
    drawn_twice: bool | None,
) -> TargetRanks:
    """Put targets of a query together."""
    n = len(frame)
    users, user_vocab = codes_of(frame, found.get("user_id"), "user", n, where)
    query_ids = np.zeros(n, np.int64)
    if "query_id" in found:
        query_ids = codes_of(frame, found["query_id"], "query", n, where)[0].astype(np.int64)
    order = np.lexsort((sample.others, sample.ranks == 0, query_ids, users))
    users, query_ids, gains = users[order], query_ids[order], gains[order]
    lists = _list_sizes(frame, found, sample.listed, where)[order]
    sample = sample.take(order)
    new = np.append(True, (np.diff(users) != 0) | (np.diff(query_ids) != 0))[:n]
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, n))
    if counts.max(initial=1) > 1 and "others" not in found:
        user = user_vocab.label(users[starts[int(counts.argmax())]])
        raise EstimateError(
            f"{where}: user {user} has {counts.max()} targets in one query; give a column "
            "'others' (how many other targets precede each), or a query_id to tell cases apart"
        )
    items = np.arange(n) - np.repeat(starts, counts)
    _check_others(sample, items, user_vocab, users, where)
    _check_queries(sample, np.repeat(np.arange(len(counts)), counts), user_vocab, users, where)
    best = np.where(sample.ranks > 0, sample.ranks + sample.listed, UNRANKED).astype(np.int32)
    most = int(counts.max(initial=1))
    return TargetRanks(
        users=users[starts].astype(np.int32),
        query_ids=query_ids[starts],
        indptr=as_indptr(counts),
        best=best,
        worst=best.copy(),
        gains=gains,
        items=items.astype(np.int32),
        n_candidates=np.maximum.reduceat(sample.sizes, starts) + np.maximum.reduceat(lists, starts),
        user_vocab=user_vocab,
        item_vocab=Vocabulary(np.arange(most, dtype=np.int64), "item"),
        others="excluded",
        design={"candidates": "file", "replacement": drawn_twice}
        | ({} if "list_size" in found or sample.k_max is None else {"list_size": "not told"}),
        counts={"unranked_targets": int(np.count_nonzero(sample.ranks == 0))},
        sample=replace(sample),
    )


def _list_sizes(
    frame: pl.DataFrame, found: Mapping[str, str], listed: NDArray[np.int32], where: str
) -> NDArray[np.int32]:
    """Items of each target's list ``[t]``; as many as precede it, at least."""
    if "list_size" not in found:
        return listed
    told = whole_column(frame, found["list_size"], where).astype(np.int32)
    return np.maximum(listed, told)


def _check_others(
    sample: Sample,
    place: NDArray[np.int64],
    user_vocab: Vocabulary,
    users: NDArray[np.int64],
    where: str,
) -> None:
    """Demand that the targets of a query, in their order, have 0, 1, 2 and so on ahead."""
    bad = np.flatnonzero((sample.ranks > 0) & (sample.others != place))
    if len(bad):
        t = int(bad[0])
        raise EstimateError(
            f"{where}: a target of user {user_vocab.label(users[t])} has {sample.others[t]} others "
            f"ahead, expected {place[t]}: the ranked targets of a query have 0, 1, 2 and so on, "
            "each once; give a row to every target, and settle their equal scores at random"
        )


def _check_queries(
    sample: Sample,
    rows: NDArray[np.int64],
    user_vocab: Vocabulary,
    users: NDArray[np.int64],
    where: str,
) -> None:
    """Refuse targets of a query in different catalogues, or in an order that ranks contradict."""
    same = rows[1:] == rows[:-1]
    bad = np.flatnonzero(same & (np.diff(sample.catalog_sizes) != 0))
    if len(bad):
        t = int(bad[0])
        raise EstimateError(
            f"{where}: targets of a query of user {user_vocab.label(users[t])} have catalogues of "
            f"{sample.catalog_sizes[t]:,} and {sample.catalog_sizes[t + 1]:,} items; what "
            "a query could draw is the same for its targets: give one size, or tell cases apart by "
            "query_id"
        )
    told = same & (np.diff(sample.sizes) == 0) & (sample.ranks[1:] > 0)
    places = (sample.ranks + sample.listed).astype(np.int64)
    against = told & (np.diff(places) < 0)
    if against.sum() >= _CONTRADICTED and against.sum() > told.sum() / 2:
        raise EstimateError(
            f"{where}: in {against.sum():,} of {told.sum():,} pairs of targets of a query the one "
            "with more others ahead has the better rank; others is how many other targets precede "
            "each: count those that score higher"
        )
