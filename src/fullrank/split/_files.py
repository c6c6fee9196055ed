"""Splits that come as files, such as ``u1.base`` and ``u1.test``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Repeats
from fullrank.core.random import RNG
from fullrank.core.vocabulary import Vocabulary
from fullrank.split._base import Split
from fullrank.split.given import Given

if TYPE_CHECKING:
    from fullrank.core.dataset import Dataset

COLUMN = "split"


def given_from_files(
    train: Any,
    test: Any,
    valid: Any = None,
    *,
    valid_share: float = 0.0,
    repeats: Repeats = "drop",
    rng: RNG = 0,
    **options: Any,
) -> tuple[Dataset, Split]:
    """Read a published split from two or three files or frames.

    Args:
        train: training rows: whatever ``fullrank.data.read`` takes.
        test: test rows.
        valid: validation rows, if published.
        valid_share: share of the training rows to draw for validation; 0 for none.
        repeats: see ``Strategy``.
        rng: seed or Generator of that draw.
        options: passed to each ``read`` (columns, separator, …).

    Returns:
        All rows with a column ``split``, and the split itself.

    Raises:
        DataError: the files have different columns or time units.
        IdTypeError: ids are text in one file and integers in another.
    """
    from fullrank.data import read

    sources = {"train": train, "valid": valid, "test": test}
    sets = {name: read(s, **options) for name, s in sources.items() if s is not None}
    parts = {name: one.interactions for name, one in sets.items()}
    rows = concat_parts(parts)
    split = Given(valid_share=valid_share, repeats=repeats).split(rows, rng=rng)
    return sets["train"].with_interactions(rows), split


def concat_parts(parts: Mapping[str, Interactions]) -> Interactions:
    """Put rows of several parts together; the column ``split`` says which part a row is of.

    Raises:
        DataError: columns or time units differ among the parts.
        IdTypeError: ids differ in kind among the parts.
    """
    first = next(iter(parts.values()))
    for name, part in parts.items():
        _check_alike(first, name, part)
    user_vocab = Vocabulary.union([p.user_vocab for p in parts.values()])
    item_vocab = Vocabulary.union([p.item_vocab for p in parts.values()])
    labels = [np.full(len(p), name, dtype=object) for name, p in parts.items()]
    extras: dict[str, NDArray[Any]] = {
        name: np.concatenate([p.extras[name] for p in parts.values()]) for name in first.extras
    }
    values = [p.values for p in parts.values() if p.values is not None]
    times = [p.times for p in parts.values() if p.times is not None]
    return Interactions(
        users=np.concatenate([user_vocab.encode(p.user_ids) for p in parts.values()]),
        items=np.concatenate([item_vocab.encode(p.item_ids) for p in parts.values()]),
        user_vocab=user_vocab,
        item_vocab=item_vocab,
        values=np.concatenate(values) if values else None,
        times=np.concatenate(times) if times else None,
        time_unit=first.time_unit,
        extras={**extras, COLUMN: np.concatenate(labels)},
        recipe=(*first.recipe, {"concat": {name: len(p) for name, p in parts.items()}}),
    )


def _check_alike(first: Interactions, name: str, part: Interactions) -> None:
    if COLUMN in part.extras:
        raise SpecError(
            f"the {name} rows have a column {COLUMN!r} of their own, so they name their parts "
            "already: read them as one table and take Given(column='split')"
        )
    here, there = _columns(part), _columns(first)
    if here != there:
        raise DataError(
            f"the {name} rows have the columns {here} and the first part has {there}; "
            "name the same columns for each"
        )
    if part.times is not None and part.time_unit != first.time_unit:
        raise DataError(
            f"the times of the {name} rows are in {part.time_unit!r} and those of the first part "
            f"in {first.time_unit!r}; convert one of them"
        )


def _columns(part: Interactions) -> list[str]:
    named = {"values": part.values, "times": part.times}
    return [*(name for name, column in named.items() if column is not None), *sorted(part.extras)]
