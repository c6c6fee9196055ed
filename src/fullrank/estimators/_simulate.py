"""Sampled ranks drawn from known ranks, as a design would find them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ragged import as_indptr
from fullrank.core.random import RNG, generator
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators.proxy_list import ProxyList
from fullrank.negatives import Negatives
from fullrank.rank import Adaptive


def simulate(
    ranks: NDArray[np.int64],
    catalog: int | NDArray[np.int64],
    design: Negatives | Adaptive,
    rng: RNG = 0,
    *,
    listed: NDArray[np.int64] | None = None,
    length: int | NDArray[np.int64] = 0,
) -> TargetRanks:
    """Draw the sample that a design of uniform draws would find for targets of known ranks.

    Args:
        ranks: int64 ``[m]``, 1 to ``catalog``; one target a user.
        catalog: ``N``, the target included; for all or for each ``[m]``.
        design: fixed or adaptive.
        rng: seed or Generator.
        listed: int64 ``[m]``, for ``ProxyList`` alone: items of the list that precede each target.
        length: of the list, without the target; for all or for each ``[m]``.

    Returns:
        Sampled ranks.

    Raises:
        SpecError: a proxy list without ``listed``, or the reverse; ranks or lists that can't be.
    """
    ranks, m = np.asarray(ranks), len(ranks)
    _check_known(ranks, np.asarray(catalog))
    catalogs = np.broadcast_to(np.asarray(catalog, np.int64), m)
    ahead, lengths = _listed(ranks, catalogs, design, listed, length)
    rest = catalogs - lengths
    k_max = design.k_max if isinstance(design, ProxyList) else None
    going = np.arange(m) if k_max is None else np.flatnonzero(ahead < k_max)
    drawn, hits = _drawn(ranks - ahead, rest - 1, going, design, generator(rng))
    r, sizes = (hits + 1).astype(np.int32), (drawn + 1).astype(np.int32)
    best = (r + ahead).astype(np.int32)
    users, item = Vocabulary(np.arange(m, dtype=np.int64), "user"), np.zeros(m, np.int32)
    return TargetRanks(
        users=np.arange(m, dtype=np.int32),
        query_ids=np.zeros(m, np.int64),
        indptr=as_indptr(np.ones(m, np.int64)),
        best=best,
        worst=best.copy(),
        gains=np.ones(m),
        items=item,
        n_candidates=(sizes + lengths).astype(np.int32),
        user_vocab=users,
        item_vocab=Vocabulary(np.zeros(1, np.int64), "item"),
        others="excluded",
        design={"candidates": type(design).__name__, **design.settings()},
        counts={"scored_pairs": int((sizes + lengths).sum())},
        sample=Sample(
            r,
            sizes,
            rest.astype(np.int32),
            item,
            replacement=_negatives(design).replacement,
            listed=ahead.astype(np.int32),
            k_max=k_max,
        ),
    )


def _check_known(ranks: NDArray[np.int64], catalog: NDArray[np.int64]) -> None:
    """Refuse what are no ranks in these catalogues.

    Raises:
        SpecError: names the first target.
    """
    for name, array, shapes in (
        ("ranks", ranks, [(len(ranks),)]),
        ("catalog", catalog, [(), (len(ranks),)]),
    ):
        if array.dtype.kind not in "iu" or array.shape not in shapes:
            raise SpecError(
                f"{name} must be whole numbers of shape {' or '.join(map(str, shapes))}, got "
                f"{array.dtype} {array.shape}"
            )
    bad = np.flatnonzero((ranks < 1) | (ranks > catalog))
    if len(bad):
        t = int(bad[0])
        n = int(np.broadcast_to(catalog, len(ranks))[t])
        raise SpecError(
            f"target {t + 1} of {len(ranks):,} has the rank {ranks[t]:,} in a catalogue of {n:,}; "
            "ranks are 1 to the size of the catalogue"
        )


def _listed(
    ranks: NDArray[np.int64],
    catalogs: NDArray[np.int64],
    design: Negatives | Adaptive,
    listed: NDArray[np.int64] | None,
    length: int | NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Listed items ahead of each target and lengths of lists: int64 ``[m]`` each, 0 without."""
    none = np.zeros(len(ranks), np.int64)
    if (listed is not None) != isinstance(design, ProxyList):
        raise SpecError(
            "listed (how many items of the list precede each target) goes with the design "
            f"ProxyList, and with no other; got {type(design).__name__}"
        )
    if listed is None:
        return none, none
    ahead, lengths = none + listed, none + length
    behind = lengths - ahead
    bad = np.flatnonzero(
        (ahead < 0) | (behind < 0) | (ahead >= ranks) | (behind > catalogs - ranks)
    )
    if len(bad):
        t = int(bad[0])
        raise SpecError(
            f"target {t + 1} of rank {ranks[t]:,} among {catalogs[t]:,} can't have {ahead[t]:,} "
            f"items of a list of {lengths[t]:,} ahead of it"
        )
    return ahead, lengths


def _negatives(design: Negatives | Adaptive) -> Negatives:
    """What is drawn from."""
    return design if isinstance(design, Negatives) else design.negatives


def _drawn(
    ranks: NDArray[np.int64],
    pool: NDArray[np.int64],
    going: NDArray[np.int64],
    design: Negatives | Adaptive,
    source: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draws for each target ``[m]``, and how many of them precede it; ``going`` are drawn for."""
    negatives, m = _negatives(design), len(ranks)
    limit = np.full(m, np.iinfo(np.int64).max) if negatives.replacement else pool
    drawn, hits = np.zeros(m, np.int64), np.zeros(m, np.int64)
    stage = 0
    wanted = np.minimum(negatives.m, limit)
    going = going[wanted[going] > 0]
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
