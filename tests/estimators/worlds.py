"""Synthetic worlds: distributions of full ranks with a known truth, and samples from them."""

from __future__ import annotations

import numpy as np

from fullrank.core.ragged import as_indptr
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary

KS = np.arange(1, 51)


def law(name: str, n: int) -> np.ndarray:
    """Probability of each rank 1 to ``n`` (the specification's names)."""
    r = np.arange(1, n + 1, dtype=float)
    p = {
        "pin": 1 / (r + 50),
        "sharp": 1 / (r + 2),
        "pow.6": r**-0.6,
        "pow1.2": r**-1.2,
        "mass": 1 / (r + 30),
        "unif": 1 + 2 * np.exp(-r / 2000),
        "hump": np.exp(-0.5 * (np.log(r / 30) / 0.8) ** 2) / r,
    }[name]
    p /= p.sum()
    if name == "mass":
        p = 0.85 * p
        p[0] += 0.15
    return p


def full_ranks(name: str, n: int, users: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(np.arange(1, n + 1), size=users, p=law(name, n))


def sampled(ranks, n: int, size: int, rng, *, replacement: bool = False) -> np.ndarray:
    """Rank of each target in a sample of ``size``, itself included."""
    if replacement:
        return 1 + rng.binomial(size - 1, (ranks - 1) / (n - 1))
    return 1 + rng.hypergeometric(ranks - 1, n - ranks, size - 1)


def as_ranks(r, sizes, catalogs, *, replacement: bool = False, scheme: str = "uniform"):
    """Sampled ranks of one target a user."""
    r = np.asarray(r, np.int32)
    m = len(r)
    sizes = np.broadcast_to(np.asarray(sizes, np.int32), m).copy()
    catalogs = np.broadcast_to(np.asarray(catalogs, np.int32), m).copy()
    ids = Vocabulary(np.arange(m), "user")
    return TargetRanks(
        users=np.arange(m, dtype=np.int32),
        query_ids=np.zeros(m, np.int64),
        indptr=as_indptr(np.ones(m, int)),
        best=np.where(r > 0, r, UNRANKED),
        worst=np.where(r > 0, r, UNRANKED),
        gains=np.ones(m),
        items=np.zeros(m, np.int32),
        n_candidates=sizes,
        user_vocab=ids,
        item_vocab=ids,
        others="excluded",
        design={"candidates": "Uniform"},
        sample=Sample(r, sizes, catalogs, np.zeros(m, np.int32), scheme, replacement),
    )


def truth(ranks: np.ndarray) -> np.ndarray:
    """Recall@1..50, then NDCG@1..50."""
    inside = ranks[:, None] <= KS
    return np.concatenate([inside.mean(0), (inside / np.log2(ranks[:, None] + 1)).mean(0)])


def functions(bins) -> np.ndarray:
    """The same metrics as functions of the rank, over bins."""

    def of(r):
        inside = (r[:, None] <= KS).astype(float)
        return np.hstack([inside, inside / np.log2(r[:, None] + 1)])

    return bins.means(of)


def errors(estimate: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """Mean relative error over k in percent: Recall, NDCG; a truth of 0 counts as 0."""
    off = np.divide(np.abs(estimate - true), true, out=np.zeros_like(true), where=true > 0)
    return 100 * off[:50].mean(), 100 * off[50:].mean()
