"""What is analysed: conditions from one store or several, with the values of every user."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import SpecError
from fullrank.core.random import derive
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment.analyse._blocks import Group, merged, names_of, read_blocks
from fullrank.experiment.analyse._factors import fixed_settings
from fullrank.experiment.evaluate import targets_fingerprint
from fullrank.experiment.leaderboard import Entry, entries
from fullrank.experiment.results import CellResult, Results, by_seed
from fullrank.metrics import Metric
from fullrank.stats.bootstrap import poisson_table
from fullrank.stats.clusters import Clusters


class LackingError(SpecError):
    """A study lacks the models, metrics or searches that an analysis is of."""


@dataclass(frozen=True, eq=False)
class Unit:
    """One model under one condition.

    Attributes:
        condition: name of the condition.
        model: label.
        factors: class and settings of the model, those that a search chose as ``"tuned"``.
        cells: folds × seeds.
        keys: fold, user id and number of each query.
        columns: by metric the values of the queries gathered by user; users as hashes of their
            outside ids, the same in every store.
    """

    condition: str
    model: str
    factors: Mapping[str, str]
    cells: tuple[CellResult, ...]
    keys: list[tuple[Any, ...]]
    columns: Mapping[Metric, Clusters]

    def value(self, metric: Metric) -> float:
        """Mean over queries, averaged over seeds; NaN where no query has a value."""
        return float(self.columns[metric].state.value)

    @property
    def folds(self) -> tuple[CellResult, ...]:
        """Cells of the first seed, one a fold."""
        return next(iter(by_seed(self.cells).values()))

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Hash of users, held-out items and their gains, of each fold."""
        return tuple(targets_fingerprint(cell.ranked) for cell in self.folds)

    @property
    def users(self) -> NDArray[np.int64]:
        """Hashes of the users with a query."""
        return next(iter(self.columns.values())).users


@dataclass(frozen=True, eq=False)
class Condition:
    """One protocol on one data set, with the models that were run under it.

    Attributes:
        name: what tells it from the others, in words.
        factors: by name its level.
        units: one a model.
        settings: those that all its models share and that tell it from others.
    """

    name: str
    factors: Mapping[str, str]
    units: tuple[Unit, ...]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """Labels."""
        return tuple(unit.model for unit in self.units)

    @property
    def split(self) -> str:
        """The split in words."""
        return self.factors["split"]

    def unit(self, model: str) -> Unit:
        """The unit of a label."""
        return next(unit for unit in self.units if unit.model == model)


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that the analyses look at.

    Attributes:
        conditions: in the order of the stores and their benchmark files.
        metrics: rank metrics, of the benchmark files or those asked for.
        others: rating metrics, which only validation values are looked at of.
        level: confidence level.
        resamples: of users.
        seed: of the resamples.
    """

    conditions: tuple[Condition, ...]
    metrics: tuple[Metric, ...]
    others: tuple[Metric, ...]
    level: float
    resamples: int
    seed: int

    def __repr__(self) -> str:
        return brief(
            self, count(len(self.conditions), "condition"), count(len(self.metrics), "metric")
        )

    @property
    def units(self) -> tuple[Unit, ...]:
        """Units of all conditions."""
        return tuple(unit for condition in self.conditions for unit in condition.units)

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of all models."""
        return tuple(dict.fromkeys(unit.model for unit in self.units))

    @cached_property
    def drawn(self) -> Mapping[tuple[str, str, Metric], NDArray[np.float64]]:
        """Resampled means float64 ``[r]`` by condition, model and metric.

        Users are drawn, each Poisson(1) times by a hash of its outside id: in resample ``r`` a
        user counts alike under every model and condition of a data set; data sets are drawn apart.
        """
        out: dict[tuple[str, str, Metric], NDArray[np.float64]] = {}
        for condition in self.conditions:
            keys, columns = [], []
            for unit in condition.units:
                for metric, column in unit.columns.items():
                    key = (condition.name, unit.model, metric)
                    out[key] = np.full(self.resamples, np.nan)
                    if len(column.users):
                        keys.append(key)
                        columns.append(column)
            seed = derive(self.seed, "analyse", condition.factors["data"])
            table = poisson_table(columns, self.resamples, seed) if columns else None
            out |= {key: table[:, j] for j, key in enumerate(keys) if table is not None}
        return out

    def values(
        self, condition: Condition, models: Sequence[str], metric: Metric
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values ``[n]`` of models, higher is better, and resampled ones ``[r, n]``."""
        sign = 1.0 if metric.higher_is_better else -1.0
        found = [condition.unit(model).value(metric) for model in models]
        drawn = [self.drawn[condition.name, model, metric] for model in models]
        return sign * np.array(found), sign * np.column_stack(drawn)

    def ends(self, drawn: NDArray[np.float64]) -> tuple[float | None, float | None]:
        """Percentile interval of resampled values; None where fewer than half are defined."""
        kept = drawn[~np.isnan(drawn)]
        if len(kept) < max(len(drawn) / 2, 2):
            return None, None
        tail = (1 - self.level) / 2
        low, high = np.quantile(kept, [tail, 1 - tail])
        return float(low), float(high)


def load_study(
    stores: Sequence[str | Path | Results],
    metrics: Sequence[str | Metric] = (),
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Study:
    """Read stores and tell their conditions apart.

    Two data sets of two stores are one condition if all factors of their protocols are equal and
    no label stands for two results; otherwise settings that differ between them tell them apart,
    or the name of the store.

    Args:
        stores: folders that ``fullrank run`` wrote, or results at hand.
        metrics: to analyse; those of the benchmark files by default.
        level: confidence level.
        resamples: of users.
        seed: of the resamples.

    Raises:
        SpecError: no store, one given twice, or an option out of range.
        StoreError: no finished benchmark there.
    """
    # Loaded here, as Polars comes with them and who imports a report may not need it.
    from fullrank.experiment._remarks import check_graded
    from fullrank.experiment.evaluate import named_metrics

    _check_options(stores, level, resamples)
    blocks = read_blocks(stores)
    asked = named_metrics(metrics)
    wanted = asked or dict.fromkeys(m for block in blocks for m in block.results.metrics)
    ranking = tuple(metric for metric in wanted if metric.source == "ranks")
    others = tuple(metric for metric in wanted if metric.source != "ranks")
    if not ranking:
        raise SpecError("only rating metrics were measured; name a rank metric, such as -m ndcg@10")
    groups = merged(blocks)
    by_label = _ambiguous(groups)
    for block in blocks:
        check_graded(ranking, block.grade)
    conditions = tuple(
        _condition(name, group, ranking, by_label)
        for name, group in zip(names_of(groups), groups, strict=True)
    )
    return Study(conditions, ranking, others, level, resamples, seed)


def _check_options(stores: Sequence[Any], level: float, resamples: int) -> None:
    if not stores:
        raise SpecError("name at least one store, a folder that `fullrank run --store` wrote")
    folders = [Path(s).resolve() for s in stores if isinstance(s, str | Path)]
    for j, folder in enumerate(folders):
        if folder in folders[:j]:
            raise SpecError(f"the store {folder.name} is named twice; name each once")
    if not 0.5 < level < 1:
        raise SpecError(f"level must lie between 0.5 and 1, got {level!r}")
    if isinstance(resamples, bool) or resamples < 10:
        raise SpecError(f"resamples must be a whole number >= 10, got {resamples!r}")


def _ambiguous(groups: Sequence[Group]) -> set[str]:
    """Classes of which some condition has two models that no fixed setting tells apart."""
    out: set[str] = set()
    for group, _, _ in groups:
        seen: dict[tuple[Any, ...], str] = {}
        for block in group:
            for model, cells in block.cells.items():
                name = cells[0].about["class"]
                key = (name, *sorted(fixed_settings(block.results, cells[0]).items()))
                if seen.setdefault(key, model) != model:
                    out.add(name)
    return out


def _condition(
    name: str, group: Group, metrics: tuple[Metric, ...], by_label: Container[str]
) -> Condition:
    """Read the values of a condition.

    Args:
        name: of the condition.
        group: its blocks and factors.
        metrics: to read.
        by_label: classes whose models are known by their labels.
    """
    blocks, factors, settings = group
    units: dict[str, Unit] = {}
    for block in blocks:
        hashed: dict[int, NDArray[np.int64]] = {}
        for entry in entries(block.results, metrics):
            if entry.data != block.data or entry.model in units:
                continue
            cells = block.cells[entry.model]
            made = cells[0].about["class"]
            own = {
                "model": entry.model if made in by_label else made,
                **fixed_settings(block.results, cells[0]),
            }
            if id(entry.keys) not in hashed:
                hashed[id(entry.keys)] = _hashes(entry)
            users = hashed[id(entry.keys)]
            columns = {
                metric: Clusters.of(values.per_query, users)
                for metric, values in entry.averaged.items()
            }
            units[entry.model] = Unit(name, entry.model, own, cells, entry.keys, columns)
    return Condition(name, factors, tuple(units.values()), settings)


def _hashes(entry: Entry) -> NDArray[np.int64]:
    """Hash of the user's outside id of each query, the same in every store."""
    ids = np.array([key[1] for key in entry.keys])
    vocab = Vocabulary.of(ids, "user")
    return vocab.hashes[vocab.encode(ids)].view(np.int64)
