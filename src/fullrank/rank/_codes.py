"""Distinct ids of columns, and the codes of ids in a vocabulary; no sort of rows, no objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.threads import n_threads, run_chunks
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

_PIECE = 1 << 22  # rows that one task codes
_CLOSE = 1 << 22  # ids within such a range are looked up in a table of it, whatever their number
_DENSE = 2  # or within this many times their number
_SIGNED = 1 << 63
_FULL = 64  # rows of text for each id of a vocabulary: every piece sets up a table of all ids
_HEAD = 1 << 12  # rows that tell whether runs are short
_RUN = 4  # mean length of runs of one id from which text is coded by run


def distinct_ids(column: pl.Series) -> NDArray[Any]:
    """The distinct ids of a column without nulls, ascending: int64, uint64 or object (str)."""
    import polars as pl

    if column.dtype == pl.String:
        return np.array(_distinct_text(column).sort().to_list(), dtype=object)
    dtype = np.uint64 if column.dtype == pl.UInt64 else np.int64
    low, high = (int(end) for end in (column.min(), column.max()))  # type: ignore[arg-type]
    if high < _SIGNED and high - low < _room(len(column)):
        return _marked(column, low, high).astype(dtype, copy=False)
    return np.sort(_hashed(column).view(dtype))


def codes_of(column: pl.Series, vocab: Vocabulary) -> NDArray[np.int32]:
    """Codes of a column without nulls in a vocabulary of its kind: int32 ``[n]``, -1 if unknown."""
    import polars as pl

    if len(column) == 0 or len(vocab) == 0:
        return np.full(len(column), -1, np.int32)
    if column.dtype == pl.String:
        return _text_codes(column, vocab)
    if (column.dtype == pl.UInt64) != (vocab.ids.dtype == np.uint64):
        return vocab.encode(column.to_numpy())  # signed and unsigned, which only some values share
    return _integer_codes(column, vocab.ids)


def _room(rows: int) -> int:
    return max(_CLOSE, _DENSE * rows)


def _pieces(column: pl.Series) -> list[tuple[int, NDArray[np.int64]]]:
    """The integers of a column as they lie in memory: where each piece starts, and its bits."""

    def cut() -> Iterator[tuple[int, NDArray[np.int64]]]:
        start = 0
        for chunk in column.get_chunks():
            bits = chunk.to_numpy().view(np.int64)
            bits.flags.writeable = False  # so that kernels are compiled once
            for at in range(0, len(bits), _PIECE):
                yield start + at, bits[at : at + _PIECE]
            start += len(bits)

    return list(cut())


def _marked(column: pl.Series, low: int, high: int) -> NDArray[np.int64]:
    """Distinct integers that lie close together."""
    from fullrank.kernels.codes import mark_ids

    marks = np.zeros(high - low + 1, dtype=bool)
    pieces = _pieces(column)
    run_chunks(lambda i, _: mark_ids(pieces[i][1], low, marks), len(pieces), 1)
    return np.flatnonzero(marks) + low


def _hashed(column: pl.Series) -> NDArray[np.int64]:
    """The bits of distinct integers of any size, in no order."""
    from fullrank.kernels.codes import EMPTY, add_ids, fill_table

    size, n_found = 1 << 16, 0
    places, found = np.full(size, EMPTY, np.int32), np.empty(size // 2, np.int64)
    for _, bits in _pieces(column):
        at, n_found = add_ids(bits, 0, places, found, n_found)
        while at < len(bits):
            size *= 4
            places = np.full(size, EMPTY, np.int32)
            found = np.concatenate([found, np.empty(size // 2 - len(found), np.int64)])
            fill_table(found[:n_found], places)
            at, n_found = add_ids(bits, at, places, found, n_found)
    return found[:n_found]


def _integer_codes(column: pl.Series, ids: NDArray[Any]) -> NDArray[np.int32]:
    from fullrank.kernels.codes import EMPTY, fill_table, find_ids, look_up

    out = np.empty(len(column), dtype=np.int32)
    pieces = _pieces(column)
    low, high = int(ids[0]), int(ids[-1])
    known = ids.view(np.int64)
    if high < _SIGNED and high - low < _room(len(column)):
        codes = np.full(high - low + 1, -1, np.int32)
        codes[known - low] = np.arange(len(ids), dtype=np.int32)

        def code(i: int, _: int) -> None:
            start, bits = pieces[i]
            look_up(bits, low, codes, out[start : start + len(bits)])
    else:
        places = np.full(1 << (2 * len(ids)).bit_length(), EMPTY, np.int32)
        fill_table(known, places)

        def code(i: int, _: int) -> None:
            start, bits = pieces[i]
            find_ids(bits, places, known, out[start : start + len(bits)])

    run_chunks(code, len(pieces), 1)
    return out


def _distinct_text(column: pl.Series) -> pl.Series:
    import polars as pl

    parts = run_chunks(
        lambda start, stop: _starts(column.slice(start, stop - start))[0].unique(),
        len(column),
        _PIECE,
    )
    return pl.concat(parts).unique() if len(parts) > 1 else parts[0]


def _starts(part: pl.Series) -> tuple[pl.Series, NDArray[np.uint32] | None]:
    """The first element of each run of equal text, and the run of each row.

    Runs that are short on average aren't worth it: all elements, and None. The first rows mostly
    tell, so that not every row is compared with the one before.
    """
    if _short_runs(part.head(_HEAD).rle_id().to_numpy()):
        return part, None
    runs = part.rle_id().to_numpy()
    if _short_runs(runs):
        return part, None
    first = np.flatnonzero(np.append(True, runs[1:] != runs[:-1]))
    return part.gather(first), runs


def _short_runs(runs: NDArray[np.uint32]) -> bool:
    return len(runs) == 0 or (int(runs[-1]) + 1) * _RUN > len(runs)


def _text_codes(column: pl.Series, vocab: Vocabulary) -> NDArray[np.int32]:
    import polars as pl

    from fullrank.kernels.codes import expand

    labels = pl.Enum(pl.Series(vocab.ids, dtype=pl.String))
    out = np.empty(len(column), dtype=np.int32)

    def coded(text: pl.Series) -> NDArray[Any]:
        found = text.cast(labels, strict=False).to_physical()
        return (found.cast(pl.Int32).fill_null(-1) if found.null_count() else found).to_numpy()

    firsts: list[tuple[int, pl.Series, NDArray[np.uint32]]] = []

    def code(start: int, stop: int) -> None:
        text, runs = _starts(column.slice(start, stop - start))
        if runs is None:
            out[start:stop] = coded(text)
        else:
            firsts.append((start, text, runs))

    per_thread = -(-len(column) // n_threads())
    run_chunks(code, len(column), min(max(_PIECE, _FULL * len(vocab)), max(per_thread, 1)))
    if firsts:  # the runs of all pieces together
        codes = coded(pl.concat([text for _, text, _ in firsts]).rechunk()).astype(np.int32)
        ends = np.cumsum([len(text) for _, text, _ in firsts]).tolist()

        def spread(i: int, _: int) -> None:
            start, text, runs = firsts[i]
            expand(codes[ends[i] - len(text) : ends[i]], runs, out[start : start + len(runs)])

        run_chunks(spread, len(firsts), 1)
    return out
