"""Proof that the parts of a split are disjoint and complete."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    unknown = sorted({int(c) for c in np.unique(split.part)} - set(PART_CODES.values()))
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
        shown = np.unique(split.data.users[split.part == history])
        fitted = np.unique(split.data.users[split.fit_mask(fit)])  # type: ignore[arg-type]
        both = np.intersect1d(shown, fitted)
        if len(both):
            raise SplitError(
                f"{len(both):,} users have fold-in rows and are fitted with fit={fit!r} (first: "
                f"{split.data.user_vocab.label(both[0])}); rows of unseen users must not train"
            )
        asked = np.unique(split.data.users[split.part == held])
        idle = np.setdiff1d(shown, asked)
        if len(idle):
            raise SplitError(
                f"{len(idle):,} users have fold-in rows but no targets (first: "
                f"{split.data.user_vocab.label(idle[0])})"
            )
