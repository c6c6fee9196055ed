"""What may be recommended: a catalogue of items, and what each query is eligible for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items that may be recommended, the same for every model.

    Attributes:
        items: bool ``[n_items]``.
        name: ``"fit"``, ``"all"`` or the file it was read from.
        eligible_indptr: int64 ``[q + 1]`` where each query has a list of its own, else empty.
        eligible_items: int32 item codes.
        counts: ids of a file that the data don't know, and the like.
    """

    items: NDArray[np.bool_]
    name: str = "all"
    eligible_indptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    eligible_items: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    counts: dict[str, int] = field(default_factory=dict)
    eligible_users: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Users of the queries that the lists of their own were made for."""
    excluded_indptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """int64 ``[q + 1]`` where each query has items that are left out beside its history."""
    excluded_items: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    excluded_users: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        if self.items.dtype != bool:
            raise DataError(
                f"a catalogue is a mask of bool over the items, got {self.items.dtype}; "
                "for item codes or ids take Catalogue.of_ids"
            )
        if not self.items.any():
            raise DataError(
                f"the catalogue {self.name!r} holds no item that the data know; "
                "check the ids of the file, or take catalogue='fit'"
            )

    def __repr__(self) -> str:
        own = "eligible items by query" if len(self.eligible_indptr) else None
        return brief(
            self, repr(self.name), f"{self.size:,} of {count(len(self.items), 'item')}", own
        )

    @property
    def size(self) -> int:
        """Number of items in it."""
        return int(np.count_nonzero(self.items))

    @classmethod
    def of_ids(cls, ids: NDArray[Any], vocab: Vocabulary, name: str) -> Catalogue:
        """Build a catalogue from outside item ids; unknown ones are counted."""
        codes = vocab.encode(ids)
        items = np.zeros(len(vocab), dtype=bool)
        items[codes[codes >= 0]] = True
        return cls(items, name, counts={"unknown_catalogue_items": int((codes < 0).sum())})

    def restricted(
        self, queries: Queries, user_ids: NDArray[Any], item_ids: NDArray[Any]
    ) -> Catalogue:
        """Restrict each query to the items listed for its user (stock, region).

        Args:
            queries: the cases that will be ranked with this catalogue.
            user_ids: outside ids ``[n]``.
            item_ids: outside ids ``[n]``, what that user may get.

        Raises:
            DataError: a query's user has no row.
        """
        users = queries.user_vocab.encode(user_ids)
        items = queries.item_vocab.encode(item_ids)
        known = (users >= 0) & (items >= 0)
        pairs = np.unique(users[known].astype(np.int64) * queries.n_items + items[known])
        indptr = np.searchsorted(pairs // queries.n_items, np.arange(queries.n_users + 1))
        counts = np.diff(indptr)[queries.users]
        if len(counts) and not counts.all():
            missing = queries.users[counts == 0]
            raise DataError(
                f"{len(missing)} users have no eligible item (first: "
                f"{queries.user_vocab.label(missing[0])}); "
                "list what each user may get, or leave such users out of the truth"
            )
        starts = np.repeat(indptr[queries.users] - as_indptr(counts)[:-1], counts)
        flat = pairs[np.arange(int(counts.sum())) + starts] % queries.n_items
        return replace(
            self,
            eligible_indptr=as_indptr(counts),
            eligible_items=flat.astype(np.int32),
            counts={**self.counts, "unknown_eligible_pairs": int((~known).sum())},
            eligible_users=queries.users,
        )

    def without(
        self, queries: Queries, indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> Catalogue:
        """Leave out items of each query beside those of its history, unseen by the model.

        Args:
            queries: the cases that will be ranked with this catalogue.
            indptr: ``[q + 1]``.
            items: codes; an item may stand twice, and in the history too.
        """
        return replace(
            self, excluded_indptr=indptr, excluded_items=items, excluded_users=queries.users
        )


def as_catalogue(
    catalogue: Catalogue | str | NDArray[np.bool_], known_items: NDArray[np.bool_]
) -> Catalogue:
    """Accept ``"fit"``, ``"all"``, a mask or a Catalogue."""
    if isinstance(catalogue, Catalogue):
        out = catalogue
    elif isinstance(catalogue, np.ndarray):
        out = Catalogue(catalogue, "given")
    elif catalogue == "fit":
        out = Catalogue(known_items, "fit")
    elif catalogue == "all":
        out = Catalogue(np.ones(len(known_items), dtype=bool), "all")
    else:
        raise SpecError(
            f"catalogue must be 'fit', 'all', a bool mask or a Catalogue, got {catalogue!r}"
        )
    if len(out.items) != len(known_items):
        raise DataError(
            f"the catalogue speaks of {len(out.items):,} items and the model of "
            f"{len(known_items):,}; build it over the same item vocabulary"
        )
    return out
