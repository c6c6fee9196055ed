"""KFold: every row tests once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, SplitError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_count, check_share, rounded_share
from fullrank.split._base import TEST, TRAIN, VALID, Split, Strategy
from fullrank.split._build import build, require_rows
from fullrank.split._draws import row_draws, user_draws


@dataclass(frozen=True)
class KFold(Strategy):
    """Cut the rows into ``k`` random folds of nearly equal size; each of them tests once.

    Each row's draw is a hash of seed, user, item and occurrence. With ``per_user`` the rows of
    each user are dealt out evenly, beginning at a fold drawn for the user.

    Attributes:
        k: number of folds, and of splits.
        valid: share of all rows that validates, drawn anew in each split from the rows that do
            not test; 0 for none.
        per_user: deal the rows of each user evenly over the folds.
    """

    seeded: ClassVar[bool] = True

    k: int = 5
    valid: float = 0.0
    per_user: bool = False

    def __post_init__(self) -> None:
        check_count("KFold", "k", self.k, least=2)
        check_share("KFold", "valid", self.valid, zero=True)
        if self.valid + 1 / self.k >= 1:
            raise SpecError(
                f"KFold: k = {self.k} and valid = {self.valid} leave no row to train on"
            )

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        require_rows(self, data)
        if len(data) < self.k:
            raise SplitError(f"KFold: {len(data):,} rows don't fill {self.k} folds; lower k")
        seed = seed_of(rng)
        fold_of = self._folds(data, seed)
        n_valid = rounded_share(len(data), self.valid)
        out = []
        for fold in range(self.k):
            part = np.full(len(data), TRAIN, dtype=np.int8)
            part[fold_of == fold] = TEST
            rest = np.flatnonzero(part == TRAIN)
            draws = row_draws(data, seed, "KFold", "valid", fold)[rest] if n_valid else rest
            part[rest[np.argsort(draws, kind="stable")[:n_valid]]] = VALID
            extra = {"seed": seed, "fold": fold}
            out.append(build(self, data, part, wants_valid=self.valid > 0, extra=extra))
        return out

    def _folds(self, data: Interactions, seed: int) -> NDArray[np.int64]:
        """Fold of each row: int64 ``[n]``."""
        draws = row_draws(data, seed, "KFold")
        fold = np.empty(len(data), dtype=np.int64)
        if not self.per_user:
            fold[np.argsort(draws, kind="stable")] = np.arange(len(data)) % self.k
            return fold
        order = np.lexsort((draws, data.users))
        place = np.arange(len(data)) - data.user_indptr[data.users[order]]
        first = (user_draws(data, seed, "KFold") % np.uint64(self.k)).astype(np.int64)
        fold[order] = (place + first[data.users[order]]) % self.k
        return fold
