"""Put systems side by side: stores, saved evaluations, or lists with a truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, ProtocolError, SpecError, suggest
from fullrank.experiment._systems import System, load_system
from fullrank.experiment.evaluate import named_metrics, read_saved
from fullrank.experiment.leaderboard import (
    SEGMENTS,
    SOURCES,
    Entry,
    Testing,
    Users,
    compare_groups,
    entry_rows,
    only,
)
from fullrank.experiment.store import key_of
from fullrank.metrics import Metric
from fullrank.stats.compare import RESAMPLES


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems side by side; the first is the baseline.

    Attributes:
        leaderboard: rows as ``run`` gives them.
        tests: every other system against the baseline.
        differs: what differs between protocols that were forced together.
        warnings: what looks wrong with lists, and with whose; what was left out, and why.
        forced: systems under another protocol than the baseline's.
    """

    leaderboard: list[dict[str, Any]]
    tests: list[dict[str, Any]]
    differs: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def __repr__(self) -> str:
        systems = len({row["model"] for row in self.leaderboard})
        return brief(
            self,
            count(systems, "system"),
            count(len(self.leaderboard), "row"),
            count(len(self.tests), "test"),
            "protocols differ" if self.differs else None,
        )

    @property
    def n_shared(self) -> int:
        """Queries (rows, for rating metrics) that all systems share."""
        return max(int(row["n_queries"] + row["undefined"]) for row in self.leaderboard)

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank compare``."""
        return {
            "leaderboard": self.leaderboard,
            "tests": self.tests,
            "protocol_differences": list(self.differs),
            "other_protocol": list(self.forced),
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
    method: str = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
    users: Sequence[str] | None = None,
    data: str | None = None,
    force: bool = False,
    **options: Any,
) -> Comparison:
    """Compare systems query by query.

    Args:
        systems: stores, saved evaluations (``evaluate --per-query x.parquet``), or recommendation
            lists (paths, frames, mappings; ``truth`` is needed then). The first, or the baseline
            of the first store, is what the others are compared with.
        truth: held-out items for lists.
        metrics: needed for lists; others than the stored ones for stores. Rating metrics are
            compared among the models of stores that predict ratings, row by row.
        labels: names of the systems; file names by default.
        baseline: label of another baseline.
        test: ``"auto"``, ``"t"``, ``"wilcoxon"`` or ``"sign_flip"``.
        correction: ``"holm"``, ``"bh"`` or ``"none"``.
        level: confidence level.
        method: how intervals are made, see ``stats.mean_interval``.
        resamples: bootstrap resamples of a difference (values have 1,000).
        seed: of the bootstrap and of sign flips.
        users: segments beside all users, ``"warm"`` and ``"cold"``; by default those there are.
        data: data set of stores that hold several.
        force: compare different protocols on the queries that all share, and say what differs.
        options: of ``evaluate`` (train, grade, depth, columns, read …).

    Raises:
        ProtocolError: the protocols differ, and how.
    """
    chosen = named_metrics(metrics)
    names = _labels(systems, labels)
    _refuse_unused(systems, {"truth": truth, **options}, data)
    found: list[System] = []
    for source, name in zip(systems, names):
        prefix = f"{name}: " if len(systems) > 1 else ""
        found.extend(load_system(source, name, prefix, truth, chosen, level, data, options))
    if len(found) < 2:
        raise SpecError("name at least two systems, or a store with two models")
    found = _unique(found)
    base = found[0] if baseline is None else _named(found, baseline)
    ordered = [base, *(system for system in found if system is not base)]
    differs = differences(ordered)
    if differs and not force:
        raise ProtocolError(
            f"the systems were measured under different protocols: {'; '.join(differs)}; measure "
            "them alike, or pass --force to compare them on the queries they share"
        )
    groups, left_out = _groups(ordered, chosen)
    how = Testing(level, test, correction, method, resamples, seed)
    shown = _segments(groups, users)
    rows = [row for group in groups for entry in group for row in _rows(entry, shown, how)]
    tests = []
    for one in shown:
        tests += compare_groups([g for g in groups if one in g[0].segments], one, how)
    said = [f"{s.name}: {text}" for s in ordered for text in s.warnings]
    other = [s.name for s in ordered if key_of(s.protocol) != key_of(base.protocol)]
    return Comparison(rows, tests, tuple(differs), (*said, *left_out), tuple(other))


def _groups(
    systems: Sequence[System], chosen: Sequence[Metric]
) -> tuple[list[list[Entry]], list[str]]:
    """Entries to compare by source of their metrics, and in words what is left out.

    Every system has ranks; ratings are compared among those that predict them, as ``run`` does.
    """
    groups, left_out = [], []
    for source in SOURCES:
        parts = [system.parts[source] for system in systems if source in system.parts]
        asked = [m for part in parts for m in part.averaged]
        asked += [metric for metric in chosen if metric.source == source]
        enough = parts and (source == "predictions" or len(parts) == len(systems))
        common = [
            metric
            for metric in dict.fromkeys(asked)
            if enough and all(metric in part.averaged for part in parts)
        ]
        if common:
            groups.append([only(entry, common) for entry in _align(parts)])
        left_out += _left_out([str(m) for m in dict.fromkeys(asked) if m not in common], parts)
        if common and len(parts) < len(systems):
            lacking = ", ".join(s.name for s in systems if source not in s.parts)
            names = ", ".join(map(str, common))
            left_out.append(f"{names}: left out for {lacking}, as no ratings are predicted there")
    if not groups:
        why = f" ({'; '.join(left_out)})" if left_out else ""
        raise SpecError(f"the systems have no metric in common{why}; name one with -m")
    return groups, left_out


def _left_out(names: Sequence[str], parts: Sequence[Entry]) -> list[str]:
    if not names:
        return []
    why = "not every system has it" if parts else "no system here predicts ratings"
    return [f"{', '.join(names)}: left out, as {why}"]


def _segments(groups: Sequence[Sequence[Entry]], users: Sequence[str] | None) -> list[Users]:
    """All users, and the segments asked for."""
    there = {one for group in groups for one in group[0].segments}
    for one in users or ():
        if one not in SEGMENTS:
            raise SpecError(f"unknown segment of users {one!r}{suggest(one, SEGMENTS)}")
        if one not in there:
            raise SpecError(
                f"no {one} users are told apart here: only stores know who is cold, and only of "
                "splits that leave some users without a history"
            )
    return [one for one in SEGMENTS if one in there and (users is None or one in ("all", *users))]


def _rows(entry: Entry, users: Sequence[Users], how: Testing) -> list[dict[str, Any]]:
    rows = entry_rows(entry, how.level, method=how.method, rng=how.seed)
    return [row for row in rows if row["users"] in users]


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


def _refuse_unused(systems: Sequence[Any], options: Mapping[str, Any], data: str | None) -> None:
    """Options of lists beside stores and saved evaluations alone would change nothing."""
    if data is not None and not any(_is_store(source) for source in systems):
        raise SpecError("--data names a data set of a store, and there is no store here")
    given = [name for name, value in options.items() if not _is_absent(value)]
    if given and not any(map(_is_lists, systems)):
        raise SpecError(
            f"--{given[0].replace('_', '-')} is for lists, and these are stores or saved "
            "evaluations, which were measured already; leave it out"
        )


def _is_absent(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, dict) and not value)


def _is_store(source: Any) -> bool:
    return isinstance(source, str | Path) and Path(source).is_dir()


def _is_lists(source: Any) -> bool:
    if not isinstance(source, str | Path):
        return True
    path = Path(source)
    return not path.is_dir() and (not path.exists() or read_saved(path) is None)


def _unique(found: list[System]) -> list[System]:
    """Tell systems of one label apart by number."""
    out: list[System] = []
    for system in found:
        label, n = system.name, 2
        while any(other.name == label for other in out):
            label, n = f"{system.name} ({n})", n + 1
        out.append(system.named(label))
    return out


def _named(found: Sequence[System], name: str) -> System:
    for system in found:
        if system.name == name:
            return system
    known = [system.name for system in found]
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


def _align(given: Sequence[Entry]) -> list[Entry]:
    """Keep the queries (rows) that all share, in the baseline's order."""
    if all(entry.keys == given[0].keys for entry in given):
        return list(given)
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
