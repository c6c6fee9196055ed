"""The leaderboard and its tests, from the per-query values of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import count
from fullrank.core.errors import ProtocolError, SpecError, suggest
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment.measure import (
    Values,
    finite_bounds,
    measure,
    number,
    rank_values,
    rating_values,
)
from fullrank.experiment.results import CellResult, Results, by_seed
from fullrank.metrics import Metric
from fullrank.stats import adjust, compare_pairs
from fullrank.stats.compare import RESAMPLES

Users = Literal["all", "warm", "cold"]
SEGMENTS: tuple[Users, ...] = ("all", "warm", "cold")
SOURCES = ("ranks", "predictions")


@dataclass(frozen=True, eq=False)
class Entry:
    """One model on one data set: its values per seed over the same queries (all folds).

    Attributes:
        data: name of the data set.
        model: label.
        users: codes ``[q]`` that follow the outside ids.
        keys: fold, user id and number of each query, to match pairs by.
        cold: bool ``[q]``, the model may use no history of the user.
        seeds: by seed, per metric its values.
        protocol_ids: of the folds.
    """

    data: str
    model: str
    users: NDArray[np.int32]
    keys: list[tuple[Any, ...]]
    cold: NDArray[np.bool_]
    seeds: dict[int | None, dict[Metric, Values]]
    protocol_ids: tuple[str, ...]

    @cached_property
    def averaged(self) -> dict[Metric, Values]:
        """Values averaged over seeds, query by query."""
        parts = list(self.seeds.values())
        if len(parts) == 1:
            return parts[0]
        return {metric: _average([part[metric] for part in parts]) for metric in parts[0]}

    def mask(self, users: Users) -> NDArray[np.bool_]:
        """Queries of a segment."""
        if users == "all":
            return np.ones(len(self.users), dtype=bool)
        return self.cold if users == "cold" else ~self.cold

    @property
    def segments(self) -> tuple[Users, ...]:
        """Segments that hold queries; warm and cold only where both do."""
        both = bool(self.cold.any()) and not bool(self.cold.all())
        return SEGMENTS if both else ("all",)


def _average(parts: list[Values]) -> Values:
    mean = np.mean([v.per_query for v in parts], axis=0)
    if all(v.best is v.per_query for v in parts):
        return replace(parts[0], per_query=mean, best=mean, worst=mean)
    best = np.mean([v.best for v in parts], axis=0)
    worst = np.mean([v.worst for v in parts], axis=0)
    return replace(parts[0], per_query=mean, best=best, worst=worst)


def entries(
    results: Results, metrics: tuple[Metric, ...] | None = None, *, source: str = "ranks"
) -> list[Entry]:
    """Values of every model on every data set.

    Args:
        results: of a benchmark.
        metrics: others than those of the benchmark file, if wanted (every rank metric at every
            cut-off follows from the stored ranks).
        source: ``"ranks"`` or ``"predictions"``.
    """
    chosen = tuple(m for m in (metrics or results.metrics) if m.source == source)
    if not chosen:
        return []
    return list(results.once(("entries", chosen), lambda: _entries(results, chosen, source)))


def _entries(results: Results, chosen: tuple[Metric, ...], source: str) -> tuple[Entry, ...]:
    out: list[Entry] = []
    for data in results.data:
        first: Entry | None = None
        for model in results.models:
            cells = results.of(data, model)
            if cells and (source == "ranks" or cells[0].has_predictions):
                entry = _entry(data, model, cells, chosen, source)
                if first is not None and entry.keys == first.keys:
                    entry = replace(entry, keys=first.keys)  # one list, not one a model
                first = first or entry
                out.append(entry)
    return tuple(out)


def _entry(
    data: str, model: str, cells: tuple[CellResult, ...], metrics: Sequence[Metric], source: str
) -> Entry:
    seeds = {}
    for seed, folds in by_seed(cells).items():
        parts = [
            rank_values(cell.ranked, metrics)
            if source == "ranks"
            else rating_values(cell.predictions, metrics)
            for cell in folds
        ]
        seeds[seed] = {metric: _join([part[metric] for part in parts]) for metric in metrics}
    folds = next(iter(by_seed(cells).values()))
    tables = [cell.queries if source == "ranks" else cell.table("predictions") for cell in folds]
    ids = np.concatenate([table["user_id"].to_numpy() for table in tables])
    second = "query_id" if source == "ranks" else "item_id"
    keys = [
        (cell.about["fold"], *row)
        for cell, table in zip(folds, tables)
        for row in table.select("user_id", second).iter_rows()
    ]
    return Entry(
        data,
        model,
        Vocabulary.of(ids, "user").encode(ids),
        keys,
        np.concatenate([_cold(cell, table) for cell, table in zip(folds, tables)]),
        seeds,
        tuple(cell.about["protocol_id"] for cell in folds),
    )


def _cold(cell: CellResult, table: Any) -> NDArray[np.bool_]:
    cold = cell.queries.filter(cell.cold)["user_id"]
    return np.asarray(table["user_id"].is_in(cold.implode()).to_numpy())


def _join(parts: list[Values]) -> Values:
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        per_query=np.concatenate([part.per_query for part in parts]),
        best=np.concatenate([part.best for part in parts]),
        worst=np.concatenate([part.worst for part in parts]),
    )


def leaderboard(
    results: Results, metrics: tuple[Metric, ...] | None = None
) -> list[dict[str, Any]]:
    """Rows of data × model × seed × users × metric, in the order of the benchmark file.

    A row with ``seed`` None averages per-user values over seeds (or is the only one, for a model
    that draws nothing); ``seed_spread`` beside it is the standard deviation between the seeds'
    values, None for one seed.
    """

    def rows() -> list[dict[str, Any]]:
        found = [e for source in SOURCES for e in entries(results, metrics, source=source)]
        return [row for entry in found for row in entry_rows(entry, results.spec.level)]

    return [dict(row) for row in results.once(("leaderboard", metrics), rows)]


def entry_rows(entry: Entry, level: float, **options: Any) -> Iterator[dict[str, Any]]:
    """Leaderboard rows of one entry: users × metrics, averaged over seeds and by seed.

    Args:
        entry: of one model.
        level: confidence level.
        options: of ``measure`` (method, rng …).
    """
    many = len(entry.seeds) > 1
    for users in entry.segments:
        mask = entry.mask(users)
        who = entry.users[mask]
        for metric, values in entry.averaged.items():
            found = measure(values[mask], who, level=level, **options)
            single = [
                (seed, measure(part[metric][mask], who, level=level, **options))
                for seed, part in entry.seeds.items()
                if many
            ]
            spread = float(np.std([m.estimate.value for _, m in single], ddof=1)) if many else None
            for seed, measured in [(None, found), *single]:
                yield {
                    "data": entry.data,
                    "model": entry.model,
                    "seed": seed,
                    "users": users,
                    "metric": str(metric),
                    **measured.to_dict(),
                    "seeds": len(entry.seeds),
                    "seed_spread": number(spread) if seed is None and spread is not None else None,
                    "protocol_id": entry.protocol_ids[0] if entry.protocol_ids else None,
                }


@dataclass(frozen=True)
class Testing:
    """How differences are judged.

    Attributes:
        level: confidence level.
        test: of ``stats.compare_pairs``.
        correction: of ``stats.adjust``.
        method: how intervals are made.
        resamples: bootstrap resamples of a difference.
        seed: of the bootstrap and of sign flips.
    """

    level: float = 0.95
    test: Any = "auto"
    correction: Any = "holm"
    method: Any = "auto"
    resamples: int = RESAMPLES
    seed: int = 0


def paired_tests(
    results: Results,
    metrics: tuple[Metric, ...] | None = None,
    *,
    baseline: str | None = None,
    test: Any = "auto",
    correction: Any = "holm",
) -> list[dict[str, Any]]:
    """Every model against the baseline, per data set, users and metric, query by query.

    Rating metrics are tested against the first model that predicts ratings if the baseline
    predicts none; with one such model there is no test of them. P-values are adjusted over the
    family of all models × metrics of a data set and segment; each row names its baseline and its
    family.

    Raises:
        SpecError: there is no such baseline.
    """
    base = baseline or results.spec.baseline_title
    if base not in results.models:
        raise SpecError(f"there is no model {base!r} here{suggest(base, results.models)}")

    how = Testing(results.spec.level, test, correction)

    def rows() -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for data in results.data:
            groups = []
            for source in SOURCES:
                here = [e for e in entries(results, metrics, source=source) if e.data == data]
                against = base_entry(here, base)
                if against is not None:
                    groups.append([against, *(entry for entry in here if entry is not against)])
            for users in SEGMENTS:
                there = [group for group in groups if users in group[0].segments]
                out += compare_groups(there, users, how)
        return out

    return [dict(row) for row in results.once(("tests", metrics, base, test, correction), rows)]


def base_entry(here: Sequence[Entry], baseline: str) -> Entry | None:
    """The entry that others are tested against: the baseline's, else the first rating model's.

    Args:
        here: entries of one data set and one source of values.
        baseline: label of the baseline.
    """
    named = next((entry for entry in here if entry.model == baseline), None)
    if named is not None or not here or _source(here[0]) == "ranks":
        return named
    return here[0]


def only(entry: Entry, metrics: Sequence[Metric]) -> Entry:
    """An entry with some of its metrics."""
    seeds = {seed: {m: part[m] for m in metrics} for seed, part in entry.seeds.items()}
    return replace(entry, seeds=seeds)


def _source(entry: Entry) -> str:
    return next(iter(entry.averaged)).source


def compare_groups(
    groups: Sequence[Sequence[Entry]], users: Users, how: Testing
) -> list[dict[str, Any]]:
    """Paired tests of each group's entries against its first one, adjusted as one family.

    Raises:
        ProtocolError: the queries of a group are not the same.
    """
    rows = [row for base, *others in groups for row in _tests(others, base, users, how)]
    if not rows:
        return []
    names = [f"{row['model']}\x1f{row['metric']}" for row in rows]
    p_values = dict(zip(names, (row["p"] for row in rows)))
    family = adjust(p_values, how.correction, family=_family_label(rows))
    for name, row in zip(names, rows):
        row["p_adjusted"] = family.adjusted[name]
        row["family"] = str(family)
    return rows


def _family_label(rows: Sequence[dict[str, Any]]) -> str:
    """``2 models against A, all metrics, all users, d``; metrics with a baseline of their own."""
    first, n_models = rows[0], len({row["model"] for row in rows})
    own: dict[str, list[str]] = {}
    for row in rows:
        if row["baseline"] != first["baseline"]:
            own.setdefault(row["baseline"], []).append(row["metric"])
    parts = [f"{', '.join(dict.fromkeys(names))} against {base}" for base, names in own.items()]
    but = "".join(f" ({part})" for part in parts)
    models = f"{count(n_models, 'model')} against {first['baseline']}"
    return f"{models}, all metrics{but}, {first['users']} users, {first['data']}"


def _tests(
    others: Sequence[Entry], base: Entry, users: Users, how: Testing
) -> list[dict[str, Any]]:
    rows = []
    mask = base.mask(users)
    for entry in others:
        if entry.keys != base.keys:
            raise ProtocolError(
                f"{entry.model} and {base.model} were evaluated on different queries "
                f"({len(entry.keys):,} and {len(base.keys):,}); pairs need the same ones"
            )
        for metric, values in entry.averaged.items():
            rows.append(_test_row(entry, base, users, metric, values[mask], mask, how))
    return rows


def _test_row(
    entry: Entry,
    base: Entry,
    users: Users,
    metric: Metric,
    values: Values,
    mask: NDArray[np.bool_],
    how: Testing,
) -> dict[str, Any]:
    bounds = finite_bounds(metric)
    found = compare_pairs(
        values.per_query,
        base.averaged[metric].per_query[mask],
        base.users[mask],
        test=how.test,
        tests=(),
        level=how.level,
        method=how.method,
        resamples=how.resamples,
        rng=how.seed,
        bounds=None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0]),
    )
    difference = found.difference
    return {
        "data": entry.data,
        "users": users,
        "metric": str(metric),
        "model": entry.model,
        "baseline": base.model,
        "difference": number(difference.value),
        "low": number(difference.low),
        "high": number(difference.high),
        "level": how.level,
        "method": difference.method,
        "higher_is_better": metric.higher_is_better,
        "scale": "loss per row" if metric.source == "predictions" else "metric",
        "test": found.significance.test,
        "p": found.p_value,
        "note": found.significance.note,
        "effect_size": found.effect,
        "effect_size_name": "Cohen's d_z over users",
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "n_queries": difference.n_queries,
        "n_users": difference.n_users,
    }
