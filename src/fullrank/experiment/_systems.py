"""Systems to compare: the models of a store, a saved evaluation, or lists with a truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._options import ReadOptions
from fullrank.data._tables import load_table
from fullrank.experiment._remarks import check_graded
from fullrank.experiment.evaluate import BOUND, evaluate, read_saved
from fullrank.experiment.leaderboard import SOURCES, Entry, entries
from fullrank.experiment.measure import Values
from fullrank.experiment.results import Results
from fullrank.experiment.store import key_of
from fullrank.metrics import Metric, parse
from fullrank.rank._tables import reading


@dataclass(frozen=True, eq=False)
class System:
    """One system on one data set.

    Attributes:
        name: its label.
        parts: by source of its metrics (ranks, predictions) the values of queries, or of rows.
        protocol: what must be equal for its numbers to be comparable.
        warnings: what looks wrong with its lists.
    """

    name: str
    parts: Mapping[str, Entry]
    protocol: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    def named(self, name: str) -> System:
        """The same under another label."""
        parts = {source: replace(entry, model=name) for source, entry in self.parts.items()}
        return replace(self, name=name, parts=parts)


def load_system(
    source: Any,
    name: str,
    prefix: str,
    truth: Any,
    metrics: tuple[Metric, ...],
    level: float,
    data: str | None,
    options: Mapping[str, Any],
) -> list[System]:
    """The systems of one source: every model of a store, one of a saved evaluation or of lists.

    Args:
        source: store, saved evaluation, or lists.
        name: its label.
        prefix: goes before the labels of a store's models.
        truth: held-out items for lists.
        metrics: to measure; those stored if none is named.
        level: confidence level.
        data: data set of a store with several.
        options: of ``evaluate``.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.exists():
            near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            raise SpecError(f"there is no store or file {path}{suggest(path.name, near)}")
        if path.is_dir():
            return _from_store(path, prefix, metrics, data)
        saved = read_saved(path) if path.is_file() else None
        if saved is not None:
            return [_from_saved(*saved, name, metrics)]
    if truth is None:
        if isinstance(source, str | Path):
            read = reading(source, options.get("read") or {})
            load_table(source, ReadOptions(**read))  # a damaged file is said to be one
        raise SpecError(
            f"{source if isinstance(source, str | Path) else name} holds lists; pass --truth FILE, "
            "or give stores or saved evaluations (evaluate --per-query x.parquet)"
        )
    if not metrics:
        raise SpecError(f"{name} holds lists, which need metrics; name one, such as -m ndcg@10")
    found = evaluate(source, truth, metrics, level=level, **options)
    users = found.ranked.user_ids
    keys = [(0, user, int(q)) for user, q in zip(users.tolist(), found.ranked.query_ids)]
    system = _system(name, users, keys, dict(found.values), found.protocol)
    return [replace(system, warnings=found.warnings)]


def _system(
    name: str,
    users: Any,
    keys: list[tuple[Any, ...]],
    values: dict[Metric, Values],
    protocol: Mapping[str, Any],
) -> System:
    """Lists as a system; who is cold is not known of them."""
    codes = Vocabulary.of(users, "user").encode(users)
    cold = np.zeros(len(users), dtype=bool)
    entry = Entry("lists", name, codes, keys, cold, {None: values}, (key_of(protocol),))
    return System(name, {"ranks": entry}, protocol)


def _from_store(
    path: Path, prefix: str, metrics: tuple[Metric, ...], data: str | None
) -> list[System]:
    results = Results.load(path)
    name = _data_of(results, path, data)
    models = [model for model in results.models if results.of(name, model)]
    models.sort(key=lambda model: model != results.spec.baseline_title)
    protocol = results.of(name, models[0])[0].about["protocol"]
    check_graded(metrics, protocol["data"]["grade"])
    parts: dict[str, dict[str, Entry]] = {model: {} for model in models}
    for source in SOURCES:
        for entry in entries(results, metrics or None, source=source):
            if entry.data == name:
                parts[entry.model][source] = entry
    return [System(model, parts[model], protocol).named(prefix + model) for model in models]


def _data_of(results: Results, path: Path, data: str | None) -> str:
    """The data set to compare on."""
    if data is None and len(results.data) == 1:
        return results.data[0]
    if data in results.data:
        return str(data)
    if data is None:
        raise SpecError(
            f"{path} holds {len(results.data)} data sets ({', '.join(results.data)}); name one "
            "with --data"
        )
    raise SpecError(f"{path} holds no data set {data!r}{suggest(data, results.data)}")


def _from_saved(
    about: Mapping[str, Any], table: Any, name: str, metrics: tuple[Metric, ...]
) -> System:
    stored = [
        column
        for column in table.columns
        if column not in ("user_id", "query_id") and BOUND not in column
    ]
    wanted = [str(metric) for metric in metrics] or stored
    values = {}
    for text in wanted:
        if text not in stored:
            raise SpecError(f"{name} holds no {text}{suggest(text, stored)}")
        metric = parse(text)
        values[metric] = Values(metric, *_with_bounds(table, text))
    users = table["user_id"].to_numpy()
    keys = [(0, *row) for row in table.select("user_id", "query_id").iter_rows()]
    return _system(name, users, keys, values, about["protocol"])


def _with_bounds(table: Any, text: str) -> list[NDArray[np.float64]]:
    """Per-query values of a saved metric, and those that ties allow; one array where none tie."""
    columns = [text, f"{text}{BOUND}best", f"{text}{BOUND}worst"]
    if columns[1] not in table.columns or columns[2] not in table.columns:
        columns = columns[:1]
    found = [table[column].fill_null(float("nan")).to_numpy() for column in columns]
    return found if len(found) == 3 else found * 3
