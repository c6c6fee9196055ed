"""Table estimators: a target contributes ``x[r]``, by its sampled rank alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from fullrank.core.errors import SpecError
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._likelihood import log_pmf
from fullrank.estimators.mle import GROWTH, MLE, SINGLE

Prior = Literal["uniform", "mle", "mes"]


@dataclass(frozen=True, eq=False)
class Design:
    """One sample size and catalogue size.

    Attributes:
        size: ``n``, the target included.
        catalog: ``N``.
        a: float64 ``[bins, n]``: ``P(r | R)``, mean over each bin; 0 beyond the catalogue.
        groups: int64, the groups that have this design.
        ranks: int64, their sampled ranks.
    """

    size: int
    catalog: int
    a: NDArray[np.float64]
    groups: NDArray[np.int64]
    ranks: NDArray[np.int64]

    @classmethod
    def all_of(cls, groups: Groups, bins: Bins) -> list[Design]:
        """The designs that occur; one for each class of catalogue sizes."""
        key = (len(bins), bins.n)
        if key not in groups.designs:
            groups.designs[key] = cls._all_of(groups, bins)
        found: list[Design] = groups.designs[key]
        return found

    @classmethod
    def _all_of(cls, groups: Groups, bins: Bins) -> list[Design]:
        pairs, member = np.unique(
            np.stack([groups.sizes, groups.catalogs], axis=1), axis=0, return_inverse=True
        )
        points, starts = bins.points()
        counts = np.diff(np.append(starts, len(points)))[:, None]
        out = []
        for number, (size, catalog) in enumerate(pairs.tolist()):
            logs = log_pmf(
                np.arange(1, size + 1),
                np.array(size),
                np.array(catalog),
                points[:, None],
                replacement=groups.replacement,
            )
            a = np.add.reduceat(np.exp(logs), starts, axis=0) / counts
            mine = np.flatnonzero(member.reshape(-1) == number)
            out.append(cls(size, catalog, a, mine, groups.ranks[mine]))
        return out


@dataclass(frozen=True, kw_only=True)
class TableEstimator(Estimator):
    """Base of the estimators that look sampled ranks up in a table.

    The table solves a least-squares problem weighted by a prior distribution of ranks; one table
    for each class of catalogue sizes.
    """

    interval = "table"
    adaptive = False

    def bins(self, n: int, k: int) -> Bins:
        """Single ranks at the head, then bins a percent wide."""
        return Bins.of(n, max(SINGLE, k), GROWTH)

    def fit(self, groups: Groups, bins: Bins) -> TableFit:
        """Make the prior; tables are solved for each metric."""
        return TableFit(groups, bins, self, self._prior(groups, bins), Design.all_of(groups, bins))

    def _prior(self, groups: Groups, bins: Bins) -> NDArray[np.float64]:
        """Probability of each bin before the table; uniform over ranks by default."""
        return np.asarray(bins.width / bins.width.sum())

    def fit_many(
        self, groups: Groups, bins: Bins, counts: NDArray[np.float64]
    ) -> Sequence[TableFit]:
        """Make the priors of several numbers of targets ``[many, groups]`` together."""
        designs = Design.all_of(groups, bins)
        priors = self._priors(groups, bins, counts)
        return [
            TableFit(groups.with_counts(row), bins, self, prior, designs)
            for row, prior in zip(counts, priors)
        ]

    def _priors(
        self, groups: Groups, bins: Bins, counts: NDArray[np.float64]
    ) -> Sequence[NDArray[np.float64]]:
        return [self._prior(groups.with_counts(row), bins) for row in counts]

    @abstractmethod
    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table: float64 ``[n, j]`` for functions ``b [bins, j]``."""


@dataclass(frozen=True, kw_only=True)
class PriorTable(TableEstimator):
    """Base of the tables whose prior may be told from the sample.

    Attributes:
        prior: ``"uniform"``, ``"mle"`` or ``"mes"``; told from the same sample, as one run can.
            (The published tables for ``mle`` and ``mes`` used a prior averaged over 100 samples.)
    """

    prior: Prior = "mle"

    def __post_init__(self) -> None:
        if self.prior not in ("uniform", "mle", "mes"):
            raise SpecError(
                f"{type(self).__name__}: prior must be 'uniform', 'mle' or 'mes', got "
                f"{self.prior!r}"
            )

    @property
    def interval(self) -> Literal["bootstrap", "table"]:  # type: ignore[override]
        """A prior from the data makes the table a part of the fit."""
        return "table" if self.prior == "uniform" else "bootstrap"

    def _prior(self, groups: Groups, bins: Bins) -> NDArray[np.float64]:
        if self.prior == "uniform":
            return super()._prior(groups, bins)
        if self.prior == "mle":
            return MLE().fit(groups, bins).pi
        from fullrank.estimators.mes import MES

        return MES().fit(groups, bins).pi

    def _priors(
        self, groups: Groups, bins: Bins, counts: NDArray[np.float64]
    ) -> Sequence[NDArray[np.float64]]:
        if self.prior != "mle":
            return super()._priors(groups, bins, counts)
        return [fit.pi for fit in MLE().fit_many(groups, bins, counts)]


@dataclass(frozen=True, eq=False)
class TableFit(Fit):
    """Tables of one estimator.

    Attributes:
        estimator: that solves them.
        prior: float64 ``[bins]``.
        designs: one for each class of catalogue sizes.
    """

    estimator: TableEstimator
    prior: NDArray[np.float64]
    designs: list[Design]

    @property
    def distribution(self) -> NDArray[np.float64] | None:
        """The prior, where it was told from the data."""
        given = getattr(self.estimator, "prior", "uniform")
        return None if given == "uniform" else self.prior

    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Entries of the tables ``[groups, j]``."""
        out = np.zeros((len(self.groups), b.shape[1]))
        for design in self.designs:
            table = self.estimator.solve(design, self.prior, b, self)
            out[design.groups] = table[design.ranks - 1]
        return out


def solve_scaled(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve a symmetric system ``[n, n]`` by ``[n, j]``, scaled to a unit diagonal.

    Sampled ranks without any mass (a diagonal of 0) get 0. A matrix that Cholesky can't take is
    solved by eigenvalues above ``1e-12`` of the largest.
    """
    out = np.zeros_like(right)
    some = np.flatnonzero(np.diag(matrix) > 0)
    scale = 1.0 / np.sqrt(np.diag(matrix)[some])
    inner = matrix[np.ix_(some, some)] * scale[:, None] * scale
    try:
        solved = cho_solve(cho_factor(inner), right[some] * scale[:, None])
    except LinAlgError:
        values, vectors = np.linalg.eigh(inner)
        kept = values > 1e-12 * values[-1]
        basis = vectors[:, kept]
        solved = basis @ ((basis.T @ (right[some] * scale[:, None])) / values[kept, None])
    out[some] = scale[:, None] * solved
    return out
