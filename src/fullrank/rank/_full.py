"""Full-catalogue ranking: one pass over blocks of queries gives ranks of targets and top lists.

Each worker holds one block at a time; nothing of size users × items is ever made. How the scores
come decides the path, and all paths rank by the same canonical scores, so that the result is the
same for any of them, any number of threads and any memory budget:

- factors (``item_factors`` and ``query_factors``): ``_factors``
- one row for all queries (``shared_scores``): ``_shared``
- a product of sparse matrices (``sparse_product``): ``_sparse``
- anything else: ``_blocks``

``backends`` ranks from factors on another device, if asked to, by the same scores.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.queries import Queries
from fullrank.core.ranked import TopK
from fullrank.core.threads import n_threads
from fullrank.models._base import Recommender
from fullrank.models._threads import one_blas_thread
from fullrank.negatives import Negatives
from fullrank.rank import _blocks, _factors
from fullrank.rank._adaptive import Adaptive
from fullrank.rank._candidates import Candidates, rank_candidates, whole_seed
from fullrank.rank._catalogue import Catalogue, as_catalogue
from fullrank.rank._job import Job, Ranking, capacity_of, plan_blocks, run_blocks
from fullrank.rank._shared import rank_shared_row
from fullrank.rank._sparse import rank_sparse_product
from fullrank.rank.backends import rank_elsewhere

BYTES_PER_SCORE = 16
"""Upper bound of what a block costs per score: float32 scores, a float64 product, a copy."""


def rank(
    model: Recommender,
    queries: Queries,
    *,
    k: int = 0,
    catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
    candidates: Candidates | Literal["full"] = "full",
    memory: int = 512 * 2**20,
    threads: int | None = None,
    seed: int = 0,
    backend: str = "numba",
    device: str | None = None,
) -> Ranking:
    """Rank the catalogue for each query; history masked unless repeats are evaluated.

    Args:
        model: a fitted recommender.
        queries: cases with histories and targets.
        k: length of the lists to keep; 0 for ranks alone.
        catalogue: ``"fit"`` (items of the fitted data), ``"all"``, a mask or a Catalogue.
        candidates: ``"full"``: the whole catalogue; or how each query draws some of it, such as
            ``Uniform(m=100)`` or an adaptive design. Only those are scored; the ranks then know
            their sample, from which ``fullrank.estimate`` tells metrics of the full ranking.
        memory: bound on the extra memory in bytes, besides a copy of the model's item factors.
        threads: workers; all cores by default. The result is the same for any number.
        seed: of the hash that orders equal scores in the lists (ranks need none), and of the
            candidates, which are the same for every model.
        backend: ``"numba"``, the engine's own kernels, or ``"torch"``, for models with factors on
            a device that PyTorch knows. The result is the same to the last bit.
        device: of ``"torch"``, such as ``"cuda:1"``; CUDA where there is one, else the CPU.

    Returns:
        ``Ranking`` with ``TargetRanks`` and ``TopK``.

    Raises:
        ScoreError: a candidate scored NaN or +inf; names model, user and item.
        SpecError: ``"torch"`` without PyTorch, without such a device, or for a model without
            factors; lists (``k``) or another backend with sampled candidates.
        TooLargeError: one block of scores does not fit into ``memory``.
    """
    model.check(queries)
    whole_number("k", k, 0)
    whole_number("memory", memory, 1)
    if threads is not None:
        whole_number("threads", threads, 1)
    chosen = as_catalogue(catalogue, model.known_items_)
    workers = max(1, (threads or n_threads()) if model.thread_safe else 1)
    whole_seed(seed)
    if not isinstance(candidates, str) or candidates != "full":
        _check_candidates(candidates, k, backend)
        with one_blas_thread():
            ranks = rank_candidates(model, queries, candidates, chosen, seed=seed, workers=workers)
        return Ranking(ranks, None)
    job = Job.of(model, queries, k, chosen, seed)
    with one_blas_thread():
        if not rank_elsewhere(job, backend, device, memory, workers) and not any(
            _rank_by(way, job, memory, workers) for way in model.ways()
        ):
            _rank_scores(job, memory, workers, range(len(queries)))
    return job.result()


def _check_candidates(candidates: object, k: int, backend: str) -> None:
    """Refuse what is no design, and what can't be had from some candidates."""
    if not isinstance(candidates, Negatives | Adaptive):
        raise SpecError(
            f"candidates must be 'full' or a design such as Uniform(m=100), got {candidates!r}"
        )
    if k or backend != "numba":
        raise SpecError(
            f"lists (k={k}) and the backend {backend!r} need the whole catalogue; with sampled "
            "candidates leave k=0 and backend='numba'"
        )


def recommend(
    model: Recommender,
    queries: Queries,
    k: int = 10,
    *,
    catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
    seed: int = 0,
) -> TopK:
    """Return the k best items of each query, history left out, ties by a seeded hash."""
    whole_number("k", k, 1)
    top = rank(model, queries.without_targets(), k=k, catalogue=catalogue, seed=seed).top
    assert top is not None
    return top


def _rank_by(way: str, job: Job, memory: int, workers: int) -> bool:
    """Rank by what the model shows; False, with nothing done, if it shows nothing to rank by."""
    if len(job.eligible[0]):
        return False
    if way == "shared_scores":
        return rank_shared_row(job, workers)
    return (_rank_factors if way == "item_factors" else rank_sparse_product)(job, memory, workers)


def _rank_factors(job: Job, memory: int, workers: int) -> bool:
    """Rank from factors if the model has them and they can be screened in float32."""
    factors = job.model.item_factors()
    if factors is None:
        return False
    _factors.check_item_factors(job)
    list_bytes = 8 * capacity_of(job.k, job.catalogue.size)
    row = 4 * _factors.TILE // _factors.BLOCK + list_bytes + 4096
    what = "one query's part of a tile and of its list"
    block, workers = plan_blocks(what, _factors.BLOCK, row, memory, workers)
    packed = _factors.Packed.of(factors, job.catalogue.items, _factors.TILE // _factors.BLOCK)
    if not packed.largest < _factors.LARGEST_PRODUCT:  # NaN too: let the scores be checked
        return False
    blocks, q, failed = _factors.FactorBlocks(packed, block, job.k), len(job.queries), []

    def task(start: int) -> None:
        if not blocks.run(job.part(slice(start, min(start + block, q)))):
            failed.append(start)

    run_blocks(task, range(0, q, block), workers)
    for start in sorted(failed):  # one after another, as each may take all of the memory
        _rank_scores(job, memory, workers, range(start, min(start + block, q)))
    return True


def _rank_scores(job: Job, memory: int, workers: int, rows: range) -> None:
    """Rank some of the queries from blocks of scores."""
    n_items = job.queries.n_items
    row = n_items * BYTES_PER_SCORE + 8 * capacity_of(job.k, n_items)
    what = f"one row of scores over {n_items:,} items with its list"
    block, workers = plan_blocks(what, _blocks.BLOCK, row, memory, workers)
    blocks = _blocks.ScoreBlocks(block, job.k)
    run_blocks(lambda start: blocks.run(job, start), range(rows.start, rows.stop, block), workers)


def whole_number(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number of at least ``least``.

    Raises:
        SpecError: names the argument and what it got.
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise SpecError(f"{name} must be a whole number of {least} or more, got {value!r}")
