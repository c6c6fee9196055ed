"""Candidates from outside: a list for each query."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr, is_indptr, take_ragged
from fullrank.core.vocabulary import Vocabulary
from fullrank.negatives._base import Drawn, Negatives, rows_between
from fullrank.negatives._pool import Pool


@dataclass(frozen=True, kw_only=True)
class Given(Negatives):
    """Lists made elsewhere (published negatives, a retrieval stage), by user.

    History, targets and items outside the catalogue are left out of them. How such lists were
    drawn is not known here, so that no estimator can tell ranks in the whole catalogue from them
    unless it is told.

    Attributes:
        indptr: int64 ``[n_users + 1]`` by user code.
        items: int32 item codes, each once within a list.
    """

    scheme = "given"

    m: int = 1
    indptr: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(1, np.int64), repr=False, compare=False
    )
    items: NDArray[np.int32] = field(
        default_factory=lambda: np.zeros(0, np.int32), repr=False, compare=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        indptr, items = np.asarray(self.indptr), np.asarray(self.items)
        if items.ndim != 1 or items.dtype.kind not in "iu" or (items < 0).any():
            raise SpecError(
                "Given: items must be item codes (whole numbers >= 0) in one dimension, got "
                f"{items.dtype} of shape {items.shape}"
                + (f", the lowest {items.min()}" if items.size and items.dtype.kind in "i" else "")
            )
        if indptr.dtype.kind not in "iu" or not is_indptr(indptr, len(indptr) - 1, len(items)):
            raise SpecError(
                f"Given: indptr must start at 0, never fall and end at {len(items):,}, the number "
                f"of items, got {indptr.dtype} of shape {indptr.shape}"
            )

    @classmethod
    def of_ids(
        cls,
        user_ids: NDArray[np.generic],
        item_ids: NDArray[np.generic],
        user_vocab: Vocabulary,
        item_vocab: Vocabulary,
    ) -> Given:
        """Build lists from pairs of outside ids ``[n]``; pairs of unknown ids are left out.

        Raises:
            DataError: no pair is known, or arrays of two lengths.
        """
        if np.shape(user_ids) != np.shape(item_ids):
            raise DataError(
                f"candidate pairs need as many users as items, got {len(user_ids):,} user_ids and "
                f"{len(item_ids):,} item_ids"
            )
        users, items = user_vocab.encode(user_ids), item_vocab.encode(item_ids)
        known = (users >= 0) & (items >= 0)
        if not known.any():
            raise DataError(
                f"none of the {len(known):,} candidate pairs has a known user and item; check "
                "the ids of the file"
            )
        pairs = np.unique(users[known].astype(np.int64) * len(item_vocab) + items[known])
        counts = np.bincount(pairs // len(item_vocab), minlength=len(user_vocab))
        flat = (pairs % len(item_vocab)).astype(np.int32)
        return cls(m=int(counts.max()), indptr=as_indptr(counts), items=flat)

    def settings(self) -> dict[str, object]:
        """Settings by name; the lists by a hash."""
        import hashlib

        digest = hashlib.blake2b(self.indptr.tobytes(), digest_size=8)
        digest.update(self.items.tobytes())
        return {"lists": digest.hexdigest()}

    def own(self, queries: Queries) -> Drawn:
        """The list of each query's user: the base that it draws from.

        Raises:
            DataError: lists over other users.
        """
        if len(self.indptr) != queries.n_users + 1:
            raise DataError(
                f"candidate lists were made for {len(self.indptr) - 1:,} users, and the queries "
                f"speak of {queries.n_users:,}; build them with Given.of_ids and the queries' "
                "vocabularies"
            )
        if self.items.max(initial=-1) >= queries.n_items:
            raise DataError(
                f"candidate lists hold the item code {self.items.max():,}, and there are "
                f"{queries.n_items:,} items; build them with Given.of_ids and the queries' "
                "vocabularies"
            )
        indptr, take = take_ragged(self.indptr, queries.users)
        return indptr, self.items[take]

    def draw(self, pool: Pool, first: NDArray[np.int64], last: NDArray[np.int64]) -> Drawn:
        """Entries number ``first[q]`` up to ``last[q]`` of each row's pool, in order."""
        indptr = rows_between(first, last)
        rows = [pool.allowed(q)[first[q] : last[q]] for q in range(len(pool))]
        return indptr, np.concatenate([np.zeros(0, np.int32), *rows]).astype(np.int32)
