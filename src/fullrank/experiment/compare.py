"""Put systems side by side: stores, saved evaluations, or lists with a truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, ProtocolError, SpecError, suggest
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._options import ReadOptions
from fullrank.data._tables import load_table
from fullrank.experiment._remarks import check_graded
from fullrank.experiment.evaluate import BOUND, as_metrics, evaluate, read_saved
from fullrank.experiment.leaderboard import Entry, compare_entries, entries, entry_rows, only
from fullrank.experiment.measure import Values
from fullrank.experiment.results import Results
from fullrank.experiment.store import key_of
from fullrank.metrics import Metric, parse
from fullrank.rank._tables import reading


@dataclass(frozen=True, eq=False)
class System:
    """One system on one data set.

    Attributes:
        entry: per-query values.
        protocol: what must be equal for its numbers to be comparable.
        warnings: what looks wrong with its lists.
    """

    entry: Entry
    protocol: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems side by side; the first is the baseline.

    Attributes:
        leaderboard: rows as ``run`` gives them.
        tests: every other system against the baseline.
        differs: what differs between protocols that were forced together.
        warnings: what looks wrong with lists, and with whose.
    """

    leaderboard: list[dict[str, Any]]
    tests: list[dict[str, Any]]
    differs: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        systems = len({row["model"] for row in self.leaderboard})
        return brief(
            self,
            count(systems, "system"),
            count(len(self.leaderboard), "row"),
            count(len(self.tests), "test"),
            "protocols differ" if self.differs else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank compare``."""
        return {
            "leaderboard": self.leaderboard,
            "tests": self.tests,
            "protocol_differences": list(self.differs),
        }


def compare(
    systems: Sequence[Any],
    *,
    truth: Any = None,
    metrics: Sequence[str | Metric] = (),
    labels: Sequence[str] | None = None,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    level: float = 0.95,
    force: bool = False,
    **options: Any,
) -> Comparison:
    """Compare systems query by query.

    Args:
        systems: stores, saved evaluations (``evaluate --per-query x.parquet``), or recommendation
            lists (paths, frames, mappings; ``truth`` is needed then). The first, or the baseline
            of the first store, is what the others are compared with.
        truth: held-out items for lists.
        metrics: needed for lists; others than the stored ones for stores.
        labels: names of the systems; file names by default.
        baseline: label of another baseline.
        test: ``"auto"``, ``"t"``, ``"wilcoxon"`` or ``"sign_flip"``.
        correction: ``"holm"``, ``"bh"`` or ``"none"``.
        level: confidence level.
        force: compare different protocols on the queries that all share, and say what differs.
        options: of ``evaluate`` (train, grade, depth, columns, read …).

    Raises:
        ProtocolError: the protocols differ, and how.
    """
    chosen = as_metrics(metrics) if metrics else ()
    names = _labels(systems, labels)
    _refuse_unused(systems, {"truth": truth, **options})
    found: list[System] = []
    for source, name in zip(systems, names):
        prefix = f"{name}: " if len(systems) > 1 else ""
        found.extend(_load(source, name, prefix, truth, chosen, level, options))
    if len(found) < 2:
        raise SpecError("name at least two systems, or a store with two models")
    found = _unique(found)
    base = found[0] if baseline is None else _named(found, baseline)
    others = [system for system in found if system is not base]
    common = [m for m in base.entry.averaged if all(m in o.entry.averaged for o in others)]
    if not common:
        raise SpecError("the systems have no metric in common; name one with -m")
    differs = differences([base, *others])
    if differs and not force:
        raise ProtocolError(
            f"the systems were measured under different protocols: {'; '.join(differs)}; measure "
            "them alike, or pass --force to compare them on the queries they share"
        )
    aligned = [only(entry, common) for entry in _align([base, *others])]
    rows = [row for entry in aligned for row in entry_rows(entry, level)]
    tests: list[dict[str, Any]] = []
    for users in aligned[0].segments:
        tests += compare_entries(aligned[1:], aligned[0], users, level, test, correction)
    said = [f"{s.entry.model}: {text}" for s in (base, *others) for text in s.warnings]
    return Comparison(rows, tests, tuple(differs), tuple(said))


def _labels(systems: Sequence[Any], labels: Sequence[str] | None) -> list[str]:
    if labels is not None:
        if len(labels) != len(systems):
            raise SpecError(f"{len(labels)} labels for {len(systems)} systems; give one each")
        return list(labels)
    paths = [isinstance(source, str | Path) for source in systems]
    names = [
        Path(source).stem if path else f"system {j + 1}"
        for j, (source, path) in enumerate(zip(systems, paths))
    ]
    if len(set(names)) < len(names):
        return [str(s) if path else n for s, n, path in zip(systems, names, paths)]
    return names


def _refuse_unused(systems: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Options of lists beside stores and saved evaluations alone would change nothing."""
    given = [name for name, value in options.items() if not _is_absent(value)]
    if given and not any(map(_is_lists, systems)):
        raise SpecError(
            f"--{given[0].replace('_', '-')} is for lists, and these are stores or saved "
            "evaluations, which were measured already; leave it out"
        )


def _is_absent(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, dict) and not value)


def _is_lists(source: Any) -> bool:
    if not isinstance(source, str | Path):
        return True
    path = Path(source)
    return not path.is_dir() and (not path.exists() or read_saved(path) is None)


def _load(
    source: Any,
    name: str,
    prefix: str,
    truth: Any,
    metrics: tuple[Metric, ...],
    level: float,
    options: Mapping[str, Any],
) -> list[System]:
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.exists():
            near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            raise SpecError(f"there is no store or file {path}{suggest(path.name, near)}")
        if path.is_dir():
            return _from_store(path, prefix, metrics)
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
    return System(entry, protocol)


def _from_store(path: Path, prefix: str, metrics: tuple[Metric, ...]) -> list[System]:
    results = Results.load(path)
    if len(results.data) > 1:
        raise SpecError(
            f"{path} holds {len(results.data)} data sets ({', '.join(results.data)}); compare "
            "stores of one data set each, or read `fullrank report`"
        )
    protocol = results.of(results.data[0], results.models[0])[0].about["protocol"]
    check_graded(metrics, protocol["data"]["grade"])
    found = entries(results, metrics or None)
    found.sort(key=lambda entry: entry.model != results.spec.baseline_title)
    return [System(replace(entry, model=prefix + entry.model), protocol) for entry in found]


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


def _unique(found: list[System]) -> list[System]:
    """Tell systems of one label apart by number."""
    out: list[System] = []
    for system in found:
        label, n = system.entry.model, 2
        while any(other.entry.model == label for other in out):
            label, n = f"{system.entry.model} ({n})", n + 1
        out.append(replace(system, entry=replace(system.entry, model=label)))
    return out


def _named(found: Sequence[System], name: str) -> System:
    for system in found:
        if system.entry.model == name:
            return system
    known = [system.entry.model for system in found]
    raise SpecError(f"there is no system {name!r}{suggest(name, known)}")


def differences(systems: Sequence[System]) -> list[str]:
    """In words, which clauses of the protocols differ from the first system's."""
    first = _flat(systems[0].protocol)
    out: list[str] = []
    for system in systems[1:]:
        if key_of(system.protocol) == key_of(systems[0].protocol):
            continue
        other = _flat(system.protocol)
        for clause in sorted({*first, *other}):
            if first.get(clause) != other.get(clause):
                text = f"{clause}: {first.get(clause)!r} and {other.get(clause)!r}"
                if text not in out:
                    out.append(text)
    return out


def _flat(content: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in content.items():
        name = f"{path}.{key}" if path else key
        out |= _flat(value, name) if isinstance(value, Mapping) else {name: value}
    return out


def _align(systems: Sequence[System]) -> list[Entry]:
    """Keep the queries that all share, in the baseline's order."""
    given = [system.entry for system in systems]
    if all(entry.keys == given[0].keys for entry in given):
        return given
    shared = set.intersection(*(set(entry.keys) for entry in given))
    if not shared:
        raise DataError("the systems share no query; nothing can be paired")
    order = [key for key in given[0].keys if key in shared]
    out = []
    for entry in given:
        place = {key: j for j, key in enumerate(entry.keys)}
        rows = np.array([place[key] for key in order])
        seeds = {s: {m: v[rows] for m, v in part.items()} for s, part in entry.seeds.items()}
        cold, users = entry.cold[rows], entry.users[rows]
        out.append(replace(entry, keys=order, users=users, cold=cold, seeds=seeds))
    return out
