"""Root mean squared error of predicted values."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._errors import ErrorMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class RMSEMetric(ErrorMetric):
    """The root of the mean squared error.

    ``RMSE = sqrt((1 / n) * sum of (predicted - observed)^2)`` over the n rows of all users.

    **Convention**: pooled over rows (the Netflix Prize's), not a mean of per-user roots; that is
    ``per_user``. ``per_query`` and ``state`` hold squared errors, row by row, clustered by user;
    ``finish`` takes the root. NaN without rows; range 0 to infinity; lower is better; takes no k.

    Example:
        >>> import numpy as np
        >>> from fullrank.core.ranked import Predictions
        >>> from fullrank.core.vocabulary import Vocabulary
        >>> from fullrank.metrics import RMSE
        >>> ids = Vocabulary.of([0, 1])
        >>> codes = np.array([0, 1], np.int32)
        >>> rows = Predictions(codes, codes, np.array([3.0, 4.0]), np.array([4.0, 4.0]), ids, ids)
        >>> RMSE.per_query(rows).tolist(), round(RMSE.value(rows), 6)
        ([1.0, 0.0], 0.707107)

    Reference: Herlocker, Konstan, Terveen & Riedl 2004, section 4.1.
    """

    name = "RMSE"

    def _loss(self, error: NDArray[np.float64]) -> NDArray[np.float64]:
        return error * error

    def finish(self, mean: float) -> float:
        """The root."""
        return sqrt(mean)


RMSE = RMSEMetric()
