"""Put the ranks of several sets of queries behind one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank.core.errors import DataError
from fullrank.core.ragged import as_indptr
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample


def concat_ranks(parts: Sequence[TargetRanks]) -> TargetRanks:
    """Concatenate ranks that share vocabularies, depth and design; counts add up.

    Raises:
        DataError: parts of different depth, design or vocabularies.
    """
    first = parts[0]
    for part in parts[1:]:
        if (part.depth, part.others, part.design) != (first.depth, first.others, first.design):
            raise DataError(
                f"ranks of different designs can't be put together: {first.design} at depth "
                f"{first.depth} and {part.design} at depth {part.depth}"
            )
        if part.user_vocab != first.user_vocab or part.item_vocab != first.item_vocab:
            raise DataError("ranks over different users or items can't be put together")
    counts: dict[str, int] = {}
    for part in parts:
        for name, value in part.counts.items():
            shared = name == "catalogue_items"
            counts[name] = value if shared else counts.get(name, 0) + value
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("users", "query_ids", "n_candidates", "best", "worst", "gains", "items")
    }
    return TargetRanks(
        indptr=as_indptr(np.concatenate([np.diff(part.indptr) for part in parts])),
        user_vocab=first.user_vocab,
        item_vocab=first.item_vocab,
        others=first.others,
        depth=first.depth,
        design=first.design,
        counts=counts,
        sample=_sample(parts),
        **joined,
    )


def _sample(parts: Sequence[TargetRanks]) -> Sample | None:
    """The samples of parts of one design, which all have one or none."""
    samples = [part.sample for part in parts if part.sample is not None]
    if not samples:
        return None
    if len(samples) < len(parts):
        raise DataError("ranks among sampled candidates and others can't be put together")
    return Sample.joined(samples)
