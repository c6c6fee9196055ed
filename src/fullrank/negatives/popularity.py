"""Draws by popularity: how often an item was seen, to a power."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.negatives._base import Negatives
from fullrank.negatives.weighted import Weighted


@dataclass(frozen=True, kw_only=True)
class Popularity(Weighted):
    """An item is drawn with probability proportional to ``count ** exponent``.

    The counts are those of the data that the model was fitted on. With a positive exponent an
    item that was never seen is never drawn; with a negative one (rare items first) it counts as
    seen once. For inclusion probabilities see ``Weighted``.

    Attributes:
        exponent: 1 for popularity itself, 0.75 as in word2vec, 0 for uniform, negative for rare.

    Example:
        >>> Popularity(m=50, exponent=0.75).settings()
        {'m': 50, 'replacement': True, 'weights': None, 'exponent': 0.75}
    """

    exponent: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.exponent, int | float | np.number)
        if not number or isinstance(self.exponent, bool) or not np.isfinite(self.exponent):
            raise SpecError(f"Popularity: exponent must be finite, got {self.exponent!r}")

    def prepare(self, counts: NDArray[np.int64]) -> Negatives:
        """The distribution for items that were seen ``counts[n_items]`` times."""
        seen = counts.astype(np.float64)
        if self.exponent <= 0:
            seen = np.maximum(seen, 1.0)
        with np.errstate(over="ignore", under="ignore"):
            weights = seen**self.exponent
            total = weights.sum()
        if not 0 < total < np.inf and seen.any():
            raise SpecError(
                f"Popularity: counts up to {seen.max():,.0f} to the power {self.exponent:g} have "
                "no finite sum above 0; take an exponent nearer 0"
            )
        return replace(self, weights=weights)
