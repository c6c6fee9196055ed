"""SVPCFProp: importance by a proxy, corrected for how likely an interaction is to be seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample.propensity import Combine, Propensity
from fullrank.subsample.svp_cf import SVPCF


@dataclass(frozen=True)
class SVPCFProp(SVPCF):
    """Keep what a proxy found hardest, rare users and items weighed up.

    As ``SVPCF`` with each importance divided by the propensity of its interaction (Sachdeva, Wu &
    McAuley 2022; ``Propensity`` has the formula). With true propensities that estimates the
    importance under full observation without bias.

    Attributes:
        a: see ``Propensity``, and so are b, n and combine.
        b: offset.
        n: rows, 0 for those of the training set.
        combine: how the propensities of user and item become that of the pair.
    """

    a: float = 0.55
    b: float = 1.5
    n: int = 0
    combine: Combine = "published"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._propensity()

    def _propensity(self) -> Propensity:
        return Propensity(self.a, self.b, self.n, self.combine)

    def weigh(self, train: Interactions, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Importance of each row over its propensity."""
        return np.asarray(values * self._propensity().weights(train, self.unit))
