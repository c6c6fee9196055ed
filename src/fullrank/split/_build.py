"""Make a Split from a strategy and part codes, with the checks that every strategy shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, SplitError
from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import check_share
from fullrank.split._base import Split, Strategy


def build(
    strategy: Strategy,
    data: Interactions,
    part: NDArray[np.int8],
    *,
    wants_valid: bool,
    ties: Mapping[str, int] | None = None,
    extra: Mapping[str, object] | None = None,
    notes: Sequence[str] = (),
) -> Split:
    """Build the split of a strategy.

    Args:
        strategy: whose recipe goes into the split.
        data: all rows.
        part: int8 ``[n]`` codes.
        wants_valid: an empty validation part is an error.
        ties: counts for ``Split.ties_at_cut``.
        extra: goes into the recipe beside the settings (seed, fold).
        notes: sentences for the card.

    Raises:
        SplitError: a part is empty; the message gives the figures.
    """
    split = Split(
        data=data,
        part=part,
        recipe={**strategy.recipe, **(extra or {})},
        ties_at_cut=dict(ties or {}),
        repeats=strategy.repeats,
        notes=tuple(notes),
    )
    if wants_valid and not split.has_valid:
        raise SplitError(split.describe_empty("valid"))
    return split


def check_shares(strategy: Strategy, test: float, valid: float) -> None:
    """Refuse shares that leave nothing to train on."""
    where = type(strategy).__name__
    check_share(where, "test", test)
    check_share(where, "valid", valid, zero=True)
    if test + valid >= 1:
        raise SpecError(
            f"{where}: test = {test} and valid = {valid} leave nothing to train on; "
            "their sum must be below 1"
        )


def require_rows(strategy: Strategy, data: Interactions) -> None:
    """Refuse data without rows."""
    if len(data) == 0:
        raise SplitError(f"{type(strategy).__name__} got no rows; check the filters before it")
