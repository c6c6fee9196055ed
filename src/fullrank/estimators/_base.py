"""Estimator: turns sampled ranks into metrics of the full ranking."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups

Interval = Literal["draws", "bootstrap", "table"]


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """Base of the estimators; subclasses are frozen dataclasses of settings.

    A metric of one target is a function ``b(R)`` of its rank in the catalogue. An estimator says
    what each group of equal sampled ranks contributes to the mean of ``b``.

    Class attributes:
        consistent: the estimate tends to the metric of the full ranking as samples grow.
        interval: how its interval is made: from posterior draws, by a bootstrap through the whole
            fit, or from the spread of a table that doesn't depend on the data.
        adaptive: takes samples of different sizes.
    """

    consistent: ClassVar[bool] = True
    interval: ClassVar[Interval] = "bootstrap"
    adaptive: ClassVar[bool] = True

    @abstractmethod
    def fit(self, groups: Groups, bins: Bins) -> Fit:
        """Learn what the estimator needs from the sampled ranks.

        Raises:
            EstimateError: the data can't be estimated from by this method; says why.
        """

    def fit_many(self, groups: Groups, bins: Bins, counts: NDArray[np.float64]) -> Sequence[Fit]:
        """Fit for several numbers of targets ``[many, groups]``; one by one by default."""
        return [self.fit(groups.with_counts(row), bins) for row in counts]

    def bins(self, n: int, k: int) -> Bins:
        """Bins of ranks to work with, for metrics that look at ``k`` places."""
        return Bins.of(n, max(60, k))

    def settings(self) -> dict[str, Any]:
        """Settings by name, for provenance."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def __str__(self) -> str:
        changed = [
            f"{f.name}={getattr(self, f.name)}"
            for f in fields(self)
            if f.init and getattr(self, f.name) != f.default
        ]
        return type(self).__name__ + (f"({', '.join(changed)})" if changed else "")


@dataclass(frozen=True, eq=False)
class Fit(ABC):
    """What an estimator learnt.

    Attributes:
        groups: that were fitted.
        bins: of ranks.
    """

    groups: Groups
    bins: Bins

    @abstractmethod
    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a target of each group contributes.

        Args:
            b: float64 ``[bins, j]``, mean of each function of the rank over each bin.

        Returns:
            float64 ``[groups, j]``.
        """

    @property
    def distribution(self) -> NDArray[np.float64] | None:
        """Probability of each bin ``[bins]`` for a target drawn from all, if it was estimated."""
        return None

    def moments(
        self,
        pi: NDArray[np.float64],
        functions: NDArray[np.float64],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of sums over targets, given their data and a distribution of ranks.

        Args:
            pi: float64 ``[bins]``.
            functions: float64 ``[bins, c]``.
            weights: float64 ``[groups, c]``, of the means, and of the variances.

        Returns:
            Two float64 ``[c]``.
        """
        return sums_given(pi, self.groups.likelihood(self.bins), functions, weights)


@dataclass(frozen=True, eq=False)
class DistributionFit(Fit):
    """A fit that is a distribution of ranks: each target contributes its mean.

    Attributes:
        pi: float64 ``[bins]``, sums to 1.
    """

    pi: NDArray[np.float64]

    @property
    def distribution(self) -> NDArray[np.float64]:
        """Probability of each bin."""
        return self.pi

    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each function, the same for every group; its own where all are exact."""
        if self.groups.exact.all():
            return np.asarray(b[self.bins.place(self.groups.ranks)])
        return np.broadcast_to(self.pi @ b, (len(self.groups), b.shape[1]))


@dataclass(frozen=True, eq=False)
class Given(Fit):
    """A fit in which each target contributes its mean given its own data.

    Attributes:
        pi: float64 ``[bins]``, sums to 1.
    """

    pi: NDArray[np.float64]

    @classmethod
    def of(cls, fit: Fit) -> Given:
        """By the distribution of another fit."""
        assert fit.distribution is not None
        return cls(fit.groups, fit.bins, fit.distribution)

    @property
    def distribution(self) -> NDArray[np.float64]:
        """Probability of each bin."""
        return self.pi

    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of each function given each group's data."""
        return posterior(self.pi, self.groups.likelihood(self.bins)).T @ b


def sums_given(
    pi: NDArray[np.float64],
    likelihood: NDArray[np.float64],
    functions: NDArray[np.float64],
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance ``[c]`` of weighted sums of functions of ranks, given each group's data.

    Args:
        pi: float64 ``[bins]``.
        likelihood: float64 ``[bins, groups]``, columns up to a factor.
        functions: float64 ``[bins, c]``.
        weights: float64 ``[groups, c]``, of the means, and of the variances.
    """
    total = pi @ likelihood
    some = np.flatnonzero(functions.any(axis=1))
    flat = functions[some]
    given = pi[some, None] * likelihood[some] / np.where(total > 0, total, 1.0)
    mean = given.T @ flat
    spread = np.maximum(given.T @ (flat * flat) - mean * mean, 0.0)
    return (mean * weights[0]).sum(axis=0), (spread * weights[1]).sum(axis=0)


def posterior(pi: NDArray[np.float64], likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribution of the rank given each group's data: float64 ``[bins, groups]``."""
    joint = pi[:, None] * likelihood
    total = joint.sum(axis=0)
    return np.asarray(joint / np.where(total > 0, total, 1.0))
