"""Interactions: who met what, when, with which value, as dense codes in canonical order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core._order import Columns, canonical_rows, code_indptr, gathered
from fullrank.core.brief import brief, count
from fullrank.core.distinct import distinct_items
from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.frozen import frozen
from fullrank.core.random import hash_labels, row_hash_sums
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TimeUnit = Literal["s", "ms", "us", "ns", "order"]
Weights = Literal["binary", "count", "values"]
_WEIGHTS = ("binary", "count", "values")

NO_TIME = np.iinfo(np.int64).min
"""The ``times`` entry of a row whose time is not known."""

UNITS_PER_DAY: dict[str, int] = {
    "s": 86_400,
    "ms": 86_400_000,
    "us": 86_400_000_000,
    "ns": 86_400_000_000_000,
}


@dataclass(frozen=True, eq=False)
class Interactions:
    """Rows of (user, item) with optional value, time and extra columns.

    Rows are kept in canonical order (user, time, item, value, extra columns by name), so that
    nothing that follows depends on the order of the input, and the rows of a user are one slice.

    Attributes:
        users: int32 ``[n]`` codes into ``user_vocab``, ascending.
        items: int32 ``[n]`` codes into ``item_vocab``.
        user_vocab: the outside user ids; may hold users without rows.
        item_vocab: the outside item ids; may hold items without rows.
        values: float64 ``[n]`` (ratings, counts, …) or None.
        times: int64 ``[n]`` since 1970 in ``time_unit`` (or a place in a sequence for
            ``"order"``), ``NO_TIME`` where it isn't known; or None.
        time_unit: unit of ``times``.
        extras: further columns ``[n]`` by name (integers, floats, bools or text).
        recipe: what was done to the rows so far, one small dict a step.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    user_vocab: Vocabulary
    item_vocab: Vocabulary
    values: NDArray[np.float64] | None = None
    times: NDArray[np.int64] | None = None
    time_unit: TimeUnit = "s"
    extras: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    recipe: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        n = len(self.users)
        columns = {"users": self.users, "items": self.items, **self.extras}
        if self.values is not None:
            columns["values"] = self.values
        if self.times is not None:
            columns["times"] = self.times
        for name, column in columns.items():
            if column.shape != (n,):
                raise DataError(f"column {name!r} has shape {column.shape}, expected ({n},)")
        for name, codes, size in (
            ("users", self.users, len(self.user_vocab)),
            ("items", self.items, len(self.item_vocab)),
        ):
            if codes.dtype != np.int32:
                raise DataError(f"{name} must be int32 codes, got {codes.dtype}")
            if n and (int(codes.min()) < 0 or int(codes.max()) >= size):
                raise DataError(f"{name} must lie in [0, {size}), got {codes.min()}…{codes.max()}")
        if self.values is not None and n and not bool(np.isfinite(self.values).all()):
            row = int(np.flatnonzero(~np.isfinite(self.values))[0])
            raise DataError(
                f"values must be finite, got {self.values[row]} for user "
                f"{self.user_vocab.label(self.users[row])} and item "
                f"{self.item_vocab.label(self.items[row])}; drop or fill such rows"
            )
        rows = canonical_rows(self._columns(), len(self.user_vocab))
        if rows is not None:
            self._reorder(rows)
        self._freeze()

    def __repr__(self) -> str:
        return brief(
            self,
            count(len(self.users), "row"),
            count(len(self.user_vocab), "user"),
            count(len(self.item_vocab), "item"),
            None if self.values is None else "values",
            self._span(),
            f"extras {', '.join(self.extras)}" if self.extras else None,
        )

    def _span(self) -> str | None:
        """Unit of the times, with the first and the last day where there are days."""
        if self.times is None:
            return None
        known = self.times[self.times != NO_TIME]
        if self.time_unit == "order" or not len(known):
            return f"times in {self.time_unit}"
        ends = np.array([known.min(), known.max()]).astype(f"datetime64[{self.time_unit}]")
        first, last = ends.astype("datetime64[D]")
        return f"times in {self.time_unit} from {first} to {last}"

    def _freeze(self) -> None:
        """Make the columns read-only: models share them, and one must not change another's data."""
        for name in ("users", "items", "values", "times"):
            column = getattr(self, name)
            if column is not None:
                object.__setattr__(self, name, frozen(column))
        object.__setattr__(self, "extras", {k: frozen(v) for k, v in self.extras.items()})

    def _columns(self) -> Columns:
        values = None if self.values is None else frozen(self.values)
        times = None if self.times is None else frozen(self.times)
        return Columns(frozen(self.users), frozen(self.items), values, times, self.extras)

    def _is_canonical(self) -> bool:
        """True if the rows are in order, the extra columns included."""
        return canonical_rows(self._columns(), self.n_users) is None

    def _reorder(self, rows: NDArray[np.int64]) -> None:
        for name in ("users", "items", "values", "times"):
            column = getattr(self, name)
            if column is not None:
                object.__setattr__(self, name, gathered(column, rows))
        object.__setattr__(self, "extras", {k: gathered(v, rows) for k, v in self.extras.items()})

    def __len__(self) -> int:
        return len(self.users)

    @property
    def n_users(self) -> int:
        """Size of the user vocabulary (users without rows included)."""
        return len(self.user_vocab)

    @property
    def n_items(self) -> int:
        """Size of the item vocabulary (items without rows included)."""
        return len(self.item_vocab)

    @property
    def user_ids(self) -> NDArray[Any]:
        """Outside user id of each row ``[n]``."""
        return self.user_vocab.decode(self.users)

    @property
    def item_ids(self) -> NDArray[Any]:
        """Outside item id of each row ``[n]``."""
        return self.item_vocab.decode(self.items)

    @cached_property
    def user_indptr(self) -> NDArray[np.int64]:
        """int64 ``[n_users + 1]``: the rows of user ``u`` are ``indptr[u]:indptr[u + 1]``."""
        return code_indptr(self.users, self.n_users)

    @cached_property
    def user_counts(self) -> NDArray[np.int64]:
        """int64 ``[n_users]``: rows of each user."""
        return np.diff(self.user_indptr)

    @cached_property
    def item_counts(self) -> NDArray[np.int64]:
        """int64 ``[n_items]``: rows of each item."""
        return np.diff(code_indptr(self.items, self.n_items))

    def column(self, name: str) -> NDArray[Any]:
        """Return ``values`` or an extra column by name.

        Raises:
            SpecError: there is no such column; names the nearest.
        """
        if name in self.extras:
            return self.extras[name]
        if name in ("value", "values", "rating") and self.values is not None:
            return self.values
        known = [*self.extras, *(["values"] if self.values is not None else [])]
        raise SpecError(f"there is no column {name!r} in the interactions{suggest(name, known)}")

    def take(self, rows: NDArray[Any], step: Mapping[str, Any] | None = None) -> Interactions:
        """Keep some rows (indices or a mask); the vocabularies stay, so codes do too.

        Args:
            rows: bool mask ``[n]`` or row numbers.
            step: recorded in the recipe.
        """
        if rows.dtype != bool:
            rows = np.sort(np.where(rows < 0, rows + len(self), rows))
        return self._with(
            users=self.users[rows],
            items=self.items[rows],
            values=None if self.values is None else self.values[rows],
            times=None if self.times is None else self.times[rows],
            extras={k: v[rows] for k, v in self.extras.items()},
            recipe=self.recipe if step is None else (*self.recipe, step),
        )

    def compact(self) -> Interactions:
        """Shrink the vocabularies to the users and items that have rows (codes change)."""
        users, items = np.flatnonzero(self.user_counts), np.flatnonzero(self.item_counts)
        return self._with(
            users=gathered(_places(users, self.n_users), self.users),
            items=gathered(_places(items, self.n_items), self.items),
            user_vocab=Vocabulary(self.user_vocab.ids[users], self.user_vocab.name),
            item_vocab=Vocabulary(self.item_vocab.ids[items], self.item_vocab.name),
        )

    def _with(self, **changed: Any) -> Interactions:
        # Checked rows in canonical order stay so: built without __post_init__.
        out = object.__new__(Interactions)
        for name in self.__dataclass_fields__:
            object.__setattr__(out, name, changed.get(name, getattr(self, name)))
        out._freeze()
        return out

    def require_times(self, purpose: str) -> NDArray[np.int64]:
        """Return ``times``, or refuse with what to do if some or all are missing."""
        if self.times is None:
            raise DataError(
                f"{purpose} needs a time for every row, and these data have no time column; "
                "name it (columns={'timestamp': 'NAME'}, or --columns timestamp=NAME on the "
                "command line), or take a split that needs no time"
            )
        missing = int(np.count_nonzero(self.times == NO_TIME))
        if missing:
            raise DataError(
                f"{purpose} needs a time for every row, and {missing:,} of {len(self):,} rows "
                "have none; drop them by the filter drop_missing_time (--filter "
                "drop_missing_time={}, { drop_missing_time = {} } in a benchmark file, "
                "DropMissingTime() in Python), or take a split without time"
            )
        return self.times

    def csr(self, weights: Weights = "binary") -> csr_matrix:
        """The users × items matrix, cached per kind of weight.

        Args:
            weights: ``"binary"`` (1 for each distinct pair), ``"count"`` (rows of the pair) or
                ``"values"`` (the value of the pair's last row in time).

        Returns:
            float32 CSR ``[n_users, n_items]`` with sorted indices and no duplicates.
        """
        cache: dict[str, csr_matrix] = self.__dict__.setdefault("_csr", {})
        if weights not in cache:
            cache[weights] = self._csr_of(weights)
        return cache[weights]

    def _csr_of(self, weights: Weights) -> csr_matrix:
        from scipy.sparse import csr_matrix

        if weights not in _WEIGHTS:
            raise SpecError(f"weights {weights!r}{suggest(weights, _WEIGHTS)}")
        if weights == "values" and self.values is None:
            raise DataError("these interactions have no values; use weights='binary'")
        indptr, indices, data = distinct_items(
            self.user_indptr,
            self.items,
            self.n_items,
            keep="last" if weights == "values" else "count",
            values=self.values if weights == "values" else None,
            dtype=None if weights == "binary" else np.float32,
        )
        if weights == "binary":
            data = np.ones(len(indices), dtype=np.float32)
        small = np.int32 if len(indices) < 2**31 else np.int64
        parts = (data, indices.astype(small, copy=False), indptr.astype(small))
        out = csr_matrix(parts, shape=(self.n_users, self.n_items))
        out.has_sorted_indices = True
        out.has_canonical_format = True
        for part in (out.data, out.indices, out.indptr):  # cached, so shared
            part.flags.writeable = False
        return out

    @cached_property
    def fingerprint(self) -> str:
        """128 bits of hex over the rows by outside id: free of row order and of unused ids."""
        users, items = self.user_vocab.hashes, self.item_vocab.hashes
        columns = [lambda rows: users[self.users[rows]], lambda rows: items[self.items[rows]]]
        if (values := self.values) is not None:
            columns.append(lambda rows: (values[rows] + 0.0).view(np.uint64))
        if (times := self.times) is not None:
            columns.append(lambda rows: times[rows].view(np.uint64))
        extras = [_column_bits(self.extras[name]) for name in sorted(self.extras)]
        columns += [column.__getitem__ for column in extras]
        total = row_hash_sums((1, 2), len(self), columns)
        head = f"{len(self)}|{self.values is None}|{self.times is None}|{self.time_unit}"
        head += "|" + ",".join(sorted(self.extras))
        digest = hashlib.blake2b(head.encode() + total.tobytes(), digest_size=16)
        return digest.hexdigest()


def _places(kept: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Place of each kept code among the kept ones: int32 ``[n]``."""
    out = np.zeros(n, dtype=np.int32)
    out[kept] = np.arange(len(kept), dtype=np.int32)
    return out


def _column_bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    if column.dtype.kind in "OUT":
        labels, codes = np.unique(column.astype(str), return_inverse=True)
        return hash_labels(labels)[codes]
    if column.dtype.kind == "f":
        return (column.astype(np.float64) + 0.0).view(np.uint64)
    return column.astype(np.int64).view(np.uint64)
