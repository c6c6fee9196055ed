"""Rank a block of queries: ranks of the targets with their ties, and the k best items.

Two entries share the counting (``targets``) and the lists (``shortlist``): ``scan_tile`` for scores
of factors, which come tile by tile and within rounding of the canonical ones, and ``rank_scores``
for whole rows of canonical scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.masks import Allowed, first_bad, free_row, mask_row
from fullrank.kernels.shortlist import (
    Product,
    Shortlists,
    bound_of_kth,
    canonical,
    finish_list,
    push,
    push_rows,
    tighten,
)
from fullrank.kernels.simd import LANES
from fullrank.kernels.targets import Targets, count_rows, finish_row, sort_row

OK, BAD_SCORE = 0, 1

SAMPLE = 1024
"""Scores of a row from which a threshold is guessed."""


class Masks(NamedTuple):
    """What is left out of each tile of each query, the history before the targets."""

    indptr: NDArray[np.int32]
    """``[n_tiles * b + 1]``: the tile first, then the query."""
    at: NDArray[np.int32]
    """Column in the tile; ``-1 - column`` for a target, which is counted on its own."""


@jit()
def place_targets(
    targets: Targets,
    product: Product,
    items: NDArray[np.int32],
    place_of: NDArray[np.int32],
) -> None:
    """Give the targets of a block their places and canonical scores, and sort them."""
    for row in range(len(targets.first)):
        for t in range(targets.indptr[row], targets.indptr[row + 1]):
            place = place_of[items[t]]
            targets.places[t] = place
            targets.scores[t] = -np.inf
            if place >= 0:
                targets.scores[t] = canonical(product, row, place, np.float32(0.0))
        sort_row(targets, row, product.error[row])


@jit()
def make_masks(
    targets: Targets,
    h_indptr: NDArray[np.int64],
    history: NDArray[np.int32],
    place_of: NDArray[np.int32],
    tile_of: NDArray[np.int32],
    width: int,
    masks: Masks,
) -> None:
    """Sort histories and targets of a block by tile (``width`` places) and query.

    ``tile_of`` spares a division for each item.
    """
    b = len(targets.first)
    indptr, at = masks.indptr, masks.at
    indptr[:] = 0
    for filling in (False, True):
        for row in range(b):
            for h in range(h_indptr[row], h_indptr[row + 1]):
                place = place_of[history[h]]
                if place >= 0:
                    tile = tile_of[history[h]]
                    cell = tile * b + row
                    if filling:
                        at[indptr[cell]] = place - tile * width
                    indptr[cell + (not filling)] += 1
            for t in range(targets.first[row], targets.indptr[row + 1]):
                tile = targets.places[t] // width
                cell = tile * b + row
                if filling:
                    at[indptr[cell]] = tile * width - targets.places[t] - 1
                indptr[cell + (not filling)] += 1
        if not filling:
            indptr[:] = np.cumsum(indptr)
    indptr[1:] = indptr[:-1].copy()  # each now ends where the next began
    indptr[0] = 0


@jit()
def mask_tile(
    tile: NDArray[np.float32],
    filled: int,
    number: int,
    masks: Masks,
    n_seen: NDArray[np.int32],
) -> None:
    """Write -inf over what is left out of a tile, and count different history items."""
    b = len(n_seen)
    width = len(tile) // b
    indptr, at = masks.indptr, masks.at
    for row in range(b):
        start = row * width
        seen = 0
        for m in range(indptr[number * b + row], indptr[number * b + row + 1]):
            if at[m] >= 0:
                seen += tile[start + at[m]] > -np.inf
                tile[start + at[m]] = -np.inf
            else:
                tile[start - 1 - at[m]] = -np.inf
        n_seen[row] += seen
        for c in range(start + filled, start + width):
            tile[c] = -np.inf


@jit()
def collect_tile(
    tile: NDArray[np.float32],
    number: int,
    wanted: int,
    guess: bool,
    lists: Shortlists,
    product: Product,
) -> None:
    """Collect the best of one tile of scores of a block.

    Args:
        tile: float32 ``[b * width]``, each score within ``product.error`` of the canonical one,
            masked.
        number: of the tile.
        wanted: how many entries a list should keep after this tile, from ``entries_wanted``.
        guess: thresholds may be guessed from the tiles so far.
        lists: collected into.
        product: for canonical scores.
    """
    b = len(lists.n)
    width = len(tile) // b
    if guess and number == 0:
        for row in range(b):
            lists.threshold[row] = bound_of_kth(tile, row * width, width, wanted)
    push_rows(lists, product, tile, width, number * width, 0, b)
    if guess:
        for row in range(b):
            if lists.n[row] > wanted + wanted // 2 and lists.kth[row] < 0:
                tighten(lists, row, wanted)


@jit()
def scan_block(
    tile: NDArray[np.float32],
    layout: tuple[int, int, int],
    wanted: NDArray[np.int64],
    masks: Masks,
    targets: Targets,
    lists: Shortlists,
    product: Product,
    n_seen: NDArray[np.int32],
) -> None:
    """Score a block tile by tile, and count and collect while a tile is in the cache.

    Args:
        tile: float32 ``[b, width]`` scratch.
        layout: number of tiles, their width in places, and the number of items.
        wanted: int64 ``[n_tiles]``, entries that a list should keep after each tile for guessed
            thresholds, or length 0 for none.
        masks: see ``make_masks``.
        targets: counted into.
        lists: collected into; ``k = 0`` for none.
        product: the factors.
        n_seen: int32 ``[b]`` out: different history items.
    """
    n_tiles, width, n = layout
    flat = tile.reshape(-1)
    n_seen[:] = 0
    for number in range(n_tiles):
        place = number * width
        np.dot(product.queries, product.items[place : place + width].T, tile)
        mask_tile(flat, (n - number + n_tiles - 1) // n_tiles, number, masks, n_seen)
        count_rows(targets, product, flat, width, place, 0, len(n_seen))
        if lists.k > 0:
            goal = wanted[number] if len(wanted) > 0 else 0
            collect_tile(flat, number, goal, len(wanted) > 0, lists, product)


@jit()
def finish_block(
    targets: Targets,
    lists: Shortlists,
    product: Product,
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
    failed: NDArray[np.bool_],
) -> int:
    """Write ranks and lists once all tiles are scanned.

    Args:
        targets: counted.
        lists: collected.
        product: for canonical scores.
        best: int32 ``[t]`` out.
        worst: int32 ``[t]`` out.
        top_items: int32 ``[b, k]`` out; -1 where the row has fewer candidates.
        top_scores: float32 ``[b, k]`` out.
        failed: bool ``[b]`` out: a guessed threshold was too high, and the list is not written.

    Returns:
        How many failed.
    """
    n_failed = 0
    for row in range(len(targets.first)):
        finish_row(targets, row, best, worst)
        failed[row] = False
        if lists.k > 0:
            for t in range(targets.first[row], targets.indptr[row + 1]):
                if targets.scores[t] >= lists.threshold[row]:
                    push(lists, product, row, targets.places[t], targets.scores[t])
            failed[row] = not finish_list(lists, product, row, top_items[row], top_scores[row])
            n_failed += failed[row]
    return n_failed


@jit()
def rank_scores(
    block: NDArray[np.float32],
    allowed: Allowed,
    wanted: int,
    targets: Targets,
    lists: Shortlists,
    product: Product,
    items: NDArray[np.int32],
    n_candidates: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Count and collect from rows of canonical scores, each a copy that may be masked.

    Args:
        block: float32 ``[b, n_items]``, left as it is.
        allowed: what may be recommended.
        wanted: how many entries of the sample a guessed threshold keeps; 0 for no guess.
        targets: filled and counted into.
        lists: collected into; ``k = 0`` for none.
        product: without factors; places are item codes.
        items: int32 ``[t]`` target items.
        n_candidates: int32 ``[b]`` out: candidates, less the targets scored -inf.

    Returns:
        (status, row, item): ``OK``, or ``BAD_SCORE`` with the first NaN or +inf.
    """
    n_items = block.shape[1]
    whole = (n_items + LANES - 1) // LANES * LANES
    scores = np.full(whole, -np.inf, dtype=np.float32)
    sample = np.full(SAMPLE, -np.inf, dtype=np.float32)
    barred = np.zeros(n_items, dtype=np.uint8)
    for row in range(len(targets.first)):
        scores[:n_items] = block[row]
        left = mask_row(scores[:n_items], row, allowed, barred)
        bad = first_bad(scores)
        if bad >= 0:
            return BAD_SCORE, row, bad
        start, stop = targets.indptr[row], targets.indptr[row + 1]
        for t in range(start, stop):
            targets.places[t] = items[t]
            targets.scores[t] = scores[items[t]]
            if scores[items[t]] == -np.inf and barred[items[t]] == 0:
                left -= allowed.catalogue[items[t]]
        n_candidates[row] = left
        free_row(row, allowed, barred)
        sort_row(targets, row, 0.0)
        for t in range(start, stop):
            scores[items[t]] = -np.inf
        count_rows(targets, product, scores, whole, 0, row, row + 1)
        if lists.k > 0:
            if wanted > 0:
                for j in range(SAMPLE):
                    sample[j] = scores[j * n_items // SAMPLE]
                lists.threshold[row] = bound_of_kth(sample, 0, SAMPLE, wanted)
            push_rows(lists, product, scores, whole, 0, row, row + 1)
    return OK, 0, 0
