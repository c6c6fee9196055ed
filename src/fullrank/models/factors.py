"""Factors that were fitted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._base import Monitor, Recommender

Matrix = NDArray[np.floating[Any]]

_LARGEST = 1e15
"""Scores, sums of products of two factors, stay within float32, which ends at 3.4e38."""


@dataclass(eq=False)
class Factors(Recommender):
    """Score by ``w_u · h_i``, of factors from another tool, told by outside ids.

    ``Factors(user_ids, model.user_factors, item_ids, model.item_factors)`` takes what implicit,
    LensKit, LightFM and others leave behind; a bias of items is one more column, and 1 for users.
    ``fit`` learns nothing: it takes the catalogue from the training rows, which must be those that
    the other tool was fitted on: an item of theirs without factors is an error. Users without
    factors get 0, and so a score of 0 for all items.

    Attributes:
        user_ids: outside ids ``[n]``.
        users: ``[n, d]``, finite.
        item_ids: outside ids ``[m]``.
        items: ``[m, d]``, finite.
    """

    user_ids: Sequence[Any] | NDArray[Any] = field(repr=False)
    users: Matrix = field(repr=False)
    item_ids: Sequence[Any] | NDArray[Any] = field(repr=False)
    items: Matrix = field(repr=False)

    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("user_factors_", "item_factors_")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("user", "item"):
            ids = _ids(getattr(self, f"{name}_ids"), name)
            given = _matrix(getattr(self, f"{name}s"), name, len(ids))
            setattr(self, f"{name}_ids", ids)
            setattr(self, f"{name}s", given)
        if np.asarray(self.users).shape[1] != np.asarray(self.items).shape[1]:
            raise DataError(
                f"Factors: users have {np.asarray(self.users).shape[1]} factors and items "
                f"{np.asarray(self.items).shape[1]}; they must have as many"
            )

    def settings(self) -> dict[str, Any]:
        """The factors by a hash of them and of their ids."""
        found = blake2b(digest_size=8)
        for ids, given in ((self.user_ids, self.users), (self.item_ids, self.items)):
            found.update("\x1f".join(str(one) for one in np.asarray(ids).tolist()).encode())
            found.update(np.ascontiguousarray(given, dtype=np.float32).tobytes())
        return {"factors": found.hexdigest()}

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        self.user_factors_ = _aligned(train.user_vocab, self.user_ids, self.users, "user")
        items = _aligned(train.item_vocab, self.item_ids, self.items, "item")
        self.item_factors_ = items
        without = self.known_items_ & ~_present(train.item_vocab, self.item_ids)

        if without.any():
            first = train.item_vocab.label(int(np.flatnonzero(without)[0]))
            raise DataError(
                f"Factors: {int(without.sum()):,} items of the training rows have no factors "
                f"(first: item {first}); fit the other tool on the same rows, or give the rows "
                "that it was fitted on"
            )

    def save(self, folder: Any) -> None:
        """Refused: settings hold a hash of the factors, which no one could load.

        Raises:
            SpecError: always.
        """
        raise SpecError(
            "Factors can't be saved; build them anew from what the other tool saved, and fit them "
            "on the same rows"
        )

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """Float32 ``[q, d]``."""
        self.check(queries)
        return self.user_factors_[queries.users]


def _ids(given: Any, name: str) -> Sequence[Any] | NDArray[Any]:
    """Outside ids, at least one."""
    flat = not isinstance(given, np.ndarray) or given.ndim == 1
    if isinstance(given, str) or not hasattr(given, "__len__") or not flat:
        raise DataError(
            f"Factors: {name}_ids must be a list or an array [n] of outside ids, got "
            f"{type(given).__name__}"
        )
    if len(given) == 0:
        raise DataError(f"Factors: {name}_ids is empty; give the id of each row of {name}s")
    return given if isinstance(given, np.ndarray) else list(given)


def _matrix(given: Any, name: str, n: int) -> Matrix:
    """Factors as an array that float32 holds."""
    try:
        out = np.asarray(given)
    except ValueError as error:
        raise DataError(f"Factors: {name}s must have rows of one length ({error})") from error
    if out.ndim != 2 or len(out) != n or not out.shape[1]:
        raise DataError(
            f"Factors: {name}s must have shape ({n}, d), a row for each of the {n:,} {name}_ids, "
            f"got {out.shape}"
        )
    if out.dtype.kind not in "fiu":
        raise DataError(f"Factors: {name}s must be finite numbers, got {out.dtype}")
    if not bool((np.abs(out) <= _LARGEST).all()):
        row, column = np.argwhere(~(np.abs(out) <= _LARGEST))[0]
        raise DataError(
            f"Factors: {name}s must be finite and within {_LARGEST:g} of 0, got "
            f"{out[row, column]:g} in row {row}"
        )
    return out


def _codes(vocab: Vocabulary, ids: Sequence[Any] | NDArray[Any], name: str) -> NDArray[np.int32]:
    codes = vocab.encode(list(ids) if not isinstance(ids, np.ndarray) else ids)
    known = codes[codes >= 0]
    if len(np.unique(known)) < len(known):
        raise DataError(f"Factors: {name}_ids holds an id twice; give each {name} one row")
    if not len(known):
        raise DataError(
            f"Factors: none of the {len(ids):,} {name}_ids is in the training rows (first: "
            f"{ids[0]!r}); give the outside ids, in the order of the rows of {name}s"
        )
    return codes


def _present(vocab: Vocabulary, ids: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    codes = _codes(vocab, ids, "item")
    out = np.zeros(len(vocab), bool)
    out[codes[codes >= 0]] = True
    return out


def _aligned(
    vocab: Vocabulary, ids: Sequence[Any] | NDArray[Any], given: Matrix, name: str
) -> NDArray[np.float32]:
    """Rows in the order of codes, 0 for ids without one."""
    codes = _codes(vocab, ids, name)
    out = np.zeros((len(vocab), given.shape[1]), np.float32)
    out[codes[codes >= 0]] = np.asarray(given, np.float32)[codes >= 0]
    return out
