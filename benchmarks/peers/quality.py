"""Scores of all users and items by other tools' models, for ``benchmarks.quality``.

Each function reads ``rows.npz`` in ``folder``, fits, and writes float32 ``[n_users, n_items]`` to
``out``. Where a tool can solve a user's factors anew from the history, as fullrank does, it is let.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._interactions import matrix


def _save(out: str, scores: Any) -> None:
    if hasattr(scores, "toarray"):
        scores = scores.toarray()
    np.save(out, np.asarray(scores, dtype=np.float32))


def implicit_ials(
    folder: str, out: str, seed: int, d: int, epochs: int, reg: float, unobserved: float
) -> None:
    """The objective of IALS with ``nu=0`` (see ``training_implicit.ials``)."""
    from implicit.cpu.als import AlternatingLeastSquares

    X = matrix(folder, "rows")
    model = AlternatingLeastSquares(
        factors=d, regularization=reg * (1 + unobserved) / unobserved, alpha=1 + 1 / unobserved,
        iterations=epochs, num_threads=1, random_state=seed,
    )  # fmt: skip
    model.fit(X, show_progress=False)
    users = model.recalculate_user(np.arange(X.shape[0]), X)
    _save(out, users @ model.item_factors.T)


def implicit_bpr(
    folder: str, out: str, seed: int, d: int, epochs: int, rate: float, reg: float
) -> None:
    """Steps from rows drawn with replacement, negatives by popularity."""
    from implicit.cpu.bpr import BayesianPersonalizedRanking

    model = BayesianPersonalizedRanking(
        factors=d, learning_rate=rate, regularization=reg, iterations=epochs, num_threads=1,
        random_state=seed,
    )  # fmt: skip
    model.fit(matrix(folder, "rows"), show_progress=False)
    _save(out, model.user_factors @ model.item_factors.T)


def implicit_item_knn(folder: str, out: str, _seed: int, neighbours: int, turned: bool) -> None:
    """Cosine. An item is a neighbour of its own there, so that one more is asked for.

    Args:
        folder: with the rows.
        out: for the scores.
        neighbours: of each item.
        turned: let the items of the history speak that are neighbours of the scored item, as
            fullrank does; else the scored item must be a neighbour of theirs, as implicit does.
    """
    from implicit.nearest_neighbours import CosineRecommender

    X = matrix(folder, "rows")
    model = CosineRecommender(K=neighbours + 1, num_threads=1)
    model.fit(X, show_progress=False)
    _save(out, X @ (model.similarity.T if turned else model.similarity))


def irspack_ials(
    folder: str, out: str, seed: int, d: int, epochs: int, reg: float, unobserved: float
) -> None:
    """The objective of IALS with ``nu=1``."""
    from irspack.recommenders.ials import IALSRecommender

    X = matrix(folder, "rows")
    model = IALSRecommender(
        X, n_components=d, alpha0=unobserved, reg=reg, nu=1.0, n_threads=1, random_seed=seed
    )
    model.start_learning()
    for _ in range(epochs):
        model.run_epoch()
    _save(out, model.get_score_cold_user(X))


def irspack_item_knn(folder: str, out: str, _seed: int, neighbours: int, turned: bool) -> None:
    """Cosine; ``turned`` as in ``implicit_item_knn``."""
    from irspack.recommenders.knn import CosineKNNRecommender

    X = matrix(folder, "rows")
    model = CosineKNNRecommender(X, normalize=True, top_k=neighbours, shrinkage=0.0, n_threads=1)
    weights = model.learn().W
    _save(out, X @ (weights.T if turned else weights))


def irspack_ease(folder: str, out: str, _seed: int, reg: float) -> None:
    """Its ``DenseSLIMRecommender``."""
    from irspack.recommenders import DenseSLIMRecommender

    X = matrix(folder, "rows")
    _save(out, DenseSLIMRecommender(X, reg=reg).learn().get_score_cold_user(X))


def irspack_slim(folder: str, out: str, _seed: int, l1: float, l2: float) -> None:
    """Its penalties are times the number of users."""
    from irspack.recommenders import SLIMRecommender

    X = matrix(folder, "rows")
    model = SLIMRecommender(
        X, alpha=(l1 + l2) / X.shape[0], l1_ratio=l1 / (l1 + l2), n_iter=1000, n_threads=1
    )
    _save(out, model.learn().get_score_cold_user(X))


def fastslim_slim(folder: str, out: str, _seed: int, l1: float, l2: float) -> None:
    """``lambd`` and ``beta``."""
    import fastslim

    X = matrix(folder, "rows").astype(np.float64)
    _save(out, X @ fastslim.fit(X, lambd=l1, beta=l2, n_threads=1))
