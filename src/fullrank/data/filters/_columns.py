"""Look a column up for a filter, with errors that name the filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.data._columns import naming

if TYPE_CHECKING:
    from fullrank.data.filters._base import Filter


def number_column(filter_: Filter, data: Interactions, name: str) -> NDArray[Any]:
    """Return ``values`` or an extra column ``[n]`` of numbers.

    Raises:
        DataError: the data have no values.
        SpecError: there is no extra column of that name.
    """
    if name == "values" and data.values is None:
        raise DataError(
            f"{filter_} looks at the values of the rows, and these data have none; "
            f"name the rating column when reading ({naming('rating')}), or leave the filter out"
        )
    column = data.column(name)
    if column.dtype.kind not in "iufb":
        raise DataError(f"{filter_} needs numbers, and column {name!r} holds {column.dtype}")
    return column
