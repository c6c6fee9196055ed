"""Vocabulary: sorted outside ids and their dense codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief
from fullrank.core.errors import DataError, IdTypeError
from fullrank.core.frozen import frozen
from fullrank.core.random import hash_labels, mix
from fullrank.core.text import quoted
from fullrank.core.threads import run_chunks

if TYPE_CHECKING:
    import polars as pl

IdKind = Literal["integer", "text"]
_LARGEST = np.iinfo(np.int64).max
_ROWS = 1 << 20


def id_kind(ids: NDArray[Any]) -> IdKind:
    """Tell whether an array of ids holds integers or text; other types are an error."""
    if ids.dtype.kind in "iu":
        return "integer"
    if ids.dtype.kind in "UT" or (
        ids.dtype == object and all(isinstance(x, str) for x in ids[:1000])
    ):
        return "text"
    raise IdTypeError(
        f"ids must be integers or text, got dtype {ids.dtype} (first: {ids[:1].tolist()!r}); "
        "convert the column, floats to integers only where no id is missing"
    )


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The outside ids of users or items; the code of an id is its place in sorted order.

    Attributes:
        ids: int64, uint64 or object (str) ``[n]``, strictly ascending.
        name: what the ids are of, for messages (``"user"``, ``"item"``).
    """

    ids: NDArray[Any]
    name: str = field(default="id")

    def __post_init__(self) -> None:
        kind = id_kind(self.ids)
        ids = self.ids.astype(object) if kind == "text" else self.ids
        if ids.dtype.kind in "iu" and ids.dtype not in (np.int64, np.uint64):
            ids = ids.astype(np.int64)
        if ids.ndim != 1 or (len(ids) > 1 and not bool(np.all(ids[1:] > ids[:-1]))):
            raise DataError(
                f"{self.name} ids of a Vocabulary must be unique and sorted; use Vocabulary.of"
            )
        ids.flags.writeable = False
        object.__setattr__(self, "ids", ids)

    @classmethod
    def of(cls, values: NDArray[Any] | list[Any], name: str = "id") -> Vocabulary:
        """Build the vocabulary of all distinct ids in ``values``."""
        array = _as_ids(values)
        id_kind(array)
        return cls(np.unique(array), name)

    @classmethod
    def union(cls, vocabs: Sequence[Vocabulary]) -> Vocabulary:
        """The vocabulary of all ids of several, named as the first.

        Raises:
            IdTypeError: text ids in one and integers in another.
            DataError: ids below 0 in one and above 2^63 - 1 in another.
        """
        name, filled = vocabs[0].name, [vocab for vocab in vocabs if len(vocab)] or [vocabs[0]]
        for vocab in filled[1:]:
            filled[0].check_kind(vocab.ids)
        parts = [vocab.ids for vocab in filled]
        if len({part.dtype for part in parts}) > 1:  # NumPy would pass through floats
            lowest, highest = min(int(p[0]) for p in parts), max(int(p[-1]) for p in parts)
            dtype = np.uint64 if highest > _LARGEST else np.int64
            if dtype is np.uint64 and lowest < 0:
                raise _no_common_type(name, lowest, highest)
            parts = [part.astype(dtype) for part in parts]
        return cls(np.unique(np.concatenate(parts)), name)

    @property
    def kind(self) -> IdKind:
        """``"integer"`` or ``"text"``."""
        return "integer" if self.ids.dtype.kind in "iu" else "text"

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        ends = f"{self.label(0)} … {self.label(-1)}" if len(self) else None
        return brief(self, f"{len(self):,} {self.name} ids", self.kind, ends)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (
            self.kind == other.kind and bool(np.array_equal(self.ids, other.ids))
        )

    __hash__ = None  # type: ignore[assignment]

    def encode(self, values: NDArray[Any] | list[Any]) -> NDArray[np.int32]:
        """Map outside ids to codes, -1 for unknown ones.

        Args:
            values: ``[n]`` ids of the vocabulary's own kind.

        Raises:
            IdTypeError: text ids against integer ids (or the reverse), with one of each.
        """
        array = _as_ids(values)
        if len(array) == 0 or len(self) == 0:
            return np.full(len(array), -1, dtype=np.int32)
        self.check_kind(array)
        if self.kind == "text":
            codes = self._text_codes
            return np.fromiter((codes.get(label, -1) for label in array), np.int32, len(array))
        array, possible = self._alike(array)
        found = self._find(np.ascontiguousarray(array).view(np.int64))
        return found if possible is np.True_ else np.where(possible, found, np.int32(-1))

    def _find(self, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """Codes of integers, given by their bits; -1 for unknown ones."""
        from fullrank.kernels.lookup import find_codes

        out = np.empty(len(values), dtype=np.int32)
        ids, values = self.ids.view(np.int64), frozen(values)

        def find(start: int, stop: int) -> None:
            find_codes(values[start:stop], ids, self._table, out[start:stop])

        self._table  # noqa: B018  (made once, before the threads start)
        run_chunks(find, len(values), _ROWS)
        return out

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        from fullrank.kernels.lookup import fill_table

        size = 1 << max(int(2 * len(self) - 1).bit_length(), 4)
        out = np.full(size, -1, dtype=np.int32)
        fill_table(self.ids.view(np.int64), out)
        return frozen(out)

    @cached_property
    def _text_codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.ids)}

    def _alike(self, array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | np.bool_]:
        """Ids in the type of our own, and which of them it can hold.

        Signed and unsigned integers of 64 bits meet as floats in NumPy, which can't tell large
        neighbours apart.
        """
        if array.dtype == self.ids.dtype:
            return array, np.True_
        possible: NDArray[np.bool_] | np.bool_ = np.True_
        if self.ids.dtype == np.uint64 and array.dtype.kind == "i":
            possible = array >= 0
        elif self.ids.dtype == np.int64 and array.dtype == np.uint64:
            possible = array <= np.uint64(_LARGEST)
        return array.astype(self.ids.dtype), possible

    def check_kind(self, values: NDArray[Any]) -> None:
        """Refuse ids of the other kind, which would match nothing without a word."""
        if len(values) and len(self) and id_kind(values) != self.kind:
            raise IdTypeError(
                f"{self.name} ids are {self.kind} here (such as {self.label(0)}) but "
                f"{id_kind(values)} there (such as {_plain(values[0])!r}): nothing would match; "
                f"convert one side to the other's type"
            )

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Map codes to outside ids."""
        out: NDArray[Any] = self.ids[codes]
        return out

    def series(self, codes: NDArray[np.integer[Any]]) -> pl.Series:
        """Outside ids as a Polars column of their own type."""
        import polars as pl

        return pl.Series(self.ids, dtype=pl.String if self.kind == "text" else None).gather(codes)

    def label(self, code: int) -> str:
        """An outside id as it is written in Python, for messages: ``'u17'`` or ``7``."""
        return quoted(self.ids[int(code)].item() if self.kind == "integer" else str(self.ids[code]))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """uint64 ``[n]``, a hash of each outside id: stable for any vocabulary that holds it."""
        if self.kind == "integer":
            return mix(self.ids.astype(np.uint64))
        return hash_labels(self.ids)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _as_ids(values: NDArray[Any] | list[Any]) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind == "U":
        array = array.astype(object)
    if array.dtype.kind == "O" and len(array) and not isinstance(array[0], str):
        values = array.tolist()
        array = np.asarray(values)
    if array.dtype.kind in "fO" and not isinstance(values, np.ndarray):
        _refuse_wide(values)
    return array


def _refuse_wide(values: Sequence[Any]) -> None:
    """Refuse whole numbers that NumPy holds as floats or objects, as no integer type has them all.

    Raises:
        DataError: ids beyond 64 bits, or below 0 and above 2^63 - 1.
    """
    if values and all(isinstance(x, int | np.integer) for x in values):
        raise _no_common_type("id", int(min(values)), int(max(values)))


def _no_common_type(name: str, lowest: int, highest: int) -> DataError:
    return DataError(
        f"{name} ids reach from {lowest} to {highest}, and no 64-bit integer type holds both; "
        "make them text on all sides: put a letter before each"
    )
