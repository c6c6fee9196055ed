"""What each stage of an adaptive design bought: items spent for a newly resolved target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import count
from fullrank.core.errors import EstimateError
from fullrank.core.ranked import TargetRanks
from fullrank.estimators._cases import checked_sample

if TYPE_CHECKING:
    import polars as pl

SHARE = 1 / 8
"""Of the catalogue: the published rule for the largest size is 10 to 15 percent."""


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Sampling efficiency by stage (Jin et al. 2023); ``report.write_efficiency`` draws it.

    Attributes:
        sizes: int64 ``[j]``, ``n_j``, the target included; a median where catalogues differ.
        resolved: int64 ``[j]``, ``m_j``: targets that stopped there with a rank above 1.
        cost: float64 ``[j]``, ``C_j = (n_j - n_{j-1}) (M - sum_{i<j} m_i) / m_j`` items for a
            newly resolved target; infinite where none was. It about doubles with each stage.
        n_max: the largest size within an eighth of the catalogue.
        items: items scored for a target, on average.
        targets: ``M``, that were ranked.
    """

    sizes: NDArray[np.int64]
    resolved: NDArray[np.int64]
    cost: NDArray[np.float64]
    n_max: int
    items: float
    targets: int

    @property
    def left(self) -> NDArray[np.int64]:
        """Targets that went into each stage: int64 ``[j]``."""
        return self.targets - np.cumsum(self.resolved) + self.resolved

    def to_dict(self) -> dict[str, Any]:
        """As ``fullrank estimate --efficiency --json`` has it."""
        stages = [
            {"size": int(n), "targets": int(left), "resolved": int(m), "cost": c}
            for n, left, m, c in zip(self.sizes, self.left, self.resolved, self._costs)
        ]
        rest = {"n_max": self.n_max, "items": self.items, "targets": self.targets}
        return {"stages": stages, **rest}

    @property
    def _costs(self) -> list[float | None]:
        return [None if np.isinf(c) else c for c in self.cost.tolist()]

    def to_frame(self) -> pl.DataFrame:
        """Polars frame ``size, targets, resolved, cost``; a cost without end is null."""
        import polars as pl

        columns = {"size": self.sizes, "targets": self.left, "resolved": self.resolved}
        return pl.DataFrame({**columns, "cost": pl.Series(self._costs, dtype=pl.Float64)})


def efficiency(ranked: TargetRanks) -> Efficiency:
    """Tell from a sample that doubled while the rank was 1 what each size bought.

    Args:
        ranked: from a design such as ``Doubling(n_max=…)`` with a large ``n_max``.

    Raises:
        EstimateError: samples of one size only, or of another design.
    """
    sample = checked_sample(ranked)
    found = sample.ranks > 0
    ranks, sizes = sample.ranks[found], sample.sizes[found].astype(np.int64)
    catalogs = sample.catalog_sizes[found]
    first = int(sizes.min())
    if first == sizes.max():
        raise EstimateError(
            f"all samples have the size {first}; efficiency is told from an adaptive design, such "
            "as candidates=Doubling(n_max=…)"
        )
    stage = np.ceil(np.log2(sizes / first) - 1e-9).astype(np.int64)
    stopped = np.count_nonzero((ranks == 1) & (stage < stage.max()) & (sizes < catalogs))
    if stopped:
        raise EstimateError(
            f"{count(int(stopped), 'target')} came first in their sample and went no further: "
            "efficiency is told from a design that goes on with all of them, such as "
            "candidates=Doubling(n_max=…)"
        )
    stages = first * 2 ** np.arange(stage.max() + 1)
    for j in np.unique(stage):  # ceilings that are a share of each user's catalogue
        stages[j] = round(float(np.median(sizes[stage == j])))
    resolved = np.bincount(stage[ranks > 1], minlength=len(stages))
    left = len(ranks) - np.concatenate([[0], np.cumsum(resolved)[:-1]])
    with np.errstate(divide="ignore"):
        cost = np.diff(stages, prepend=0) * left / resolved
    top = float(np.median(catalogs)) * SHARE
    n_max = first
    while 2 * n_max <= top:
        n_max *= 2
    return Efficiency(
        stages, resolved.astype(np.int64), cost, n_max, float(sizes.mean()), len(ranks)
    )
