"""Ranking from other scores than factors: `python -m benchmarks.scored`.

Each beside the least that its scores cost in the same run: EASE, the product of sparse histories
with its dense weights; ItemKNN, the product with its sparse similarities; Popularity, where scores
cost nothing, one read of the inputs; any model's `score`, the scores themselves.
"""

from __future__ import annotations

import statistics
from functools import partial

from benchmarks._measure import alone, interleaved
from benchmarks._rows import Row, main

TWICE, MEMORY = 2.0, 512


def world(q: int, c: int):
    """A vocabulary of ``c`` items, and queries with 120 popular history items and 8 targets."""
    import numpy as np

    from fullrank.core.interactions import Interactions
    from fullrank.core.queries import Queries
    from fullrank.core.ragged import as_indptr
    from fullrank.core.vocabulary import Vocabulary

    rng = np.random.default_rng(0)
    weights = np.cumsum(1.0 / np.arange(1, c + 1) ** 0.8)
    drawn = np.searchsorted(weights / weights[-1], rng.random((q, 200)))
    picks = np.minimum(rng.permutation(c)[np.minimum(drawn, c - 1)], c - 1).astype(np.int32)
    rows = [np.unique(row)[rng.permutation(len(np.unique(row)))[:128]] for row in picks]
    users, items = Vocabulary.of(np.arange(q), "user"), Vocabulary.of(np.arange(c), "item")
    targets = [np.sort(row[:8]) for row in rows]
    queries = Queries(
        users=np.arange(q, dtype=np.int32),
        history_indptr=as_indptr([len(row) - 8 for row in rows]),
        history_items=np.concatenate([row[8:] for row in rows]),
        target_indptr=as_indptr([8] * q),
        target_items=np.concatenate(targets),
        target_gains=np.ones(8 * q),
        user_vocab=users,
        item_vocab=items,
    )
    codes = np.arange(c, dtype=np.int32)
    return Interactions(np.zeros(c, np.int32), codes, users, items), queries


def as_fitted(model, train, **arrays):
    """A model with its fitted arrays given: what is measured is ranking alone."""
    import numpy as np

    model.user_vocab_, model.item_vocab_ = train.user_vocab, train.item_vocab
    model.known_users_ = np.ones(train.n_users, bool)
    model.known_items_ = np.ones(train.n_items, bool)
    for name, value in arrays.items():
        setattr(model, name, value)
    return model


def ease(q: int, c: int, rounds: int) -> dict[str, float]:
    """EASE's dense weights: the limit is SciPy's product of histories and weights, by blocks."""
    import numpy as np

    from fullrank.models import EASE

    train, queries = world(q, c)
    rng = np.random.default_rng(1)
    weights = np.empty((c, c), np.float32)
    weights[: c // 4] = rng.normal(size=(c // 4, c))
    for part in range(c // 4, c, c // 4):
        weights[part : part + c // 4] = weights[: len(weights[part : part + c // 4])]
    model = as_fitted(EASE(), train, weights_=weights, places_=np.arange(c, dtype=np.int32))
    return figures(model, queries, partial(by_blocks, queries.history_csr(), weights), rounds)


def item_knn(q: int, c: int, rounds: int) -> dict[str, float]:
    """ItemKNN with 100 neighbours: the limit is SciPy's sparse product, by blocks."""
    import numpy as np
    from scipy.sparse import csr_matrix

    from fullrank.models import ItemKNN

    train, queries = world(q, c)
    rng = np.random.default_rng(1)
    near = rng.integers(0, c, (c, 100), dtype=np.int32)
    near.sort(axis=1)
    data = rng.random(near.size, dtype=np.float32)
    weights = csr_matrix((data, near.ravel(), np.arange(0, near.size + 1, 100)), shape=(c, c))
    weights.sum_duplicates()
    model = as_fitted(ItemKNN(), train, weights_=weights)
    return figures(model, queries, partial(by_blocks, queries.history_csr(), weights), rounds)


def popularity(q: int, c: int, rounds: int) -> dict[str, float]:
    """Popularity: the limit is a read of histories and targets and a write of the lists."""
    import numpy as np

    from fullrank.models import Popularity

    train, queries = world(q, c)
    scores = np.random.default_rng(1).permutation(c).astype(np.float32)
    model = as_fitted(Popularity(), train, scores_=scores)

    def read() -> None:
        scores[queries.history_items].sum()
        scores[queries.target_items].sum()
        np.zeros((q, 100), np.int32), np.zeros((q, 100), np.float32)

    return figures(model, queries, read, rounds)


def any_scores(q: int, c: int, rounds: int) -> dict[str, float]:
    """A model that only scores (Random): the limit is the making of its scores, by blocks."""
    from concurrent.futures import ThreadPoolExecutor

    from fullrank.models import Random

    train, queries = world(q, c)
    model = Random().fit(train)

    def score() -> None:
        blocks = [queries[at : at + 64].without_targets() for at in range(0, q, 64)]
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda part: model.score(part).shape, blocks):
                pass

    return figures(model, queries, score, rounds)


def by_blocks(left, right) -> None:
    """A sparse product in two threads, 64 rows at a time (SciPy holds no lock)."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(
            lambda at: (left[at : at + 64] @ right).shape, range(0, left.shape[0], 64)
        ):
            pass


def figures(model, queries, limit, rounds: int) -> dict[str, float]:
    """Median seconds of ranking and of the limit; extra GiB."""
    from benchmarks._growth_pieces import timed
    from fullrank.rank import rank

    def whole() -> None:
        rank(model, queries, k=100)

    memory = timed(whole, lambda: rank(model, queries[:256], k=100), longest=0.0)["gib"]
    found = interleaved({"whole": whole, "limit": limit}, rounds)
    return {name: statistics.median(s) for name, s in found.items()} | {"gib": memory}


CASES = (
    ("EASE, dense weights", "ease", 4_000, 20_000, "sparse × dense product"),
    ("ItemKNN, 100 neighbours", "item_knn", 20_000, 500_000, "sparse product"),
    ("Popularity, one row for all", "popularity", 138_000, 20_000, "reading and writing"),
    ("a model's own score (Random)", "any_scores", 8_000, 20_000, "scoring"),
)


def rows(quick: bool) -> list[Row]:
    """Time against what the scores cost, and memory, for each kind."""
    out = []
    for what, name, q, c, limit in CASES:
        if quick:
            q, c = q // 20, c // 10
        run = alone(f"benchmarks.scored:{name}", q, c, 1 if quick else 3, gib=64)
        label = f"top 100 and ranks of 8 targets, {what}, {q:,} × {c:,}"
        if run.error:
            out.append(Row(label, "–", None, False, note=f"failed: {run.error}"))
            continue
        found = run.value
        goal = name in ("ease", "item_knn")
        out.append(
            Row(
                label,
                f"at most {TWICE:g}× the {limit}" if goal else "–",
                found["whole"],
                found["whole"] <= TWICE * found["limit"] if goal else None,
                limit=found["limit"],
                limit_name=limit,
                note=f"{1024 * found['gib']:.0f} MiB beyond the inputs, results included",
            )
        )
    return out


if __name__ == "__main__":
    main(rows)
