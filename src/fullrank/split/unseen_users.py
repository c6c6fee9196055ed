"""UnseenUsers: models are asked about users that they were not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SplitError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_choice, check_count, check_share, rounded_share
from fullrank.split._base import (
    TEST,
    TEST_HISTORY,
    TRAIN,
    VALID,
    VALID_HISTORY,
    Split,
    Strategy,
)
from fullrank.split._build import build, require_rows
from fullrank.split._draws import row_draws, timed_order, user_draws
from fullrank.split._per_user import tied_users


@dataclass(frozen=True)
class UnseenUsers(Strategy):
    """Hold out whole users; show a model a part of their rows and ask for the rest.

    The shown rows (fold-in) are histories of the queries and never fitted; after choosing on
    validation, the refit may use all rows of the validation users. Users are drawn by a hash of
    seed and outside id among those with at least two rows; others train. Held-out users have a
    history and so are not cold; the card counts them as ``users_not_fitted``.

    Attributes:
        test: how many users test: a share of those with two rows or more, or a whole number.
        valid: how many users validate, likewise; 0 for none.
        fold_in: share of each held-out user's rows that is shown (rounded, halves up; at least one
            row is shown and at least one asked for).
        by: ``"random"`` shows random rows, ``"time"`` the earliest (rows of one time in a drawn
            order; users with such a tie at their cut are counted).

    Reference:
        Marlin 2004 ("strong generalisation"); Liang, Krishnan, Hoffman & Jebara 2018, section 4.
    """

    seeded: ClassVar[bool] = True

    test: float | int = 0.1
    valid: float | int = 0.1
    fold_in: float = 0.8
    by: Literal["random", "time"] = "random"

    def __post_init__(self) -> None:
        check_share("UnseenUsers", "fold_in", self.fold_in)
        check_choice("UnseenUsers", "by", self.by, ("random", "time"))
        for name, zero in (("test", False), ("valid", True)):
            value = getattr(self, name)
            if isinstance(value, int):
                check_count("UnseenUsers", name, value, least=0 if zero else 1)
            else:
                check_share("UnseenUsers", name, value, zero=zero)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        require_rows(self, data)
        seed = seed_of(rng)
        role = self._roles(data, seed)
        order = self._order(data, seed)
        users = data.users[order]
        place = np.arange(len(order)) - data.user_indptr[users]
        shown = np.clip(rounded_share(data.user_counts, self.fold_in), 1, data.user_counts - 1)
        history = place < shown[users]
        codes = np.full(len(order), TRAIN, dtype=np.int8)
        for held, seen in ((VALID, VALID_HISTORY), (TEST, TEST_HISTORY)):
            of_part = role[users] == held
            codes[of_part & history] = seen
            codes[of_part & ~history] = held
        part = np.empty_like(codes)
        part[order] = codes
        ties = {}
        if self.by == "time" and data.times is not None:
            ties = tied_users(data, data.times[order], codes)
        extra = {"seed": seed}
        return [build(self, data, part, wants_valid=self.valid > 0, ties=ties, extra=extra)]

    def _roles(self, data: Interactions, seed: int) -> NDArray[np.int8]:
        """TRAIN, VALID or TEST for each user: int8 ``[n_users]``."""
        able = np.flatnonzero(data.user_counts >= 2)
        n_test, n_valid = (
            n if isinstance(n, int) else rounded_share(len(able), n)
            for n in (self.test, self.valid)
        )
        if n_test + n_valid >= int(np.count_nonzero(data.user_counts)):
            raise SplitError(
                f"UnseenUsers: {n_test:,} test and {n_valid:,} validation users leave none of "
                f"{np.count_nonzero(data.user_counts):,} to train on; ask for fewer"
            )
        if n_test + n_valid > len(able):
            raise SplitError(
                f"UnseenUsers: {n_test + n_valid:,} users are to be held out and only "
                f"{len(able):,} have two rows or more; ask for fewer"
            )
        drawn = able[np.argsort(user_draws(data, seed, "UnseenUsers")[able], kind="stable")]
        role = np.full(data.n_users, TRAIN, dtype=np.int8)
        role[drawn[:n_test]] = TEST
        role[drawn[n_test : n_test + n_valid]] = VALID
        return role

    def _order(self, data: Interactions, seed: int) -> NDArray[np.int64]:
        """Rows by user, and within a user those to show first."""

        def draws() -> NDArray[np.uint64]:
            return row_draws(data, seed, "UnseenUsers", "rows")

        if self.by == "random":
            return np.lexsort((draws(), data.users))
        return timed_order(data, data.require_times("split UnseenUsers by time"), draws)
