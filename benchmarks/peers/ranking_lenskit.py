"""LensKit on the ranking problem: ``batch.recommend``, 100 items a user, two jobs."""

from __future__ import annotations

import time

import numpy as np

from benchmarks._world import recall_at_10, world


def seconds(q: int, c: int, d: int) -> dict[str, float]:
    """Seconds on ``q`` users, and the recall at 10."""
    import pandas as pd
    from lenskit.als import ImplicitMFScorer
    from lenskit.batch import recommend
    from lenskit.data import DatasetBuilder
    from lenskit.pipeline import topn_pipeline

    w = world(q, c, d)
    frame = pd.DataFrame(
        {"user_id": np.repeat(np.arange(q), w.history.shape[1]), "item_id": w.history.ravel()}
    )
    builder = DatasetBuilder()
    builder.add_entities("user", np.arange(q))
    builder.add_entities("item", np.arange(c))
    builder.add_interactions("click", frame, entities=["user", "item"], missing="error")
    data = builder.build()
    scorer = ImplicitMFScorer(embedding_size=d, epochs=1, user_embeddings="prefer")
    pipeline = topn_pipeline(scorer, n=100)
    pipeline.train(data)
    fitted = pipeline.component("scorer")
    fitted.user_embeddings = w.users[np.asarray(fitted.users.ids())]
    fitted.item_embeddings = w.items[np.asarray(fitted.items.ids())]
    best = {}
    for jobs in (1, 2):
        start = time.perf_counter()
        found = recommend(pipeline, list(range(q)), n=100, n_jobs=jobs)
        best[time.perf_counter() - start] = jobs
    lists = np.stack([np.asarray(found.lookup(user_id=u).ids()) for u in range(q)])
    return {
        "recommend": min(best),
        "jobs": best[min(best)],
        "recall": recall_at_10(lists, w.targets),
    }
