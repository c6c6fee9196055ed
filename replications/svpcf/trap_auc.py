"""The pooled AUC of the published code beside the mean of the users' own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

import fullrank as fr
from fullrank.core.queries import Queries
from fullrank.core.registry import build
from fullrank.split import RandomRows, Split
from fullrank.stats import kendall_tau
from fullrank.subsample import Floor, subsample
from replications.svpcf import parts
from replications.svpcf.sets import Source

NEGATIVES = 100
"""Of each user, drawn uniformly, as in the published code."""
SAMPLERS = {
    "rows, random": "RandomInteractions",
    "users, random": "RandomUsers",
    "users, head": "HeadUsers",
}
Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]


def auc(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """Share of pairs of a positive and a negative in the right order, ties half."""
    ranks = rankdata(np.concatenate([positive, negative]))
    n, m = len(positive), len(negative)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def both(scored: Sequence[Pairs]) -> tuple[float, float]:
    """Mean AUC of users, and that of all their pairs in one list.

    Args:
        scored: of each user the scores of targets and of negatives.
    """
    own = float(np.mean([auc(*one) for one in scored]))
    pooled = auc(*(np.concatenate([one[j] for one in scored]) for j in (0, 1)))
    return own, pooled


def drawn(queries: Queries, catalogue: NDArray[np.int64], rng: np.random.Generator) -> list[Any]:
    """Negatives of each query: neither its history nor its targets."""
    out = []
    for q in range(len(queries)):
        taken = np.concatenate([queries.history(q), queries.targets(q)])
        left = np.setdiff1d(catalogue, taken)
        out.append(rng.choice(left, min(NEGATIVES, len(left)), replace=False))
    return out


def of_models(
    split: Split, models: Sequence[Mapping[str, Any]], seed: int, kept: Mapping[str, Any]
) -> NDArray[np.float64]:
    """AUC of all models by both definitions, float64 ``[2, models]``.

    Args:
        split: full or sampled.
        models: of the scenario.
        seed: of the fits.
        kept: targets and negatives of the full data.
    """
    queries = split.queries("test", fit="train")
    row_of = {int(user): q for q, user in enumerate(queries.users)}
    out = []
    for about in models:
        model = build("model", about["name"], about["settings"]).fit(split.train, rng=seed)
        scores = np.asarray(model.score(queries), np.float64)
        scored = [
            (scores[row_of[user], targets], scores[row_of[user], others])
            for user, targets, others in zip(
                kept["users"], kept["targets"], kept["negatives"], strict=True
            )
        ]
        out.append(both(scored))
    return np.array(out).T


def rows(
    source: Source, seed: int, settings: Mapping[str, Any], keeps: Sequence[float]
) -> Iterator[dict[str, Any]]:
    """Mean tau over sizes by the users' own AUC and by the pooled one, a row a sampler.

    Args:
        source: the data set, whole.
        seed: of split, draws and fits.
        settings: of the models, by name.
        keeps: sizes.
    """
    log = fr.read(source.name).interactions
    split = RandomRows(test=0.1, valid=0.1, per_user=True).split(log, rng=seed)
    queries = split.queries("test", fit="train")
    catalogue = np.flatnonzero(split.train.item_counts > 0)
    kept = {
        "users": [int(user) for user in queries.users],
        "targets": [queries.targets(q) for q in range(len(queries))],
        "negatives": drawn(queries, catalogue, np.random.default_rng(seed)),
    }
    models = parts.models_of("implicit", settings)
    full = of_models(split, models, seed, kept)
    for label, sampler in SAMPLERS.items():
        taus = []
        for keep in keeps:
            small = subsample(split, sampler, keep, seed, floor=Floor(**parts.FLOOR)).split
            assert small is not None
            taus.append(kendall_tau(full, of_models(small, models, seed, kept)))
        own, pooled = (float(x) for x in np.mean(taus, axis=0))
        yield {
            "trap": "pooled AUC",
            "sampler": label,
            "without": own,
            "with": pooled,
            "without_same_terms": own,
            "terms_without": len(keeps),
            "terms_with": len(keeps),
        }
