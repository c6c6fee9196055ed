"""Learner: from the taus of data sets that were measured to those of one that was not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._design import Design
from fullrank.advise.learners._jackknife import BOUNDS, LeftOut, jackknife_plus
from fullrank.advise.table import CELL, GROUP, cells, codes, feature_names, joined
from fullrank.core.errors import DataError, SpecError
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.settings import check_types

if TYPE_CHECKING:
    import polars as pl

Scores = Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]
"""Matrix ``[n, p]`` and group of each row ``[n]`` in, a number a row out."""

LEAST_SETS = 3
"""Data sets to learn from: settings are chosen, and intervals made, by leaving some out."""
_LEAST_SIGNAL = 0.1


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells as learners see them.

    Attributes:
        x: float64 ``[n, p]``, NaN where a feature is missing.
        group: int64 ``[n]``: cells that differ in the sampler alone.
        kind: text ``[n]``: scenario, metric and size.
    """

    x: NDArray[np.float64]
    group: NDArray[np.int64]
    kind: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Training(Cells):
    """Cells to learn from, sorted by ``CELL``.

    Attributes:
        tau: float64 ``[n]``.
        weight: float64 ``[n]`` in (0, 1], lower where the repeats of a tau differ.
        data: int64 ``[n]``, the data set.
    """

    tau: NDArray[np.float64]
    weight: NDArray[np.float64]
    data: NDArray[np.int64]

    def take(self, rows: NDArray[np.bool_]) -> Training:
        """Some of the cells."""
        return Training(**{name: column[rows] for name, column in vars(self).items()})


Taus = Callable[[Cells], NDArray[np.float64]]


@dataclass(frozen=True)
class Learner(ABC):
    """What predicts how well a sampler does. Subclasses are frozen dataclasses of settings.

    Class attributes:
        ranks: predicts which sampler is better than which, of which taus are made: the mean of the
            training's cells of the same scenario, metric and size (of all, where there is none)
            plus b times the score less the mean score of its group, with b >= 0 by least squares on
            the training's cells.
    """

    ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_types(self.name, self, vars(self))

    @abstractmethod
    def _fit(self, training: Training, seed: int) -> Scores:
        """Learn; what it returns gives taus, or with ``ranks`` higher numbers for better samplers.

        Args:
            training: of two data sets at least.
            seed: of any draws.
        """

    @abstractmethod
    def _load(self) -> None:
        """Load the library that it learns with, or say how to get it."""

    @property
    def name(self) -> str:
        """The registered name."""
        return type(self).__name__

    def fit(
        self,
        table: pl.DataFrame,
        features: pl.DataFrame,
        rng: RNG = 0,
        *,
        level: float | None = 0.8,
    ) -> Fitted:
        """Learn from cells whose taus are known.

        A tau whose repeats have the standard deviation s counts ``v / (v + s²)``, with v the
        variance of all taus less the mean of the s², but at least a tenth of it; where s is not
        known, that mean stands for its square.

        Args:
            table: ``data, scenario, metric, keep, strategy, tau, tau_sd``, a row a cell.
            features: a row a sample (see ``fullrank.advise.table.joined``); those of samples that
                the table doesn't have are not looked at.
            rng: seed or Generator.
            level: of prediction intervals, in (0.5, 1); None for none, which saves a fit for each
                data set.

        Raises:
            DataError: tables that can't be used, or of fewer than three data sets.
            SpecError: a level out of range, or a library that is not installed.
        """
        if level is not None and not 0.5 < level < 1:
            raise SpecError(f"the level of intervals must be in (0.5, 1), got {level!r}")
        known = cells(table)
        n_sets = known["data"].n_unique()
        if n_sets < LEAST_SETS:
            raise DataError(
                f"{self.name} learns from at least {LEAST_SETS} data sets with taus, got {n_sets}"
            )
        frame, seed = joined(known, features), seed_of(rng)
        design = Design.of(frame, feature_names(features))
        training = _training(frame, design)
        with self.one_thread():
            model = self._taus(training, derive(seed, "all"))
            parts = []
            for one in range(n_sets if level is not None else 0):
                out = training.data == one
                without = self._taus(training.take(~out), derive(seed, "without", one))
                mine = training.take(out)
                parts.append((without, np.abs(mine.tau - without(mine))))
        return Fitted(self, design, model, tuple(parts), level)

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Limit the library to one thread: tables are small, and sums keep their order."""
        from threadpoolctl import threadpool_limits

        self._load()  # a library is limited only when it is there
        with threadpool_limits(limits=1):
            yield

    def _taus(self, training: Training, seed: int) -> Taus:
        scores = self._fit(training, seed)
        if self.ranks:
            return _as_taus(scores, training)
        return lambda of: np.clip(scores(of.x, of.group), *BOUNDS)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A learner that has learnt.

    Attributes:
        learner: with its settings.
        design: what its columns mean.
        model: cells in, taus out.
        left_out: for each data set the model without it, and its errors there.
        level: of the intervals, None for none.
    """

    learner: Learner
    design: Design
    model: Taus
    left_out: tuple[tuple[Taus, NDArray[np.float64]], ...]
    level: float | None

    def predict(self, table: pl.DataFrame, features: pl.DataFrame) -> pl.DataFrame:
        """Predict the taus of cells.

        Args:
            table: ``data, scenario, metric, keep, strategy``; other columns, taus among them, are
                not looked at. Samplers to choose from stand together: those of one data set,
                scenario, metric and size.
            features: a row for each sample.

        Returns:
            The cells, sorted, with ``tau``, ``low`` and ``high``: an interval for the tau as it
            would be measured, by jackknife+ over data sets; null without a level.

        Raises:
            DataError: a table that can't be used, or a sampler, scenario or metric that the
                training doesn't have.
        """
        import polars as pl

        known = cells(table, taus=False)
        if not len(known):
            raise DataError("there are no cells to predict; the table is empty")
        frame = joined(known, features)
        asked = _cells(frame, self.design)
        with self.learner.one_thread():
            taus = self.model(asked)
            parts = [LeftOut(model(asked), gaps) for model, gaps in self.left_out]
        out = known.with_columns(tau=pl.Series(taus, dtype=pl.Float64))
        if self.level is None:
            nothing = pl.lit(None, dtype=pl.Float64)
            return out.with_columns(low=nothing, high=nothing)
        low, high = jackknife_plus(parts, self.level)
        return out.with_columns(low=pl.Series(low), high=pl.Series(high))


def _cells(frame: pl.DataFrame, design: Design) -> Cells:
    missing = [name for name in design.features if name not in frame.columns]
    if missing:
        raise DataError(f"the features lack {missing[0]!r}, which was learnt from")
    kinds = frame.select("scenario", "metric", "keep").rows()
    kind = np.array([f"{scenario}\n{metric}\n{keep!r}" for scenario, metric, keep in kinds])
    return Cells(design.matrix(frame), codes(frame, GROUP), kind)


def _training(frame: pl.DataFrame, design: Design) -> Training:
    tau = frame["tau"].to_numpy()
    noise = frame["tau_sd"].cast(float).to_numpy() ** 2
    known = noise[~np.isnan(noise)]
    usual = float(known.mean()) if len(known) else 0.0
    signal = max(float(tau.var()) - usual, _LEAST_SIGNAL * float(tau.var()))
    noise = np.where(np.isnan(noise), usual, noise)
    weight = signal / (signal + noise) if signal > 0 else np.ones(len(tau))
    seen = _cells(frame, design)
    return Training(seen.x, seen.group, seen.kind, tau, weight, codes(frame, CELL[:1]))


def _as_taus(scores: Scores, training: Training) -> Taus:
    """Taus from an order of samplers; see ``Learner``."""
    tau = training.tau
    kinds, of = np.unique(training.kind, return_inverse=True)
    means = dict(zip(kinds.tolist(), (np.bincount(of, tau) / np.bincount(of)).tolist()))
    overall = float(tau.mean())
    centred = _centred(scores(training.x, training.group), training.group)
    power = float((centred**2).sum())
    slope = max(float((centred * tau).sum()) / power, 0.0) if power else 0.0

    def taus(asked: Cells) -> NDArray[np.float64]:
        level = np.array([means.get(kind, overall) for kind in asked.kind.tolist()])
        own = _centred(scores(asked.x, asked.group), asked.group)
        return np.clip(level + slope * own, *BOUNDS)

    return taus


def _centred(values: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values less the mean of their group."""
    counts = np.bincount(group)
    means = np.bincount(group, values) / np.maximum(counts, 1)
    return np.asarray(values - means[group])
