"""From cells of a grid to the terms of Psi: values of models with resampled users beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment.psi.grid import Done, Which
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.results import CellResult, read_cell
from fullrank.experiment.store import Store
from fullrank.metrics import Metric, parse_many, per_query_many
from fullrank.stats.bootstrap import poisson_table
from fullrank.stats.clusters import Clusters
from fullrank.stats.kendall import kendall_tau
from fullrank.subsample.psi import Missing, Place, Repeat, Scores, Term, Terms, make_term


@dataclass(frozen=True, eq=False)
class Column:
    """One model by one metric, higher is better.

    Attributes:
        values: of queries, or rows; NaN where undefined.
        users: hashes of their users' outside ids.
        cold: bool, the sample has no row of the user.
        value: mean of the values.
        drawn: means with resampled users ``[r]``.
    """

    values: NDArray[np.float64]
    users: NDArray[np.int64]
    cold: NDArray[np.bool_]
    value: float
    drawn: NDArray[np.float64]


Columns = Mapping[tuple[str, str], Column]
"""By label of the model and name of the metric."""


def make_terms(spec: PsiSpec, store: Store, grid: Sequence[Done]) -> Terms:
    """All terms of a finished grid, and those that are missing.

    Args:
        spec: the file.
        store: with the cells.
        grid: what was done.
    """
    places = tuple(
        Place(scenario.name, str(metric), keep)
        for scenario in spec.scenario
        for metric in parse_many(scenario.metrics)
        for keep in spec.keep
    )
    seeds = spec.seeds
    repeats = tuple(
        Repeat(s, d, t) for s in seeds.split for d in seeds.sampler for t in seeds.training
    )
    found = list(_all(spec, store, grid))
    return Terms(
        tuple(sampler.title for sampler in spec.sampler),
        places,
        repeats,
        tuple(one for one in found if isinstance(one, Term)),
        tuple(one for one in found if isinstance(one, Missing)),
        spec.level,
    )


def _all(spec: PsiSpec, store: Store, grid: Sequence[Done]) -> Iterator[Term | Missing]:
    by_which = {done.which: done for done in grid}
    metrics = {s.name: parse_many(s.metrics) for s in spec.scenario}
    kept: dict[Any, Columns] = {}
    for which, done in by_which.items():
        if not which.sampler:
            continue
        full = by_which[Which(which.scenario, which.split)]
        for training in spec.seeds.training:
            repeat = Repeat(which.split, which.draw, training)
            reason = _reason(full, done)
            if reason:
                for metric in metrics[which.scenario]:
                    place = Place(which.scenario, str(metric), which.keep)
                    yield Missing(which.sampler, place, repeat, reason)
                continue
            key = (full.which, training)
            if key not in kept:
                kept = {k: v for k, v in kept.items() if k[0] == full.which}
                kept[key] = _columns(spec, store, full, training, metrics[which.scenario])
            own = _columns(spec, store, done, training, metrics[which.scenario])
            yield from _terms(spec, which, repeat, kept[key], own)


def _reason(full: Done, done: Done) -> str:
    """Why a sample gives no terms; empty if it does."""
    if done.unusable:
        return done.unusable
    for where, one in (("the full data", full), ("the sample", done)):
        for model, failed in one.failures.items():
            return f"{model} failed on {where}: {failed}"
    return ""


def _terms(
    spec: PsiSpec, which: Which, repeat: Repeat, full: Columns, own: Columns
) -> Iterator[Term | Missing]:
    scenario = next(s for s in spec.scenario if s.name == which.scenario)
    models = tuple(model.title for model in scenario.model)
    for metric in map(str, parse_many(scenario.metrics)):
        sides = [[part[model, metric] for model in models] for part in (full, own)]
        yield make_term(
            which.sampler,
            Place(which.scenario, metric, which.keep),
            repeat,
            models,
            _scores(sides[0]),
            _scores(sides[1]),
            ties=spec.ties,
            level=spec.level,
            warm=_warm(*sides),
        )


def _scores(columns: Sequence[Column]) -> Scores:
    values = np.array([column.value for column in columns])
    return Scores(values, np.column_stack([column.drawn for column in columns]))


def _warm(full: Sequence[Column], own: Sequence[Column]) -> float | None:
    """Tau over the users that the sample leaves a row, on both sides; None if that is all."""
    cold = own[0].cold
    if not cold.any() or not np.array_equal(full[0].users, own[0].users):
        return None
    if cold.all():
        return float("nan")
    sides = [
        np.array([Clusters.of(c.values[~cold], c.users[~cold]).state.value for c in columns])
        for columns in (full, own)
    ]
    return float(kendall_tau(*sides))


def _columns(
    spec: PsiSpec, store: Store, done: Done, training: int, metrics: Sequence[Metric]
) -> Columns:
    """Values of all models of a fold by all metrics."""
    out: dict[tuple[str, str], Column] = {}
    seed = derive(0, "psi", spec.data.name)
    for (model, fitted), key in done.keys.items():
        if fitted != training:
            continue
        cell = read_cell(store, key, done.tuning[key])
        parts = [*_ranked(cell, metrics), *_rated(cell, metrics)]
        clusters = [Clusters.of(values, users) for _, values, users, _ in parts]
        drawn = _drawn(clusters, spec.resamples, seed)
        for j, (metric, values, users, cold) in enumerate(parts):
            sign = 1.0 if metric.higher_is_better else -1.0
            out[model, str(metric)] = Column(
                sign * values, users, cold, sign * clusters[j].state.value, sign * drawn[:, j]
            )
    return out


def _drawn(clusters: Sequence[Clusters], resamples: int, seed: int) -> NDArray[np.float64]:
    """Resampled means ``[r, m]``; NaN for a metric that no query has a value of."""
    out = np.full((resamples, len(clusters)), np.nan)
    filled = [j for j, column in enumerate(clusters) if len(column.users)]
    if filled:
        out[:, filled] = poisson_table([clusters[j] for j in filled], resamples, seed)
    return out


Part = tuple[Metric, NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]


def _ranked(cell: CellResult, metrics: Sequence[Metric]) -> Iterator[Part]:
    chosen = [metric for metric in metrics if metric.source == "ranks"]
    if not chosen:
        return
    ranked = cell.ranked
    users = ranked.user_vocab.hashes[ranked.users].view(np.int64)
    for metric, values in per_query_many(ranked, chosen).items():
        yield metric, values, users, cell.cold


def _rated(cell: CellResult, metrics: Sequence[Metric]) -> Iterator[Part]:
    """Losses of rows: a root over their mean, as RMSE has it, changes no order."""
    chosen = [metric for metric in metrics if metric.source == "predictions"]
    if not chosen:
        return
    found = cell.predictions
    users = found.user_vocab.hashes[found.users].view(np.int64)
    ids = cell.queries["user_id"].to_numpy()
    vocab = Vocabulary.of(ids, "user")
    cold = vocab.hashes[vocab.encode(ids)].view(np.int64)[cell.cold]
    for metric in chosen:
        yield metric, metric.per_query(found), users, np.isin(users, cold)
