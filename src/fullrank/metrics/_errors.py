"""ErrorMetric: what RMSE and MAE share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.ranked import Predictions
from fullrank.metrics._base import Metric
from fullrank.metrics._prepared import label


@dataclass(frozen=True, kw_only=True, repr=False)
class ErrorMetric(Metric):
    """Base of the metrics that come from ``Predictions``; each row is a query of its own."""

    cutoff = "none"
    source = "predictions"
    higher_is_better = False
    bounds = (0.0, inf)

    @abstractmethod
    def _loss(self, error: NDArray[np.float64]) -> NDArray[np.float64]:
        """What an error costs ``[n]``."""

    def per_query(self, data: Predictions) -> NDArray[np.float64]:
        """Loss of each row: float64 ``[n]``; ``finish`` of their mean is the metric.

        Raises:
            DataError: an observed value is not finite.
        """
        bad = np.flatnonzero(~np.isfinite(data.observed))
        if len(bad):
            raise DataError(
                f"{self}: observed values must be finite, got {data.observed[bad[0]]} in row "
                f"{bad[0]} (user {label(data.user_vocab, int(data.users[bad[0]]))}); drop such rows"
            )
        return self._loss(data.predicted - data.observed)

    def per_user(self, data: Predictions) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """User codes ``[u]`` and the metric over the rows of each ``[u]``."""
        users, code, counts = np.unique(data.users, return_inverse=True, return_counts=True)
        mean = np.bincount(code, weights=self.per_query(data), minlength=len(users)) / counts
        return users, np.array([self.finish(float(value)) for value in mean])
