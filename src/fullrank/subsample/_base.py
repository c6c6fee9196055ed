"""Sampler: the order in which the rows of a training set are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import plain_settings

if TYPE_CHECKING:
    from fullrank.subsample._importance import Importance

Size = Literal["exact", "whole", "faithful"]
SIZES = ("exact", "whole", "faithful")


@dataclass(frozen=True, eq=False)
class Order:
    """Which rows are kept before others.

    Attributes:
        keys: numbers ``[n]``, one a row: smaller ones are kept first, rows of one key are a unit
            that is kept or dropped as a whole, or trimmed at random to hit a size exactly.
        about: what the manifest shall say of how it came about (a proxy and its training, …).
        importance: of the rows, where the order comes from one.
    """

    keys: NDArray[Any]
    about: Mapping[str, Any] = field(default_factory=dict)
    importance: Importance | None = None


@dataclass(frozen=True)
class Sampler(ABC):
    """A way to choose training rows. Subclasses are frozen dataclasses of settings.

    A sampler gives an order, and a sample is the beginning of it: so a smaller sample lies in
    every larger one of the same seed, and any size can be hit exactly.

    Class attributes:
        seeded: another ``rng`` gives another sample, beyond the trimmed unit.
        exact: the size that was asked for can be met; else the nearest possible one is taken.
        published: ``size="faithful"`` does as the code of Sachdeva, Wu & McAuley 2022 does.
    """

    seeded: ClassVar[bool] = True
    exact: ClassVar[bool] = True
    published: ClassVar[bool] = False

    @abstractmethod
    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """Order the rows.

        Args:
            train: training rows.
            seed: of the draws.
            rows: how many are kept at most; the order of what comes later doesn't matter.
        """

    @property
    def units(self) -> str:
        """What is kept or dropped as a whole: interactions, users, items or nodes."""
        return "interactions"

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """Rows that the published code keeps: bool ``[n]``, and what the manifest says of it.

        Args:
            train: training rows.
            removed: share of the rows that is asked to go.
            seed: of the draws.

        Raises:
            SpecError: the strategy is not in that code.
        """
        raise SpecError(
            f"{self.name} is no strategy of the published code, so there is nothing to be faithful "
            "to; take size 'exact' or 'whole'"
        )

    @property
    def name(self) -> str:
        """The registered name."""
        return type(self).__name__

    @property
    def settings(self) -> dict[str, Any]:
        """Settings by name, for provenance."""
        return plain_settings(self)

    def __str__(self) -> str:
        from fullrank.core.call import written

        return written(self, self.name)
