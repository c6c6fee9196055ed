"""Settings chosen by leaving out data sets, never single cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError

S = TypeVar("S")
_FOLDS = 5


def folds(data: NDArray[np.int64]) -> Iterator[NDArray[np.bool_]]:
    """Rows left out in turn: bool ``[n]``, whole data sets, each once, in at most five folds."""
    sets = np.unique(data)
    for part in np.array_split(sets, min(_FOLDS, len(sets))):
        yield np.isin(data, part)


def chosen(
    options: Sequence[S],
    data: NDArray[np.int64],
    loss: Callable[[S, NDArray[np.bool_]], float],
) -> S:
    """The option with the smallest mean loss over the folds; the first of several.

    Args:
        options: at least one; a single one is not judged.
        data: int64 ``[n]``, the data set of each row.
        loss: of an option fitted without the rows of a fold, on those rows.

    Raises:
        DataError: there is a choice, and rows of one data set alone.
    """
    if len(options) == 1:
        return options[0]
    parts = list(folds(data))
    if len(parts) < 2:
        raise DataError(
            "settings are chosen by leaving data sets out, and only one has cells (or pairs of "
            f"samplers with different taus) to learn from; give one setting, of {list(options)!r}"
        )
    means = [float(np.mean([loss(option, part) for part in parts])) for option in options]
    return options[int(np.argmin(means))]
