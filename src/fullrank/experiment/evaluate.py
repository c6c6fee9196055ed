"""Score recommendation lists: metrics with intervals, policies counted, slices by segment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief
from fullrank.core.errors import DataError, SpecError, suggest, told
from fullrank.core.paths import check_file_place
from fullrank.core.ragged import rows_of
from fullrank.core.random import hash_elements
from fullrank.core.ranked import TargetRanks
from fullrank.core.text import quoted
from fullrank.data import write_table
from fullrank.experiment._remarks import check_evaluable, check_graded, warnings_for
from fullrank.experiment.bench import CONVENTIONS
from fullrank.experiment.cell import ids_series
from fullrank.experiment.measure import Measurement, Values, measure_all, rank_values, table_text
from fullrank.experiment.provenance import provenance
from fullrank.experiment.store import key_of
from fullrank.metrics import Metric, parse_many
from fullrank.rank import ranks_from_lists
from fullrank.rank._tables import reading
from fullrank.stats.interval import Method, check_options

if TYPE_CHECKING:
    import polars as pl

MOST_SEGMENTS = 50
"""More distinct values than this in a segment column are an id, not a segment."""

NO_SEGMENT = "(none)"

BOUND = "|"
"""Between a metric and ``best`` or ``worst`` in a saved evaluation; no metric's name holds it."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What lists are worth.

    Attributes:
        ranked: ranks of the targets in the lists.
        values: per-query values by metric.
        level: confidence level.
        design: what must be equal for two evaluations to be comparable, beside the targets.
        segments: label of each query, or None.
        warnings: what a reader must know.
        interval: options of ``stats.mean_interval`` (method, resamples, rng).
    """

    ranked: TargetRanks
    values: Mapping[Metric, Values]
    level: float
    design: Mapping[str, Any]
    segments: NDArray[Any] | None
    warnings: tuple[str, ...]
    interval: Mapping[str, Any]

    def __repr__(self) -> str:
        return brief(self, ", ".join(map(str, self.values)), repr(self.ranked))

    def __str__(self) -> str:
        return table_text(self.measurements)

    @cached_property
    def measurements(self) -> list[Measurement]:
        """One measurement a metric, over all queries."""
        return self._measure(list(self.values.values()), self.ranked.users)

    def _measure(self, many: list[Values], users: NDArray[np.int32]) -> list[Measurement]:
        return measure_all(many, users, level=self.level, **self.interval)

    @cached_property
    def by_segment(self) -> dict[str, list[Measurement]]:
        """Measurements of each segment, largest first."""
        if self.segments is None:
            return {}
        names, counts = np.unique(self.segments.astype(str), return_counts=True)
        order = [names[i] for i in np.lexsort((names, -counts))]
        out = {}
        for name in order:
            mask = self.segments.astype(str) == name
            users = self.ranked.users[mask]
            out[str(name)] = self._measure([v[mask] for v in self.values.values()], users)
        return out

    @cached_property
    def protocol(self) -> Mapping[str, Any]:
        """What must be equal for two evaluations to be comparable; hashes the ids when asked."""
        return {"targets": targets_fingerprint(self.ranked), **self.design}

    @property
    def protocol_id(self) -> str:
        """Hash of the protocol."""
        return key_of(self.protocol)

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank evaluate``."""
        out: dict[str, Any] = {
            "metrics": {str(m.metric): m.to_dict() for m in self.measurements},
            "policies": dict(self.ranked.counts),
            "protocol": self.protocol_id,
            "protocol_content": dict(self.protocol),
            "warnings": list(self.warnings),
            "provenance": provenance(),
        }
        if self.segments is not None:
            out["segments"] = {
                name: {str(m.metric): m.to_dict() for m in found}
                for name, found in self.by_segment.items()
            }
        return out

    def to_frame(self) -> pl.DataFrame:
        """Polars frame of ``to_dict()["metrics"]``: one row a metric (of a segment, if given)."""
        import polars as pl

        parts = {"all": self.measurements, **self.by_segment}
        rows = [
            {"segment": name, "metric": str(m.metric), **m.to_dict()}
            for name, part in parts.items()
            for m in part
        ]
        frame = pl.DataFrame(rows).drop("assumptions")
        return frame if self.by_segment else frame.drop("segment")

    def save(self, path: str | Path) -> None:
        """Write per-query values; a Parquet file can be given to ``fullrank compare`` later.

        One column a metric. Where scores tie, Parquet has two more, such as ``NDCG@10|best`` and
        ``NDCG@10|worst``: the values if every tie had fallen in the lists' favour, or none.
        Other suffixes (.csv, .jsonl …) hold the first columns alone, without the protocol.
        """
        path = Path(path)
        saved = path.suffix.lower() == ".parquet"
        table = self._table(bounds=saved)
        if not saved:
            write_table(table, path)
            return
        check_file_place(path)
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        about = {"protocol": self.protocol, "level": self.level, "format": 1}
        try:
            table.write_parquet(aside, metadata={"fullrank": json.dumps(about)})
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def _table(self, *, bounds: bool) -> pl.DataFrame:
        """One row a query, null where undefined."""
        import polars as pl

        columns: dict[str, Any] = {
            "user_id": ids_series(self.ranked.user_vocab, self.ranked.users),
            "query_id": self.ranked.query_ids,
        }
        for metric, values in self.values.items():
            columns[str(metric)] = values.per_query
            if bounds and values.best is not values.per_query:
                ends = {"best": values.best, "worst": values.worst}
                columns |= {f"{metric}{BOUND}{end}": ends[end] for end in ends}
        return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def evaluate(
    recs: Any,
    truth: Any,
    metrics: Sequence[str | Metric],
    *,
    train: Any = None,
    keep_seen: bool = False,
    grade: str | None = None,
    depth: int | None = None,
    columns: Mapping[str, str] | None = None,
    read: Mapping[str, Any] | None = None,
    by: tuple[Any, str] | None = None,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Evaluate recommendation lists against held-out items.

    Args:
        recs: path, frame, mapping of columns (arrays will do), or mapping of user to items, best
            first; see ``ranks_from_lists``. Ranks decide where there are scores beside them.
        truth: path, frame or mapping, likewise.
        metrics: such as ``["ndcg@10", "recall@5,10"]``.
        train: removed from lists and truth, unless ``keep_seen``.
        keep_seen: evaluate repeat consumption.
        grade: column of the truth with gains; TREC qrels are graded without.
        depth: declared depth of the lists.
        columns: names in the files by role.
        read: reading options of all files of text, such as ``{"encoding": "latin-1"}``.
        by: (table with ``user_id``, column): slice by that column.
        level: confidence level.
        method: interval method of ``stats.mean_interval``.
        resamples: bootstrap resamples.
        seed: of the bootstrap.

    Raises:
        SpecError: a metric, option or column that can't be understood; k above the depth.
        DataError: tables that can't be used.

    Example:
        >>> found = evaluate({"u": ["a", "b"], "v": ["c"]}, {"u": ["b"], "v": ["c"]}, ["mrr@2"])
        >>> found.measurements[0].estimate.value
        0.75
    """
    chosen = as_metrics(metrics)
    check_options(level, method, resamples)
    ranked = ranks_from_lists(
        recs,
        truth,
        train=train,
        keep_seen=keep_seen,
        grade=grade,
        depth=depth,
        columns=columns,
        read=read,
    )
    check_graded(chosen, ranked.design["grade"])
    check_evaluable(ranked, recs, train)
    design = {
        "seen": "kept" if keep_seen or train is None else "removed",
        "train": ranked.design["removed"],
        "grade": ranked.design["grade"],
        "depth": depth,
        "candidates": "lists",
        "ties": "expectation over the orders that equal scores leave open",
        "metric_conventions": CONVENTIONS,
    }
    return Evaluation(
        ranked=ranked,
        values=rank_values(ranked, chosen),
        level=level,
        design=design,
        segments=None if by is None else _segments(ranked, *by, columns or {}, read or {}),
        warnings=tuple(warnings_for(ranked, chosen)),
        interval={"method": method, "resamples": resamples, "rng": seed},
    )


def as_metrics(metrics: Sequence[str | Metric]) -> tuple[Metric, ...]:
    """Parse metric names, each once; refuse metrics that lists can't give."""
    parsed = named_metrics(metrics)
    for metric in parsed:
        if metric.source != "ranks":
            raise SpecError(
                f"{metric} needs predicted values and lists have none; it is measured by a "
                "benchmark whose models predict ratings"
            )
    if not parsed:
        raise SpecError("name at least one metric, such as -m ndcg@10")
    return parsed


def named_metrics(metrics: Sequence[str | Metric]) -> tuple[Metric, ...]:
    """Parse metric names, each once."""
    parsed: list[Metric] = []
    for one in metrics:
        parsed.extend(parse_many(one) if isinstance(one, str) else [one])
    for metric in parsed:
        metric.check()
    return tuple(dict.fromkeys(parsed))


def targets_fingerprint(ranked: TargetRanks) -> str:
    """Hash of who is evaluated on what: users, targets, gains by outside id."""
    rows = rows_of(ranked.indptr)
    users = ranked.user_vocab.hashes[ranked.users[rows]]
    items = ranked.item_vocab.hashes[ranked.items]
    gains = (ranked.gains + 0.0).view(np.uint64)
    who = hash_elements(2, ranked.user_vocab.hashes[ranked.users], ranked.query_ids)
    with np.errstate(over="ignore"):
        targets = hash_elements(1, users, ranked.query_ids[rows], items, gains).sum(dtype=np.uint64)
        total = [int(targets), int(who.sum(dtype=np.uint64))]
    return key_of({"n": [len(ranked), len(ranked.best)], "sums": [str(x) for x in total]})


def _segments(
    ranked: TargetRanks,
    table: Any,
    column: str,
    columns: Mapping[str, str],
    read: Mapping[str, Any],
) -> NDArray[Any]:
    """Segments, with their file in messages."""
    with told(f"{table}: " if isinstance(table, str | Path) else ""):
        return segments_of(ranked, _users_table(table, columns, read), column)


def segments_of(ranked: TargetRanks, frame: pl.DataFrame, column: str) -> NDArray[Any]:
    """Label of each query from a table of users with ``user_id``.

    Raises:
        SpecError: no such column, or one with too many values to be a segment.
        DataError: a user with two labels.
    """
    import polars as pl

    if column not in frame.columns or column == "user_id":
        others = [name for name in frame.columns if name != "user_id"]
        raise SpecError(f"the segments have no column {column!r}{suggest(column, others)}")
    frame = frame.select("user_id", pl.col(column).cast(pl.String).fill_null(NO_SEGMENT)).unique()
    twice = frame["user_id"].filter(frame["user_id"].is_duplicated())
    if len(twice):
        raise DataError(
            f"user {quoted(twice[0])} has more than one value of {column!r}; give each user one"
        )
    distinct = frame[column].n_unique()
    if distinct > MOST_SEGMENTS:
        raise SpecError(
            f"{column!r} has {distinct:,} values, more than {MOST_SEGMENTS}; bin it first"
        )
    ids = frame["user_id"].to_numpy()
    codes = ranked.user_vocab.encode(ids)
    if len(codes) and not (codes >= 0).any():
        raise DataError(
            f"no user of the segments (such as {quoted(frame['user_id'][0])}) is in the truth "
            f"(such as {ranked.user_vocab.label(0)}); check that both use the same ids"
        )
    labels = np.full(len(ranked.user_vocab), NO_SEGMENT, dtype=object)
    labels[codes[codes >= 0]] = frame[column].to_numpy()[codes >= 0]
    return np.asarray(labels[ranked.users])


def _users_table(table: Any, columns: Mapping[str, str], read: Mapping[str, Any]) -> pl.DataFrame:
    """A table of users with a column ``user_id``; it needs no items."""
    import polars as pl

    from fullrank.data._options import ReadOptions
    from fullrank.data._tables import load_table
    from fullrank.data._types import whole_numbers

    name = columns.get("user_id", "user_id")
    loaded = load_table(table, ReadOptions({"user_id": name}, **reading(table, read)))
    frame: pl.DataFrame = loaded.frame
    if name not in frame.columns:
        raise DataError(
            f"the segments have the columns {', '.join(frame.columns)}; expected 'user_id' (or "
            "--columns user_id=NAME)"
        )
    frame = frame.rename({name: "user_id"}).drop_nulls("user_id")
    if loaded.typed or frame["user_id"].dtype != pl.String:
        return frame
    whole = whole_numbers(frame["user_id"])  # as the ids of lists and truth were read
    return frame if whole is None else frame.with_columns(user_id=whole)


def read_saved(path: str | Path) -> tuple[dict[str, Any], Any] | None:
    """What ``Evaluation.save`` wrote: (about, table); None if the file is something else."""
    import polars as pl

    try:
        about = pl.read_parquet_metadata(path).get("fullrank")
    except (OSError, pl.exceptions.PolarsError):
        return None
    if about is None:
        return None
    try:
        return json.loads(about), pl.read_parquet(path)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"{path} is a saved evaluation that is damaged; evaluate again with --per-query"
        ) from error
