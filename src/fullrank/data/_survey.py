"""What the columns of delimited text hold, found in one pass over its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.threads import run_chunks
from fullrank.data._columns import ID_ROLES, assign_roles
from fullrank.data._options import ReadOptions

PolarsType = type[pl.DataType]

_CHUNK = 1 << 24
_NUMERIC = frozenset("0123456789-.\r\n")


class Dialect(NamedTuple):
    """How fields are parted and quoted: see ``ReadOptions``."""

    separator: str
    quote: str
    escape: str | None


def survey_text(
    data: bytes, dialect: Dialect, width: int, header: bool
) -> NDArray[np.uint8] | None:
    """Bits of ``kernels.survey`` for each column, or None if the text isn't plain.

    Args:
        data: the text in UTF-8.
        dialect: of the text.
        width: number of columns.
        header: the first line doesn't count.
    """
    from fullrank.kernels.survey import survey

    separator, quote, escape = dialect
    if len(separator) != 1 or separator == " " or separator in _NUMERIC or escape:
        return None
    array = np.frombuffer(data, dtype=np.uint8)
    edges = [0]
    for at in range(_CHUNK, len(data), _CHUNK):
        edge = data.find(b"\n", max(at, edges[-1])) + 1
        edges += [edge] if edge else []
    edges.append(len(data))
    kinds = np.zeros((len(edges) - 1, width), dtype=np.uint8)

    def look(at: int, _: int) -> bool:
        start, stop = edges[at], edges[at + 1]
        skip = int(header and at == 0)
        sign = ord(quote) if quote else -1
        return survey(array, start, stop, ord(separator), sign, skip, kinds[at])

    plain = run_chunks(look, len(kinds), 1)
    return np.bitwise_or.reduce(kinds, axis=0) if all(plain) else None


def column_types(
    names: Sequence[str], kinds: NDArray[np.uint8], options: ReadOptions, where: str
) -> dict[str, PolarsType]:
    """Types of the columns that hold nothing but numbers (and empty fields).

    Ids written as decimals stay text: whether they are whole is looked at later, with a note.

    Raises:
        SpecError, DataError: see ``assign_roles``.
    """
    from fullrank.kernels.survey import DECIMAL, EMPTY, WHOLE

    roles = assign_roles(names, options.columns, options.kind, where)
    ids = {roles[role] for role in ID_ROLES}
    out: dict[str, PolarsType] = {}
    for name, kind in zip(names, kinds & ~np.uint8(EMPTY)):
        if kind == WHOLE:
            out[name] = pl.Int64
        elif kind in (DECIMAL, DECIMAL | WHOLE) and name not in ids:
            out[name] = pl.Float64
    return out
