"""Learner: from the taus of data sets that were measured to those of one that was not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._design import Design
from fullrank.advise.learners._fitted import (
    Bounded,
    Cells,
    Fitted,
    Scores,
    Taus,
    Without,
    cells_of,
    one_thread,
)
from fullrank.advise.learners._jackknife import BOUNDS
from fullrank.advise.table import CELL, cells, codes, feature_names, joined
from fullrank.core.errors import DataError, SpecError
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.settings import check_types

if TYPE_CHECKING:
    import polars as pl

LEAST_SETS = 3
"""Data sets to learn from: settings are chosen, and intervals made, by leaving some out."""
_LEAST_SIGNAL = 0.1


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

    def _load(self) -> None:  # noqa: B027 - the core is enough unless a learner says otherwise
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
        import polars as pl

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
        self._load()  # a library is limited only when it is there
        with one_thread():
            model = self._taus(training, derive(seed, "all"))
            parts = []
            for one in range(n_sets if level is not None else 0):
                out = training.data == one
                without = self._taus(training.take(~out), derive(seed, "without", one))
                mine = frame.filter(out).select(*CELL, "tau")
                predicted = pl.Series("predicted", without(training.take(out)))
                parts.append(Without(without, mine.with_columns(predicted)))
        return Fitted(self, design, model, tuple(parts), level)

    def _taus(self, training: Training, seed: int) -> Taus:
        scores = self._fit(training, seed)
        if self.ranks:
            return _as_taus(scores, training)
        return Bounded(scores)


def _training(frame: pl.DataFrame, design: Design) -> Training:
    tau = frame["tau"].to_numpy()
    noise = frame["tau_sd"].cast(float).to_numpy() ** 2
    known = noise[~np.isnan(noise)]
    usual = float(known.mean()) if len(known) else 0.0
    signal = max(float(tau.var()) - usual, _LEAST_SIGNAL * float(tau.var()))
    noise = np.where(np.isnan(noise), usual, noise)
    weight = signal / (signal + noise) if signal > 0 else np.ones(len(tau))
    seen = cells_of(frame, design)
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
