"""What a learner has learnt: taus of new cells, with intervals, and the gain of the best one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._design import Design
from fullrank.advise.learners._jackknife import BOUNDS, LeftOut, jackknife_plus
from fullrank.advise.table import GROUP, cells, codes, joined
from fullrank.core.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from fullrank.advise.learners._base import Learner

Scores = Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]
"""Matrix ``[n, p]`` and group of each row ``[n]`` in, a number a row out."""


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


Taus = Callable[[Cells], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Bounded:
    """Taus of scores that are taus, but for those out of range.

    Attributes:
        scores: what predicts.
    """

    scores: Scores

    def __call__(self, of: Cells) -> NDArray[np.float64]:
        """float64 ``[n]``."""
        return np.clip(self.scores(of.x, of.group), *BOUNDS)


@dataclass(frozen=True, eq=False)
class Without:
    """The model without one data set, and how it did there.

    Attributes:
        model: cells in, taus out.
        cells: of that data set: the cell, ``tau`` and ``predicted``.
    """

    model: Taus
    cells: pl.DataFrame

    @property
    def errors(self) -> NDArray[np.float64]:
        """Absolute, of its cells: float64 ``[m]``."""
        gap = self.cells["tau"].to_numpy() - self.cells["predicted"].to_numpy()
        return np.asarray(np.abs(gap))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A learner that has learnt.

    Attributes:
        learner: with its settings.
        design: what its columns mean.
        model: cells in, taus out.
        left_out: for each data set the model without it.
        level: of the intervals, None for none.
    """

    learner: Learner
    design: Design
    model: Taus
    left_out: tuple[Without, ...]
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

        known, asked = self._asked(table, features)
        with one_thread():
            taus = self.model(asked)
            parts = [LeftOut(part.model(asked), part.errors) for part in self.left_out]
        out = known.with_columns(tau=pl.Series(taus, dtype=pl.Float64))
        if self.level is None:
            nothing = pl.lit(None, dtype=pl.Float64)
            return out.with_columns(low=nothing, high=nothing)
        low, high = jackknife_plus(parts, self.level)
        return out.with_columns(low=pl.Series(low), high=pl.Series(high))

    def gains(self, table: pl.DataFrame, features: pl.DataFrame, over: str) -> pl.DataFrame:
        """By how much the sampler with the highest predicted tau exceeds a given one.

        Both taus are predicted by one model at a time, so that what the two have in common drops
        out of the interval. It is jackknife+ over those data sets that have cells of the scenario:
        the errors are of what the model without a data set said of the gain of the sampler that it
        would have chosen there, so that they have in them how far the best of several predictions
        is above what it is of.

        Choices elsewhere are among the strategies of the table alone.

        ``low`` and ``high`` are for the gain as a mean over the metrics and sizes of the scenario
        (one error a data set), and say whether a sampler is the better one for such data.
        ``single_low`` and ``single_high`` are for the gain as two single samples would show it by
        this metric (an error a group), noise included. ``usual``, ``usual_low`` and ``usual_high``
        are what it gained on average over the data sets left out, at the size of each that lies
        nearest, to take the sampler with the highest prediction (0 where that is the given one),
        with a t interval at 95 %.

        Args:
            table: as for ``predict``.
            features: as for ``predict``.
            over: strategy that the others are compared with; never the chosen one.

        Returns:
            A row for each group that has it and another one: ``data, scenario, metric, keep,
            strategy`` (the best other one), ``gain``, ``low``, ``high``, ``single_low``,
            ``single_high``, the three ``usual`` ones, and ``data_sets`` that the errors
            are of. With too few of these the first two intervals are all of [-2, 2] and ``usual``
            is null; without a level all three are null.

        Raises:
            DataError: as ``predict``.
        """
        from fullrank.advise.learners._gain import gains

        known, asked = self._asked(table, features)
        with one_thread():
            taus = self.model(asked)
            parts = [(part.model(asked), part.cells) for part in self.left_out]
        return gains(known, taus, parts, over, self.level)

    def _asked(self, table: pl.DataFrame, features: pl.DataFrame) -> tuple[pl.DataFrame, Cells]:
        known = cells(table, taus=False)
        if not len(known):
            raise DataError("there are no cells to predict; the table is empty")
        return known, cells_of(joined(known, features), self.design)

    def save(self, folder: str | Path) -> None:
        """Write it to a folder, without pickle: of ``Ridge`` only.

        Raises:
            SpecError: another learner, of which there is no form to keep.
        """
        from fullrank.advise.learners._saved import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Fitted:
        """Read what ``save`` wrote; it predicts the same numbers, and needs the core alone.

        Raises:
            StoreError: a file that is missing or damaged.
        """
        from fullrank.advise.learners._saved import load

        return load(Path(folder))


def cells_of(frame: pl.DataFrame, design: Design) -> Cells:
    """Joined cells and features as learners see them.

    Raises:
        DataError: a feature that was learnt from is missing.
    """
    missing = [name for name in design.features if name not in frame.columns]
    if missing:
        raise DataError(f"the features lack {missing[0]!r}, which was learnt from")
    kinds = frame.select("scenario", "metric", "keep").rows()
    kind = np.array([f"{scenario}\n{metric}\n{keep!r}" for scenario, metric, keep in kinds])
    return Cells(design.matrix(frame), codes(frame, GROUP), kind)


def one_thread() -> Any:
    """Limit linear algebra to one thread: tables are small, and sums keep their order."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
