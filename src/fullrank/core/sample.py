"""Sample: what ranks among sampled candidates need to tell of the rank in the whole catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError

Scheme = Literal["uniform", "weighted", "given"]

_COLUMNS = ("ranks", "sizes", "catalog_sizes", "others", "listed")


@dataclass(frozen=True, eq=False)
class Sample:
    """Ranks of targets among drawn candidates, and how these were drawn.

    The rank in the whole catalogue is 1 + the candidates that precede the target, drawn or not,
    ``others`` and ``listed``. Equal scores were settled by one random order for the query, so that
    each target has one rank: that is what the likelihood of a sampled rank is about.

    With a list of items that each target was compared with beforehand, candidates are what lies
    outside the list. A target with ``k_max`` items of the list and other targets ahead is
    ``settled``: it was compared with nothing else (size 1), as it stands beyond that cut-off.

    Attributes:
        ranks: int32 ``[t]``, 1-based, among the drawn candidates and the target itself, other
            targets apart; 0 for a target that is not ranked (outside the catalogue, scored -inf).
        sizes: int32 ``[t]``: candidates drawn so far, and the target.
        catalog_sizes: int32 ``[t]``: candidates that could be drawn, and the target; those of a
            list are not among them.
        others: int32 ``[t]``: other targets of the query that precede it.
        scheme: ``"uniform"``, ``"weighted"`` or ``"given"`` (lists from outside).
        replacement: whether an item may be drawn twice.
        listed: int32 ``[t]``: items of the query's list that precede the target; 0 without lists.
        k_max: deepest cut-off that can be told where there are lists, else None.
    """

    ranks: NDArray[np.int32]
    sizes: NDArray[np.int32]
    catalog_sizes: NDArray[np.int32]
    others: NDArray[np.int32]
    scheme: Scheme = "uniform"
    replacement: bool = False
    listed: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    k_max: int | None = None

    def __post_init__(self) -> None:
        if not len(self.listed):
            object.__setattr__(self, "listed", np.zeros(len(self.ranks), np.int32))
        if self.k_max is None and self.listed.any():
            raise ScoreError("a sample with listed items needs k_max, the deepest cut-off told")
        for name in _COLUMNS:
            column = getattr(self, name)
            if column.shape != self.ranks.shape:
                raise ScoreError(
                    f"sample.{name} has shape {column.shape}, expected {self.ranks.shape} like "
                    "sample.ranks"
                )

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Bool ``[t]``: ranked targets that stand beyond ``k_max``, whatever lies off the list."""
        if self.k_max is None:
            return np.zeros(len(self), dtype=bool)
        ahead = self.listed.astype(np.int64) + self.others
        return np.asarray((self.ranks > 0) & (ahead >= self.k_max))

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
