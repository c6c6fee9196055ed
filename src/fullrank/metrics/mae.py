"""Mean absolute error of predicted values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._errors import ErrorMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class MAEMetric(ErrorMetric):
    """The mean absolute error.

    ``MAE = (1 / n) * sum of |predicted - observed|`` over the n rows of all users.

    **Convention**: pooled over rows, not a mean of per-user means; that is ``per_user``. NaN
    without rows; range 0 to infinity; lower is better; takes no k.

    Example:
        >>> import numpy as np
        >>> from fullrank.core.ranked import Predictions
        >>> from fullrank.core.vocabulary import Vocabulary
        >>> from fullrank.metrics import MAE
        >>> ids = Vocabulary.of([0, 1])
        >>> codes = np.array([0, 1], np.int32)
        >>> rows = Predictions(codes, codes, np.array([3.0, 4.0]), np.array([5.0, 4.0]), ids, ids)
        >>> MAE.value(rows)
        1.0

    Reference: Herlocker, Konstan, Terveen & Riedl 2004, section 4.1.
    """

    name = "MAE"

    def _loss(self, error: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(error)


MAE = MAEMetric()
