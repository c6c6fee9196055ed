"""Make what every fit of a fold needs, so that a fault in it is said before any work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank.core.errors import SplitError, told
from fullrank.core.queries import Queries
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.experiment.bench import Fold
from fullrank.experiment.measure import rank_values
from fullrank.experiment.spec import Locate, nowhere
from fullrank.metrics import Metric


def check_fold(
    fold: Fold, metrics: Sequence[Metric], *, tuned: bool, locate: Locate = nowhere
) -> None:
    """Check the queries, catalogue and grades of a fold.

    Args:
        fold: data and split.
        metrics: of the benchmark.
        tuned: settings will be chosen on the validation part.
        locate: names file and line of a place.

    Raises:
        FullrankError: nothing to evaluate, a bad catalogue, grades that a metric refuses.
    """
    with told(locate(("split", "strategy"))):
        queries = fold.test_queries
        check_targets(fold, queries)
        if tuned:
            fold.valid_queries  # noqa: B018 - made now, kept for the search
    with told(locate(("ranking",))):
        fold.catalogue(fold.test_fit_rows, queries)
        if tuned:
            fold.catalogue(fold.split.fit_rows("train"), fold.valid_queries)
    with told(locate(("metrics",))):
        rank_values(nothing_ranked(queries), [m for m in metrics if m.source == "ranks"])


def check_targets(fold: Fold, queries: Queries) -> None:
    """Refuse a test without any target.

    Raises:
        SplitError: with the figures.
    """
    if len(queries.target_items):
        return
    raise SplitError(
        f"{fold.title}: no test query has a target ({fold.split.counts['test']:,} test rows, "
        f"{queries.counts.get('repeated_targets', 0):,} of them in the history of their user, "
        f"{len(queries):,} queries); take another split, or set split.repeats = 'keep' to evaluate "
        "repeat consumption"
    )


def nothing_ranked(queries: Queries) -> TargetRanks:
    """Ranks of a model that recommends nothing: they have the grades that metrics check."""
    none = np.full(len(queries.target_items), UNRANKED, dtype=np.int32)
    return TargetRanks(
        users=queries.users,
        query_ids=queries.query_ids,
        indptr=queries.target_indptr,
        best=none,
        worst=none,
        gains=queries.target_gains,
        items=queries.target_items,
        n_candidates=np.full(len(queries), queries.n_items, dtype=np.int32),
        user_vocab=queries.user_vocab,
        item_vocab=queries.item_vocab,
    )
