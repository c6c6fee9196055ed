"""Filters on training rows only: what is held out stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import RNG
from fullrank.data.filters import Filter, kept_rows
from fullrank.split._base import LEFT_OUT, TRAIN, FitOn, Split


def with_train_filter(split: Split, filters: Sequence[Filter], *, rng: RNG = 0) -> Split:
    """Filter what models are fitted on, and nothing that is evaluated.

    The filters see the training rows alone; those that they drop become left-out rows, no longer
    part of any history. For the refit they are applied afresh to train + valid: a user with four
    training rows and one of validation passes ``core = 5`` there and not while tuning, as it would
    have been had the data been collected up to the test cut. No filter ever sees a test row.

    Args:
        split: what to filter; a second call filters what the first one left.
        filters: in order.
        rng: seed or Generator for filters that draw.

    Raises:
        DataError: a filter leaves no training row.
    """
    if not filters:
        return split
    train = _kept(split, "train", filters, rng)
    part = split.part.copy()
    part[(part == TRAIN) & ~train] = LEFT_OUT
    steps = [*split.recipe.get("train_filters", []), *(one.settings for one in filters)]
    return replace(
        split,
        part=part,
        refit=_kept(split, "train+valid", filters, rng),
        recipe={**split.recipe, "train_filters": steps},
        notes=(
            *split.notes,
            f"filters on training rows ({', '.join(map(str, filters))}) leave "
            f"{np.count_nonzero(train):,} of {split.counts['train']:,}",
        ),
    )


def _kept(split: Split, fit: FitOn, filters: Sequence[Filter], rng: RNG) -> NDArray[np.bool_]:
    rows = np.flatnonzero(split.fit_mask(fit))
    kept = rows[kept_rows(split.data.take(rows), filters, rng)]
    mask = np.zeros(len(split.data), dtype=bool)
    mask[kept] = True
    return mask
