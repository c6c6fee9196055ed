"""Ranking from factors by PyTorch on a device, the same to the last bit as on the CPU.

As in ``rank._factors``, tiles of scores are screened in float32, and what lies within rounding of
a target or of the k-th best is settled by canonical scores, float64 products that are exact on any
device. That the device keeps the bound of the rounding is checked on each target and list entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ragged import as_indptr, rows_of, take_ragged
from fullrank.core.ranked import UNRANKED
from fullrank.rank import _blocks, _factors
from fullrank.rank._job import Job, run_blocks
from fullrank.rank.backends._device import Tensor, device_of, full_precision, torch
from fullrank.rank.backends._lists import MARGIN, BestOfBlock
from fullrank.rank.backends._ranks import RankedTargets
from fullrank.rank.backends._scores import Block, Cells, Items

BLOCK = 4096
"""Queries a block, at most."""

FEW = 256
"""The catalogue is cut into tiles where so many queries would not fit into memory at once."""

_BYTES_PER_CELL = 32
"""Of a tile: float32 scores, comparisons with their sums, and what ``topk`` takes where it sorts
(values and int64 places, twice)."""

_BYTES_PER_ENTRY = 64
"""Of a list: places, scores, canonical ones, codes, keys and orders."""


class Plan(NamedTuple):
    """How a ranking is cut: queries a block, places a tile, bytes of a temporary array."""

    block: int
    width: int
    part: int


def plan(memory: int, n: int, d: int, k: int, cells: float) -> Plan:
    """Cut a ranking so that it keeps to a bound.

    Half of the memory is for a tile and the lists, a quarter for a temporary array and a quarter
    to spare.

    Args:
        memory: bytes.
        n: items of the catalogue.
        d: factors.
        k: length of lists.
        cells: history and eligible items of a query.
    """
    row = 32 * d + 32 * int(cells) + _BYTES_PER_ENTRY * (k + MARGIN if k else 0)
    room = max(0, memory // 2 - min(FEW * row, memory // 4)) // _BYTES_PER_CELL
    width = min(n + _factors.LANES, max(_factors.LANES, room // FEW))
    block = memory // 2 // (_BYTES_PER_CELL * width + row)
    return Plan(min(BLOCK, max(1, block)), width, memory // 4)


def rank_on_device(job: Job, device: str | None, memory: int, workers: int) -> None:
    """Rank a job from its model's factors on a device.

    Queries whose factors are not finite, or so large as to overflow float32, are ranked from
    scores on the CPU, as without a device.

    Args:
        job: to fill.
        device: such as ``"cuda"``; None for CUDA where there is one, else the CPU.
        memory: bound on the extra memory there in bytes, besides the item factors.
        workers: threads that make the factors of queries.

    Raises:
        SpecError: no PyTorch, no such device, or a model without factors.
        ScoreError: the device computes less precisely than its arithmetic promises.
    """
    where = device_of(device)
    factors = job.model.item_factors() if "item_factors" in job.model.ways() else None
    if factors is None:
        raise SpecError(
            f"{type(job.model).__name__} has no factors and backend='torch' ranks from factors "
            "(PureSVD, IALS, and models with item_factors and query_factors); "
            "leave backend= out to rank it on the CPU"
        )
    shape = (job.queries.n_items, factors.shape[-1])
    _blocks.check_scores(job.model, factors, shape, "item_factors")
    _, masked = job.masked()
    cells = (len(masked) + len(job.eligible[1])) / max(1, len(job.queries))
    cut = plan(memory, job.catalogue.size, shape[1], job.k, cells)
    packed = _factors.Packed.of(factors, job.catalogue.items, cut.width)
    blocks = _factors.FactorBlocks(packed, _factors.BLOCK, job.k)
    from fullrank.rank._full import _rank_scores

    with full_precision(where):
        items = Items.of(packed, job.item_keys, cut.part, where)
        buffer = torch.empty(cut.block * packed.layout.width, device=where, dtype=torch.float32)
        for start in range(0, len(job.queries), cut.block):
            stop = min(start + cut.block, len(job.queries))
            part = job.part(slice(start, stop))
            found = _query_factors(blocks, part, workers)
            if found is None:
                _rank_scores(job, memory, workers, range(start, stop))
            else:
                _rank_block(items, part, *found, buffer)


def _query_factors(
    blocks: _factors.FactorBlocks, job: Job, workers: int
) -> tuple[NDArray[np.float32], NDArray[np.float64]] | None:
    """Factors on the grid and error bounds of queries; None if they can't be screened."""
    if not blocks.packed.largest < _factors.LARGEST_PRODUCT:  # NaN too
        return None
    factors = np.empty((len(job.queries), blocks.packed.factors.shape[1]), np.float32)
    error = np.empty(len(factors))
    failed = np.zeros(len(factors), dtype=bool)

    def task(start: int) -> None:
        some = slice(start, min(start + blocks.block, len(factors)))
        product = blocks._product(job.part(some))
        if product is None:
            failed[some] = True
        else:
            factors[some], error[some] = product.queries, product.error

    run_blocks(task, range(0, len(factors), blocks.block), workers)
    return None if failed.any() else (factors, error)


def _rank_block(
    items: Items, job: Job, factors: NDArray[np.float32], error: NDArray[np.float64], buffer: Tensor
) -> None:
    """Rank queries; on the device those with the most targets stand first."""
    ranked = _in_catalogue(job)
    counts = np.bincount(rows_of(job.queries.target_indptr)[ranked], minlength=len(factors))
    by = np.argsort(-counts, kind="stable")
    block = _block(items, job, factors, error, by)
    order, rows, sizes = _columns(counts, by)
    which = ranked[order]
    codes = job.queries.target_items[which].astype(np.int64)
    targets = RankedTargets.of(items, block, rows, codes, sizes)
    best, seen = BestOfBlock(job.k), torch.zeros(len(by), dtype=torch.int64, device=buffer.device)
    for number in range(items.layout.n_tiles):
        tile = items.screened(block, number, buffer)
        seen += (tile > -np.inf).sum(1, dtype=torch.int32)
        targets.count(items, block, number, tile)
        if job.k:
            best.collect(items, number, tile)
    job.n_candidates[by] = seen.cpu().numpy()
    job.best[:] = job.worst[:] = UNRANKED
    job.best[which] = (targets.above + 1).cpu().numpy()
    job.worst[which] = (targets.above + targets.level).cpu().numpy()
    if job.k:
        found, scores = best.finish(items, block)
        job.top_items[by], job.top_scores[by] = found.cpu().numpy(), scores.cpu().numpy()


def _block(
    items: Items,
    job: Job,
    factors: NDArray[np.float32],
    error: NDArray[np.float64],
    by: NDArray[np.int64],
) -> Block:
    """Queries on the device, in the order ``by``."""

    def send(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(items.factors.device)

    def cells(indptr: NDArray[np.int64], codes: NDArray[np.int32]) -> Cells:
        indptr, take = take_ragged(indptr, by)
        return Cells.of(indptr, codes[take], items.place_of)

    return Block(
        send(factors[by]),
        send(error[by]),
        send(job.query_keys[by].view(np.int64)),
        cells(*job.masked()),
        cells(*job.eligible) if len(job.eligible[0]) else None,
    )


def _in_catalogue(job: Job) -> NDArray[np.int64]:
    """Which targets are among the candidates."""
    queries = job.queries
    ranked = job.catalogue.items[queries.target_items]
    indptr, eligible = job.eligible
    if len(indptr):
        n, first = queries.n_items, int(indptr[0])
        allowed = rows_of(indptr) * n + eligible[first : int(indptr[-1])]
        ranked &= np.isin(rows_of(queries.target_indptr) * n + queries.target_items, allowed)
    return np.flatnonzero(ranked)


def _columns(
    counts: NDArray[np.int64], by: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Order targets as ``RankedTargets`` wants them: their order, rows, and number by column."""
    indptr, flat = take_ragged(as_indptr(counts), by)
    rows = rows_of(indptr)
    column = np.arange(len(rows)) - indptr[rows]
    order = np.argsort(column, kind="stable")
    return flat[order], rows[order], np.bincount(column).tolist()
