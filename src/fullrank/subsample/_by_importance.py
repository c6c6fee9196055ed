"""ByImportance: samplers that go by how hard the training rows were for a proxy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler, Size
from fullrank.subsample._importance import Estimator, Importance, Scenario, importance


class ByImportance(Sampler):
    """A sampler that learns the importance of rows first, and then orders them by it.

    The two steps are apart, so that several samplers can go by one training of the proxy: what
    ``learn`` gives depends on the rows, the seed, and the attributes below alone.

    Attributes:
        proxy: ``mf``, ``bias_only``, or any model, such as ``EASE(reg=300)``.
        scenario: ``implicit`` or ``explicit``.
        importance: file that ``Importance.save`` wrote, in place of fitting a proxy.
    """

    proxy: str
    scenario: Scenario
    importance: str

    def learn(self, train: Interactions, seed: int, size: Size = "exact") -> Importance:
        """The importance that the settings name: read from a file, or from a proxy's fit.

        Args:
            train: training rows.
            seed: of the draws.
            size: ``faithful`` estimates as the published code does.
        """
        if self.importance:
            return Importance.load(self.importance, train)
        how = estimator_of(size)
        return importance(train, self.proxy, scenario=self.scenario, rng=seed, estimator=how)

    @abstractmethod
    def order_by(self, train: Interactions, found: Importance, seed: int) -> Order:
        """Order the rows by their importance.

        Args:
            train: training rows.
            found: their importance.
            seed: of the draws.
        """

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return self.order_by(train, self.learn(train, seed), seed)

    def published_by(
        self, train: Interactions, found: Importance, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """Rows that the published code keeps by their importance, see ``Sampler.as_published``."""
        return self.as_published(train, removed, seed)


def estimator_of(size: Size) -> Estimator:
    """How implicit importance is told for samples of a size."""
    return "one_negative" if size == "faithful" else "exact"
