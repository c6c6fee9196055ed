"""Metric: a value such as ``NDCG(gain="linear") @ 10`` that turns ranks into numbers."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import total_ordering
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.ranked import UNRANKED
from fullrank.core.state import State


@total_ordering
@dataclass(frozen=True, kw_only=True, repr=False)
class Metric(ABC):
    """Base of all metrics. Subclasses are frozen dataclasses whose fields are the options.

    A plug-in needs ``name`` and ``per_query``; its module holds one instance, the name that
    people use (``NDCG``), and options are set by calling it: ``NDCG(gain="linear") @ 10``.

    Class attributes:
        name: as printed and registered; parsed without regard to case, ``-`` and ``_``.
        aliases: other names that are understood.
        choices: the values that an option allows, by option.
        cutoff: whether the metric may have, must have, or can't have a ``k``.
        source: what it is computed from: ``TargetRanks`` or ``Predictions``.
        higher_is_better: False for errors and ranks.
        bounds: smallest and largest value.

    Attributes:
        k: cut-off, or None for the whole ranking.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    cutoff: ClassVar[Literal["optional", "required", "none"]] = "optional"
    source: ClassVar[Literal["ranks", "predictions"]] = "ranks"
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    k: int | None = None

    @abstractmethod
    def per_query(self, data: Any) -> NDArray[np.float64]:
        """Value of each query: float64 ``[q]``, NaN where it is undefined."""

    def finish(self, mean: float) -> float:
        """Turn the mean of per-query values into the metric (a root, for RMSE)."""
        return mean

    def state(self, data: Any) -> State:
        """What the mean needs, mergeable over parts of the queries; ``finish`` its value."""
        return State.of(self.per_query(data), data.users)

    def value(self, data: Any) -> float:
        """The metric over all queries, undefined ones left out; NaN if none is defined."""
        return self.finish(self.state(data).value)

    def check(self) -> Self:
        """Return the metric if it can be evaluated as it stands.

        Raises:
            SpecError: it needs a cut-off and has none.
        """
        if self.cutoff == "required" and self.k is None:
            raise SpecError(
                f"{self.name} of a whole ranking says nothing about the ranking; "
                f"give a cut-off, such as {self}@10"
            )
        return self

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", self._checked_k(self.k))
        for option, allowed in self.choices.items():
            given = getattr(self, option)
            if not isinstance(given, str) or given.lower() not in allowed:
                raise SpecError(
                    f"{self.name}: {option} must be one of {', '.join(allowed)}, "
                    f"got {given!r}{suggest(str(given), allowed)}"
                )
            object.__setattr__(self, option, given.lower())

    def _checked_k(self, k: object) -> int:
        if self.cutoff == "none":
            raise SpecError(f"{self.name} takes no cut-off, got @{k}; write {self.name}")
        if not isinstance(k, Integral) or isinstance(k, bool) or int(k) < 1:
            raise SpecError(f"{self.name}: the cut-off k must be a whole number >= 1, got {k!r}")
        if int(k) >= UNRANKED:
            raise SpecError(
                f"{self.name}: the cut-off k must be below {UNRANKED:,}, which no ranking reaches; "
                "take a smaller one"
            )
        return int(k)

    def _number(self, option: str, low: float, high: float = math.inf) -> None:
        """Check an option that must lie strictly between two numbers; keep it as a float."""
        given = getattr(self, option)
        number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
        if not number or not low < given < high or not abs(given) <= sys.float_info.max:
            below = "" if high == math.inf else f" and below {high:g}"
            raise SpecError(
                f"{self.name}: {option} must be a number above {low:g}{below}, got {given!r}"
            )
        object.__setattr__(self, option, float(given))

    def __call__(self, **options: Any) -> Self:
        """The same metric with other options."""
        known = [f.name for f in fields(self)]
        for option in options:
            if option not in known:
                raise SpecError(
                    f"{self.name} has no option {option!r}{suggest(option, known)}"
                    if len(known) > 1 or self.cutoff != "none"
                    else f"{self.name} has no options, got {option!r}"
                )
        return replace(self, **options)

    @overload
    def __matmul__(self, k: int) -> Self: ...
    @overload
    def __matmul__(self, k: Iterable[int]) -> tuple[Self, ...]: ...
    def __matmul__(self, k: int | Iterable[int]) -> Self | tuple[Self, ...]:
        """Set the cut-off: ``NDCG @ 10``, or ``NDCG @ [10, 20]`` for a tuple of metrics."""
        if isinstance(k, Iterable) and not isinstance(k, str):
            return tuple(self @ one for one in k)
        return replace(self, k=self._checked_k(k))

    @property
    def options(self) -> dict[str, Any]:
        """Options that differ from their defaults, by name, without ``k``; sorted."""
        changed = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "k" and getattr(self, f.name) != f.default
        }
        return dict(sorted(changed.items()))

    def __str__(self) -> str:
        options = ",".join(f"{name}={_text(value)}" for name, value in self.options.items())
        cut = "" if self.k is None else f"@{self.k}"
        return self.name + (f"({options})" if options else "") + cut

    def __repr__(self) -> str:
        return str(self)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return self._key() < other._key()

    def _key(self) -> tuple[str, str, float]:
        """Name, then options, then ``k`` by size; the whole ranking last."""
        whole = str(replace(self, k=None))
        return self.name, whole, math.inf if self.k is None else self.k


def _text(value: object) -> str:
    """Shortest text that parses back: whole floats without their point."""
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return str(value) if isinstance(value, str) else repr(value)
