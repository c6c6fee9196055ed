"""Adaptive designs: what a design says while a ranking among candidates is on its way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.negatives import Negatives
from fullrank.rank._catalogue import Catalogue


@dataclass(frozen=True, eq=False)
class Lists:
    """Items that the targets of each query are compared with before anything is drawn.

    Attributes:
        indptr: int64 ``[q + 1]``.
        items: int32 item codes: of the catalogue, neither history nor targets, each once.
        k_max: a target with as many of them and of other targets ahead is compared with no more.
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    k_max: int


@dataclass(frozen=True, kw_only=True)
class Adaptive(ABC):
    """A design that draws more for some targets, by what was found so far.

    Whether to go on may depend on a target's hits so far, on coins and on what is known of the
    query, and on nothing else: then the likelihood of a sampled rank is that of a fixed size.
    """

    @property
    @abstractmethod
    def negatives(self) -> Negatives:
        """What is drawn from; ``m`` is the first number of draws."""

    @abstractmethod
    def more(
        self,
        stage: int,
        drawn: NDArray[np.int64],
        hits: NDArray[np.int64],
        pool: NDArray[np.int64],
        coins: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Draws wanted in all for each target that was extended in every stage so far.

        Args:
            stage: number of stages done, from 1.
            drawn: int64 ``[n]`` draws so far.
            hits: int64 ``[n]`` of them that precede the target.
            pool: int64 ``[n]`` candidates that could be drawn.
            coins: float64 ``[n]`` uniform in [0, 1), of the query and stage.

        Returns:
            int64 ``[n]``; what isn't above ``drawn`` ends the target.
        """

    def lists(
        self, queries: Queries, catalogue: Catalogue, *, seed: int, workers: int
    ) -> Lists | None:
        """Items to compare the targets of each query with first; by default none."""
        return None

    def settings(self) -> dict[str, Any]:
        """Settings by name, for provenance."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}
