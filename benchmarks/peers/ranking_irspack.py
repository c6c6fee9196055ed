"""irspack on the ranking problem: its ``Evaluator`` with three cut-offs and with one."""

from __future__ import annotations

import time

from benchmarks._world import world
from benchmarks.peers._matrices import csr


def seconds(q: int, c: int, d: int) -> dict[str, float]:
    """Seconds of ``get_scores`` on ``q`` users, and the recall at 10."""
    from irspack.evaluation import Evaluator
    from irspack.recommenders.base import BaseRecommender

    w = world(q, c, d)

    class Factors(BaseRecommender, register_class=False):
        """Given factors, scored as irspack's own matrix factorisations do."""

        def _learn(self) -> None:
            pass

        def get_score(self, user_indices):
            return w.users[user_indices].dot(w.items.T)

        def get_score_block(self, begin: int, end: int):
            return w.users[begin:end].dot(w.items.T)

    model = Factors(csr(w.history, c))
    evaluator = Evaluator(csr(w.targets, c), n_threads=2)
    start = time.perf_counter()
    found = evaluator.get_scores(model, [10, 20, 100])
    three = time.perf_counter() - start
    start = time.perf_counter()
    evaluator.get_scores(model, [10])
    one = time.perf_counter() - start
    return {"three": three, "one": one, "recall": float(found["recall@10"])}
