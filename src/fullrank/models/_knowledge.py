"""What is known of items beside the log: triples of a knowledge graph, and vectors, from files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, told
from fullrank.core.random import derive, hash_elements, hash_labels, hash_of_rows
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

    from fullrank.data._options import Table

_ROLES = {
    "head": ("head", "headid", "subject", "h"),
    "relation": ("relation", "relationid", "predicate", "r"),
    "tail": ("tail", "tailid", "object", "t"),
}
_VECTOR = "vector"
_LARGEST = 1e30
"""Entries of vectors are scaled in float32, which ends at 3.4e38."""


@dataclass(frozen=True, eq=False)
class Triples:
    """Distinct triples, by codes that follow the sorted names, so that rows in any order do.

    Attributes:
        nodes: names of heads and tails, sorted.
        relations: names of relations, sorted.
        rows: int64 ``[n, 3]`` of head, relation and tail, sorted.
        hashes: uint64 ``[n]`` of the names of each row.
    """

    nodes: Vocabulary
    relations: Vocabulary
    rows: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    @classmethod
    def read(cls, path: str | Path) -> Triples:
        """Read a file with the columns head, relation and tail, or of these three without names.

        Raises:
            DataError: no such file or columns, a missing name, or no rows.
        """
        heads, relations, tails = _columns_of_triples(path)
        nodes = Vocabulary.of([*heads, *tails], "node")
        kinds = Vocabulary.of(relations, "relation")
        named = (nodes.encode(heads), kinds.encode(relations), nodes.encode(tails))
        rows = np.unique(np.stack(named, axis=1).astype(np.int64), axis=0)
        of_nodes, of_kinds = hash_labels(nodes.ids), hash_labels(kinds.ids)
        hashes = hash_elements(0, of_nodes[rows[:, 0]], of_kinds[rows[:, 1]], of_nodes[rows[:, 2]])
        return cls(nodes, kinds, rows, hashes)

    @property
    def fingerprint(self) -> str:
        """Hex that tells two sets of triples apart."""
        return hash_of_rows(self.hashes)

    def of_items(self, items: Vocabulary) -> NDArray[np.int64]:
        """Node of each item ``[n_items]``, -1 for those of no triple.

        Raises:
            DataError: no item is in any.
        """
        found = self.nodes.encode([str(one) for one in items.ids.tolist()]).astype(np.int64)
        if not (found >= 0).any():
            raise DataError(
                f"none of the {len(items):,} items is a head or tail (first: item "
                f"{items.label(0)}, there: {self.nodes.ids[0]!r}); items must stand there under "
                "their ids of the log"
            )
        return found


class Corrupted:
    """Draws of a wrong tail for triples, and the order that they are taken in.

    A wrong tail is a node that doesn't follow the triple's head and relation anywhere, each with
    the same probability: a function of seed, pass and the triple's names. Triples whose head and
    relation every node follows have none, and are left out.

    Attributes:
        rows: int64 ``[n]`` of the triples that have a wrong tail.
    """

    def __init__(self, triples: Triples, seed: int) -> None:
        self._triples, self._seed = triples, seed
        n = len(triples.nodes)
        _, pair = np.unique(triples.rows[:, :2], axis=0, return_inverse=True)
        pair = pair.reshape(-1).astype(np.int64)
        counts = np.bincount(pair)
        self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        self._pair, self._free = pair, n - counts
        # The place of a pair's j-th tail among all nodes, less the j tails before it.
        place = triples.rows[:, 2] - (np.arange(len(pair)) - self._starts[pair])
        self._keys = pair * (n + 1) + place
        self.rows = np.flatnonzero(self._free[pair] > 0)
        if not len(self.rows):
            raise DataError(
                f"each of the {len(pair):,} triples has a head and relation that every node "
                "follows, so that no wrong triple can be drawn; leave the file out, or add others"
            )

    def draw(self, rows: NDArray[np.int64], turn: int) -> NDArray[np.int64]:
        """A wrong tail of each row ``[b]`` in some pass."""
        bits = hash_elements(derive(self._seed, "tail", turn), self._triples.hashes[rows])
        pair = self._pair[rows]
        share = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        chosen = (share * self._free[pair]).astype(np.int64)
        key = pair * (len(self._triples.nodes) + 1) + chosen
        before = np.searchsorted(self._keys, key, side="right") - self._starts[pair]
        return np.asarray(chosen + before, dtype=np.int64)

    def take(self, start: int, n: int) -> NDArray[np.int64]:
        """Triples ``start … start + n`` of an endless row of passes: int64 ``[n, 4]``.

        Each pass has every triple once, in an order of its own; the last column is a wrong tail.
        """
        found = []
        while n > 0:
            turn, at = divmod(start, len(self.rows))
            rows = self._order(turn)[at : at + n]
            found.append(np.column_stack([self._triples.rows[rows], self.draw(rows, turn)]))
            start, n = start + len(rows), n - len(rows)
        return np.concatenate(found)

    def _order(self, turn: int) -> NDArray[np.int64]:
        if getattr(self, "_turn", None) != turn:
            seed = derive(self._seed, "order of triples", turn)
            keys = hash_elements(seed, self._triples.hashes[self.rows])
            self._turn, self._ordered = turn, self.rows[np.argsort(keys, kind="stable")]
        return self._ordered


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of items.

    Attributes:
        names: their ids, as text ``[n]``.
        rows: float32 ``[n, f]``, scaled so that the mean square of all entries is 1.
    """

    names: list[str]
    rows: NDArray[np.float32]

    @classmethod
    def read(cls, path: str | Path) -> Vectors:
        """Read ``item_id`` and ``vector`` from an npz file, or from a table.

        In a table, ``vector`` is a column of lists of one length; without it, all columns but
        ``item_id`` are the entries.

        Raises:
            DataError: no such file or columns, an id twice, or vectors that are no finite numbers.
        """
        path = Path(path)
        with told(f"{path}: "):
            if not path.exists():
                raise DataError("there is no such file")
            names, rows = _npz(path) if path.suffix.lower() == ".npz" else _table(path)
            if rows.dtype.kind not in "fiu" or rows.ndim != 2 or len(rows) != len(names):
                raise DataError(
                    f"vectors must be numbers of shape ({len(names)}, f), one for each item_id; "
                    f"got {rows.dtype} of shape {rows.shape}"
                )
            _check_vectors(names, rows)
        rows = rows.astype(np.float32).astype(np.float64)
        size = float(np.sqrt(np.mean(rows**2))) or 1.0
        return cls(names, (rows / size).astype(np.float32))

    @property
    def fingerprint(self) -> str:
        """Hex that tells two sets of vectors apart."""
        columns = [x.view(np.uint32) for x in np.ascontiguousarray(self.rows.T)]
        return hash_of_rows(hash_labels(self.names), *columns)

    def of_items(self, items: Vocabulary) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Vectors ``[n_items, f]`` (0 without one), and which items have one.

        Raises:
            DataError: none has.
        """
        place = {name: row for row, name in enumerate(self.names)}
        at = np.array([place.get(str(one), -1) for one in items.ids.tolist()])
        if not (at >= 0).any():
            raise DataError(
                f"none of the {len(items):,} items has a vector (first: item {items.label(0)}, "
                f"there: {self.names[0]!r}); give vectors under the ids of the log"
            )
        out = np.where((at >= 0)[:, None], self.rows[at], np.float32(0))
        return out, at >= 0


def _columns_of_triples(path: str | Path) -> list[list[str]]:
    """Names of heads, relations and tails, as text."""
    import polars as pl

    from fullrank.data._tables import load_plain
    from fullrank.data._types import id_column

    if not Path(path).exists():
        raise DataError(f"{path}: there is no such file")
    table = load_plain(path)
    if not table.named and len(table.frame.columns) == 3:
        table = _by_place(table)
    roles = _roles(table.frame.columns)
    if roles is None:
        names = table.frame.columns
        has = f"columns {', '.join(names)}" if table.named else f"{len(names)} columns unnamed"
        raise DataError(
            f"{path} has the {has}; expected head, relation and tail: rename them, or give three "
            "columns without a header"
        )
    if not len(table.frame):
        raise DataError(f"{path} holds no triples; leave it out, or give a file with rows")
    return [id_column(table, role, roles[role])[0].cast(pl.String).to_list() for role in _ROLES]


def _roles(names: list[str]) -> dict[str, str] | None:
    """Column of each role, or None if one is missing."""
    from fullrank.data._columns import plain

    by_plain = {plain(name): name for name in reversed(names)}
    found = {
        role: next((by_plain[one] for one in known if one in by_plain), None)
        for role, known in _ROLES.items()
    }
    return None if None in found.values() else {k: v for k, v in found.items() if v is not None}


def _by_place(table: Table) -> Table:
    """Three columns without names, named; a header over text alone looks like a row."""
    frame, line = table.frame, table.first_line
    first = [str(one) for one in frame.row(0)] if len(frame) else []
    names = list(_ROLES)
    if _roles(first) is not None:
        frame, names, line = frame[1:], first, None if line is None else line + 1
    frame = frame.rename(dict(zip(frame.columns, names, strict=True)))
    return replace(table, frame=frame, first_line=line)


def _npz(path: Path) -> tuple[list[str], NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as held:
            missing = [name for name in ("item_id", _VECTOR) if name not in held.files]
            if missing:
                raise DataError(
                    f"has the arrays {', '.join(held.files) or 'none'}; expected item_id and "
                    f"{_VECTOR}"
                )
            ids, rows = held["item_id"], held[_VECTOR]
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"can't be read as npz ({error}); write it by numpy.savez, ids as integers or text"
        ) from error
    if ids.ndim != 1 or ids.dtype.kind not in "iuU":
        raise DataError(f"item_id must be integers or text of one dimension, got {ids.dtype}")
    return [str(one) for one in ids.tolist()], rows


def _table(path: Path) -> tuple[list[str], NDArray[Any]]:
    import polars as pl

    from fullrank.data._columns import find_column
    from fullrank.data._tables import load_plain
    from fullrank.data._types import guess_types, id_column

    table = load_plain(path)
    key = find_column(table.frame.columns, "item_id")
    if key is None:
        raise DataError(
            f"has the columns {', '.join(table.frame.columns)}; expected item_id: rename one"
        )
    ids = id_column(table, "item_id", key)[0].cast(pl.String).to_list()
    frame = table.frame if table.typed else guess_types(table, {"item_id": key})
    if _VECTOR not in frame.columns:
        return ids, frame.drop(key).to_numpy()
    return ids, _stacked(frame[_VECTOR])


def _stacked(column: pl.Series) -> NDArray[Any]:
    """A column of lists as a matrix."""
    import polars as pl

    if isinstance(column.dtype, pl.Array):
        return column.to_numpy()
    if not isinstance(column.dtype, pl.List):
        raise DataError(f"column {_VECTOR!r} must hold lists of numbers, got {column.dtype}")
    sizes = column.list.len().unique()
    if column.null_count() or len(sizes) != 1:
        raise DataError(
            f"column {_VECTOR!r} must hold lists of one length, without missing ones; got lengths "
            f"{', '.join(map(str, sizes.sort().to_list()[:5]))}"
        )
    return column.list.to_array(int(sizes[0])).to_numpy()


def _check_vectors(names: list[str], rows: NDArray[Any]) -> None:
    """Refuse vectors without rows or entries, that aren't finite, and ids that come twice."""
    if rows.size == 0:
        raise DataError("holds no vectors; leave it out, or give a file with rows")
    good = (np.abs(rows) <= _LARGEST).all(axis=1)
    if not good.all():
        raise DataError(
            f"the vector of item {names[int(np.flatnonzero(~good)[0])]!r} holds what is no finite "
            f"number within {_LARGEST:g} of 0; leave the item out, or mend it"
        )
    if len(set(names)) < len(names):
        twice = next(one for place, one in enumerate(names) if one in names[:place])
        raise DataError(f"item_id holds {twice!r} twice; give each item one vector")
