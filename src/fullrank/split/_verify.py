"""Proof that the parts of a split are disjoint and complete."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SplitError
from fullrank.split._base import PART_CODES, TEST, TEST_HISTORY, VALID, VALID_HISTORY, Split


def verify(split: Split) -> dict[str, Any]:
    """Check a split and return the evidence.

    Checked: each row has one known code, so parts are disjoint and complete; nothing that tests is
    fitted, on train or in the refit, nor is the history of a test user; users whose rows are
    fold-in histories were not fitted; the queries of both parts keep targets out of histories
    (which ``Queries`` checks by item, unless ``repeats="keep"``).

    Returns:
        Counts and fingerprints of the parts, and of the whole.

    Raises:
        SplitError: what is broken, with figures.
    """
    codes = np.flatnonzero(np.bincount(split.part.view(np.uint8), minlength=256)).astype(np.uint8)
    unknown = sorted({int(c) for c in codes.view(np.int8)} - set(PART_CODES.values()))
    if unknown:
        raise SplitError(f"part holds the unknown codes {unknown}; known: {PART_CODES}")
    _check_fitted(split)
    _check_unseen(split)
    for part in ("valid", "test") if split.has_valid else ("test",):
        split.queries(part)
    return {
        "rows": len(split.data),
        "parts": {name: n for name, n in split.counts.items() if n},
        "fingerprint": split.fingerprint,
        "data_fingerprint": split.data.fingerprint,
        "part_fingerprints": split.part_fingerprints,
    }


def _check_fitted(split: Split) -> None:
    for fit in ("train", "train+valid"):
        fitted = split.fit_mask(fit)
        for name in ("test", "test_history"):
            n = int(np.count_nonzero(fitted & (split.part == PART_CODES[name])))
            if n:
                raise SplitError(f"{n:,} rows of {name} are fitted with fit={fit!r}")


def _check_unseen(split: Split) -> None:
    for held, history, fit in (
        (VALID, VALID_HISTORY, "train"),
        (TEST, TEST_HISTORY, "train+valid"),
    ):
        users, n_users = split.data.users, split.data.n_users
        shown = present(users[split.part == history], n_users)
        fitted = present(users[split.fit_mask(fit)], n_users)  # type: ignore[arg-type]
        both = np.flatnonzero(shown & fitted)
        if len(both):
            raise SplitError(
                f"{len(both):,} users have fold-in rows and are fitted with fit={fit!r} (first: "
                f"{split.data.user_vocab.label(both[0])}); rows of unseen users must not train"
            )
        idle = np.flatnonzero(shown & ~present(users[split.part == held], n_users))
        if len(idle):
            raise SplitError(
                f"{len(idle):,} users have fold-in rows but no targets (first: "
                f"{split.data.user_vocab.label(idle[0])})"
            )


def present(codes: NDArray[np.int32], n: int) -> NDArray[np.bool_]:
    """Which of ``n`` codes occur: bool ``[n]``."""
    out = np.zeros(n, dtype=bool)
    out[codes] = True
    return out
