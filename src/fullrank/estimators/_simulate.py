"""Sampled ranks drawn from known ranks, as a design would find them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ragged import as_indptr
from fullrank.core.random import RNG, generator
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary
from fullrank.negatives import Negatives
from fullrank.rank import Adaptive


def simulate(
    ranks: NDArray[np.int64],
    catalog: int | NDArray[np.int64],
    design: Negatives | Adaptive,
    rng: RNG = 0,
) -> TargetRanks:
    """Draw the sample that a design of uniform draws would find for targets of known ranks.

    Args:
        ranks: int64 ``[m]``, 1 to ``catalog``; one target a user.
        catalog: ``N``, the target included; for all or for each ``[m]``.
        design: fixed or adaptive.
        rng: seed or Generator.

    Returns:
        Sampled ranks.
    """
    negatives = design if isinstance(design, Negatives) else design.negatives
    m = len(ranks)
    catalogs = np.broadcast_to(np.asarray(catalog, np.int64), m)
    drawn, hits = _drawn(ranks, catalogs - 1, design, negatives, generator(rng))
    r, sizes = (hits + 1).astype(np.int32), (drawn + 1).astype(np.int32)
    users, item = Vocabulary(np.arange(m, dtype=np.int64), "user"), np.zeros(m, np.int32)
    return TargetRanks(
        users=np.arange(m, dtype=np.int32),
        query_ids=np.zeros(m, np.int64),
        indptr=as_indptr(np.ones(m, np.int64)),
        best=r,
        worst=r.copy(),
        gains=np.ones(m),
        items=item,
        n_candidates=sizes,
        user_vocab=users,
        item_vocab=Vocabulary(np.zeros(1, np.int64), "item"),
        others="excluded",
        design={"candidates": type(design).__name__, **design.settings()},
        counts={"scored_pairs": int(sizes.sum())},
        sample=Sample(r, sizes, catalogs.astype(np.int32), item, replacement=negatives.replacement),
    )


def _drawn(
    ranks: NDArray[np.int64],
    pool: NDArray[np.int64],
    design: Negatives | Adaptive,
    negatives: Negatives,
    source: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draws for each target ``[m]``, and how many of them precede it."""
    m = len(ranks)
    limit = np.full(m, np.iinfo(np.int64).max) if negatives.replacement else pool
    drawn, hits = np.zeros(m, np.int64), np.zeros(m, np.int64)
    going, stage = np.arange(m), 0
    wanted = np.minimum(negatives.m, limit)
    while len(going):
        more = (wanted - drawn)[going]
        marked = ranks[going] - 1
        if negatives.replacement:
            found = source.binomial(more, marked / np.maximum(pool[going], 1))
        else:
            left = marked - hits[going]
            found = source.hypergeometric(left, pool[going] - drawn[going] - left, more)
        hits[going] += found
        drawn[going] = wanted[going]
        stage += 1
        if isinstance(design, Negatives):
            break
        coins = source.random(len(going))
        asked = design.more(stage, drawn[going], hits[going], pool[going], coins)
        wanted[going] = np.minimum(asked, limit[going])
        going = going[wanted[going] > drawn[going]]
    return drawn, hits
