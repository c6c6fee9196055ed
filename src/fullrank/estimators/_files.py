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

if TYPE_CHECKING:
    import polars as pl

ROLES = (
    "rank", "user_id", "query_id", "item_id", "sample_size", "catalog_size", "replacement",
    "others", "listed", "scheme",
)  # fmt: skip
"""Columns of a file of sampled ranks; only ``rank`` must be there."""

_NOTABLE = 0.05
"""Share of the catalogue from which it matters how a sample was drawn."""

_LARGEST = UNRANKED - 1

_TIED = 10
"""Targets with equal scores that all have their best rank, or all their worst: no coin did that."""

_TRUTH = {"true": True, "false": False, "1": True, "0": False}


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
            ahead of such a one are the deepest cut-off that can be estimated.
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
    for role in columns:
        if role not in ROLES:
            raise SpecError(f"ranks have no column {role!r}{suggest(role, ROLES)}")
    table = load_table(source, ReadOptions(**(read or {})))
    where, frame = table.where, table.frame
    found = {role: columns.get(role, role) for role in ROLES if columns.get(role, role) in
             frame.columns}  # fmt: skip
    for role, name in columns.items():
        if name not in frame.columns:
            raise DataError(
                f"{where} has no column {name!r} (named for {role}){suggest(name, frame.columns)}"
            )
    if "rank" not in found:
        raise _no_rank(where, frame)
    if not len(frame):
        raise DataError(f"{where} has columns but no rows; expected one row a target")
    _check_scheme(frame, found.get("scheme"), where)
    ranks = _whole(frame, found["rank"], where, missing=0)
    _check_settled(frame, ranks, where)
    sizes, catalogs = (
        _told(frame, found.get(role), value, role, where)
        for role, value in (("sample_size", sample_size), ("catalog_size", catalog_size))
    )
    drawn_twice = _replacement(frame, found.get("replacement"), replacement, where)
    if drawn_twice is None:
        _check_notable(sizes, catalogs)
    others = np.zeros(len(frame), np.int64)
    if "others" in found:
        others = _whole(frame, found["others"], where)
    narrow = [x.astype(np.int32) for x in (ranks, sizes, catalogs, others)]
    sample = Sample(narrow[0], narrow[1], narrow[2], narrow[3], replacement=bool(drawn_twice))
    if "listed" in found:
        sample = _with_lists(sample, _whole(frame, found["listed"], where))
    return _assembled(frame, found, sample, _gains(frame, grade, where), where, drawn_twice)


def _with_lists(sample: Sample, listed: NDArray[np.int64]) -> Sample:
    """A sample from what lists left, with the deepest cut-off that all targets are known up to."""
    ahead = listed + sample.others
    stopped = (sample.ranks > 0) & (sample.sizes == 1) & (sample.catalog_sizes > 1) & (ahead > 0)
    k_max = int(ahead[stopped].min(initial=_LARGEST))
    return replace(sample, listed=listed.astype(np.int32), k_max=k_max)


def ranks_frame(ranked: TargetRanks) -> pl.DataFrame:
    """Sampled ranks as a table that ``read_ranks`` and ``fullrank estimate`` take.

    Returns:
        One row a target: ``user_id, query_id, item_id, rank, sample_size, catalog_size,
        replacement, scheme, others, gain``, and ``listed`` after a proxy list; the rank is null
        for a target that isn't ranked.
    """
    import polars as pl

    from fullrank.estimators._cases import checked_sample

    sample, rows = checked_sample(ranked, lists=True), rows_of(ranked.indptr)
    listed = {} if sample.k_max is None else {"listed": sample.listed}
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


def _check_scheme(frame: pl.DataFrame, name: str | None, where: str) -> None:
    """Refuse draws that were not uniform, where the file says so."""
    other = [] if name is None else [x for x in frame[name].unique().to_list() if x != "uniform"]
    if other:
        raise EstimateError(
            f"{where}: {name} is {min(map(repr, other))}, and only ranks among uniformly drawn "
            "candidates tell of the rank in the catalogue; draw with Uniform(m=…), or drop these "
            "rows"
        )


def _check_settled(frame: pl.DataFrame, ranks: NDArray[np.int64], where: str) -> None:
    """Refuse ranks that are always the best, or always the worst, that ties allow."""
    if not {"best", "worst"} <= set(frame.columns):
        return
    best, worst = (
        frame[name].cast(float, strict=False).fill_null(0.0).to_numpy()
        for name in ("best", "worst")
    )
    tied = (ranks > 0) & (best < worst)
    for end, name in ((best, "best"), (worst, "worst")):
        if tied.sum() >= _TIED and (ranks == end)[tied].all():
            raise EstimateError(
                f"{where}: in all {tied.sum():,} rows with ties (best < worst) the rank is the "
                f"{name}; settle equal scores at random, the same way for all candidates of a query"
            )


def _whole(
    frame: pl.DataFrame, name: str, where: str, missing: int | None = None
) -> NDArray[np.int64]:
    """A column of whole numbers from 0 up; ``missing`` in the place of nulls."""
    import polars as pl

    column = frame[name]
    if column.dtype == pl.String:  # text of a file: what is no number shows itself below
        column = (
            column.replace("", None)
            .cast(pl.Float64, strict=False)
            .fill_null(-1.0)
            .set(column.is_null() | (column == ""), None)
        )
    if column.dtype == pl.Boolean or not (column.dtype.is_numeric() or column.dtype == pl.Null):
        raise DataError(f"{where}: {name} must hold whole numbers, got {column.dtype}")
    if column.null_count() and missing is None:
        row = int(column.is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    values = column.cast(pl.Float64).fill_null(0.0 if missing is None else float(missing))
    array = values.to_numpy()
    bad = ~((array == np.floor(array)) & (array >= 0) & (array <= _LARGEST))
    if missing is not None:
        bad |= (array == 0) & column.is_not_null().to_numpy()
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise EstimateError(
            f"{where}: {name} is {frame[name][row]!r} in row {row + 1}; "
            + (
                "ranks are whole numbers from 1 (1 is best; ties settled at random, not halved)"
                if missing is not None
                else f"expected a whole number up to {_LARGEST:,}"
            )
        )
    return array.astype(np.int64)


def _told(
    frame: pl.DataFrame, name: str | None, value: int | None, role: str, where: str
) -> NDArray[np.int64]:
    """A size from a column or for all rows.

    Raises:
        EstimateError: nobody told it, or both did.
    """
    option = "--" + role.replace("_", "-")
    if name is not None and value is not None:
        raise EstimateError(
            f"{where} has a column {name!r}, and {option} {value} was given too; leave one out"
        )
    if name is not None:
        return _whole(frame, name, where)
    if value is None:
        raise EstimateError(
            f"nothing says the {role.replace('_', ' ')} (the target included); give {option}, or "
            f"a column {role!r} where it varies"
        )
    if not isinstance(value, int | np.integer) or not 2 <= value <= _LARGEST:
        raise SpecError(
            f"{option} must be a whole number from 2 (the target and one candidate) to "
            f"{_LARGEST:,}, got {value!r}"
        )
    return np.full(len(frame), value, np.int64)


def _replacement(
    frame: pl.DataFrame, name: str | None, value: bool | None, where: str
) -> bool | None:
    """Whether items could be drawn twice; None if nobody told."""
    if name is None:
        return value
    if frame[name].null_count():
        row = int(frame[name].is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    distinct = [_TRUTH.get(str(x).strip().lower(), x) for x in frame[name].unique().to_list()]
    if len(distinct) > 1:
        raise EstimateError(
            f"{where}: {name} differs between rows; estimate the rows drawn with and without "
            "replacement apart"
        )
    if not distinct or distinct[0] not in (True, False, 0, 1):
        raise DataError(f"{where}: {name} must be true or false, got {distinct[:1]}")
    if value is not None and bool(distinct[0]) != value:
        option = "--replacement" if value else "--no-replacement"
        raise EstimateError(
            f"{where}: {name} is {bool(distinct[0])}, and {option} was given; leave the option out"
        )
    return bool(distinct[0])


def _check_notable(sizes: NDArray[np.int64], catalogs: NDArray[np.int64]) -> None:
    """Demand to know how large samples were drawn."""
    share = float((sizes / np.maximum(catalogs, 1)).max(initial=0.0))
    if share > _NOTABLE:
        raise EstimateError(
            f"samples hold up to {share:.0%} of the catalogue, where it matters whether an item "
            "could be drawn twice; say --replacement or --no-replacement, or give a column "
            "'replacement'"
        )


def _gains(frame: pl.DataFrame, grade: str | None, where: str) -> NDArray[np.float64]:
    if grade is None:
        return np.ones(len(frame))
    if grade not in frame.columns:
        raise DataError(f"{where} has no column {grade!r}{suggest(grade, frame.columns)}")
    gains = frame[grade].cast(float, strict=False).fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(gains) & (gains >= 0)))
    if len(bad):
        raise DataError(
            f"{where}: grades must be numbers >= 0, got {frame[grade][int(bad[0])]} in row "
            f"{bad[0] + 1} of {grade!r}"
        )
    return np.asarray(gains)


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
    users, user_vocab = _codes(frame, found.get("user_id"), "user", n, where)
    query_ids = np.zeros(n, np.int64)
    if "query_id" in found:
        query_ids = _codes(frame, found["query_id"], "query", n, where)[0].astype(np.int64)
    order = np.lexsort((sample.others, sample.ranks == 0, query_ids, users))
    users, query_ids, gains = users[order], query_ids[order], gains[order]
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
        n_candidates=np.maximum.reduceat(sample.sizes + sample.listed, starts)
        if n
        else np.zeros(0, np.int32),
        user_vocab=user_vocab,
        item_vocab=Vocabulary(np.arange(most, dtype=np.int64), "item"),
        others="excluded",
        design={"candidates": "file", "replacement": drawn_twice},
        counts={"unranked_targets": int(np.count_nonzero(sample.ranks == 0))},
        sample=replace(sample),
    )


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


def _codes(
    frame: pl.DataFrame, name: str | None, what: str, n: int, where: str
) -> tuple[NDArray[np.int64], Vocabulary]:
    """Codes of a column of ids; each row its own without one."""
    if name is None:
        return np.arange(n), Vocabulary(np.arange(n, dtype=np.int64), what)
    import polars as pl

    if frame[name].null_count():
        row = int(frame[name].is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    from fullrank.data._types import whole_numbers

    column = frame[name]
    whole = whole_numbers(column) if column.dtype == pl.String else None
    ids, codes = np.unique((column if whole is None else whole).to_numpy(), return_inverse=True)
    return codes.reshape(-1), Vocabulary(ids, what)
