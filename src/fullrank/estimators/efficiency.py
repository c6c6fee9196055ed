"""What each stage of an adaptive design bought: items spent for a newly resolved target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.core.ranked import TargetRanks
from fullrank.estimators._cases import checked_sample

if TYPE_CHECKING:
    import polars as pl

SHARE = 1 / 8
"""Of the catalogue: the published rule for the largest size is 10 to 15 percent."""


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Sampling efficiency by stage (Jin et al. 2023).

    Attributes:
        sizes: int64 ``[j]``, ``n_j``, the target included.
        resolved: int64 ``[j]``, ``m_j``: targets that stopped there with a rank above 1.
        cost: float64 ``[j]``, ``C_j = (n_j - n_{j-1}) (M - sum_{i<j} m_i) / m_j`` items for a
            newly resolved target; infinite where none was. It about doubles with each stage.
        n_max: the largest size within an eighth of the catalogue.
        items: items scored for a target, on average.
    """

    sizes: NDArray[np.int64]
    resolved: NDArray[np.int64]
    cost: NDArray[np.float64]
    n_max: int
    items: float

    def to_frame(self) -> pl.DataFrame:
        """Polars frame ``size, resolved, cost``; a cost without end is null."""
        import polars as pl

        cost = [None if np.isinf(c) else c for c in self.cost.tolist()]
        columns = {"size": self.sizes, "resolved": self.resolved}
        return pl.DataFrame({**columns, "cost": pl.Series(cost, dtype=pl.Float64)})


def efficiency(ranked: TargetRanks) -> Efficiency:
    """Tell from a sample that doubled while the rank was 1 what each size bought.

    Args:
        ranked: from a design such as ``Doubling(n_max=…)`` with a large ``n_max``.

    Raises:
        EstimateError: samples of one size only.
    """
    sample = checked_sample(ranked)
    found = sample.ranks > 0
    ranks, sizes = sample.ranks[found], sample.sizes[found]
    stages = np.unique(sizes).astype(np.int64)
    if len(stages) < 2:
        raise EstimateError(
            f"all samples have the size {stages[0]}; efficiency is told from an adaptive design, "
            "such as candidates=Doubling(n_max=…)"
        )
    resolved = np.array([np.count_nonzero((sizes == n) & (ranks > 1)) for n in stages])
    left = len(ranks) - np.concatenate([[0], np.cumsum(resolved)[:-1]])
    with np.errstate(divide="ignore"):
        cost = np.diff(stages, prepend=0) * left / resolved
    top = float(np.median(sample.catalog_sizes[found])) * SHARE
    n_max = int(stages[0])
    while 2 * n_max <= top:
        n_max *= 2
    return Efficiency(stages, resolved.astype(np.int64), cost, n_max, float(sizes.mean()))
