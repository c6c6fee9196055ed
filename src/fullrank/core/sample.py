"""Sample: what ranks among sampled candidates need to tell of the rank in the whole catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError

Scheme = Literal["uniform", "weighted", "given"]

_COLUMNS = ("ranks", "sizes", "catalog_sizes", "others")


@dataclass(frozen=True, eq=False)
class Sample:
    """Ranks of targets among drawn candidates, and how these were drawn.

    The rank in the whole catalogue is 1 + the candidates that precede the target, drawn or not,
    and ``others``. Equal scores were settled by one random order for the query, so that each
    target has one rank: that is what the likelihood of a sampled rank is about.

    Attributes:
        ranks: int32 ``[t]``, 1-based, among the drawn candidates and the target itself, other
            targets apart; 0 for a target that is not ranked (outside the catalogue, scored -inf).
        sizes: int32 ``[t]``: candidates drawn so far, and the target.
        catalog_sizes: int32 ``[t]``: candidates that could be drawn, and the target.
        others: int32 ``[t]``: other targets of the query that precede it.
        scheme: ``"uniform"``, ``"weighted"`` or ``"given"`` (lists from outside).
        replacement: whether an item may be drawn twice.
    """

    ranks: NDArray[np.int32]
    sizes: NDArray[np.int32]
    catalog_sizes: NDArray[np.int32]
    others: NDArray[np.int32]
    scheme: Scheme = "uniform"
    replacement: bool = False

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            column = getattr(self, name)
            if column.shape != self.ranks.shape:
                raise ScoreError(
                    f"sample.{name} has shape {column.shape}, expected {self.ranks.shape} like "
                    "sample.ranks"
                )

    def __len__(self) -> int:
        return len(self.ranks)

    def take(self, targets: slice | NDArray[Any]) -> Sample:
        """Some of the targets, in the order given."""
        return replace(self, **{name: getattr(self, name)[targets] for name in _COLUMNS})

    @classmethod
    def joined(cls, parts: Sequence[Sample]) -> Sample:
        """The targets of several samples of one scheme behind one another."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS
        }
        return replace(parts[0], **columns)
