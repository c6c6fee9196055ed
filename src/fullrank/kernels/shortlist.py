"""The k best of a row while its scores stream past: a buffer behind a rising threshold.

Scores that stream past may be off from the canonical ones by up to ``error`` (0 where they are
canonical themselves); an entry's score is always within ``error`` of its canonical one. What is
kept out, and why nothing is lost:

- a score below the threshold is not taken. The threshold starts as a guess from a sample, so at
  the end ``finish`` checks that k entries have canonical scores of at least threshold + error:
  then nothing outside can reach the k-th. Where that fails the row is ranked again without a
  guess.
- a full buffer drops what lies more than ``2 * error`` below its k-th best. If ties keep it full,
  the canonical scores and the tie order decide at once, and from then on for each newcomer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import mix, sort_entries, tie_key
from fullrank.kernels.simd import (
    LANES,
    bits_of,
    count_from,
    dot_of_whole,
    float_of,
    lanes_from,
    lowest_bit,
)

MANY_ENTRIES = 2048
"""Up to this many entries counting sorts faster than a heap."""

_LARGEST = np.finfo(np.float32).max


class Shortlists(NamedTuple):
    """Buffers of a block of queries; ``places`` say where an item stands in ``Product.items``."""

    k: int
    places: NDArray[np.int32]
    """``[b, cap]``, cap in whole vectors."""
    scores: NDArray[np.float32]
    """``[b, cap]``."""
    n: NDArray[np.int32]
    """``[b]`` entries."""
    threshold: NDArray[np.float32]
    """``[b]``; lower scores are not taken."""
    kth: NDArray[np.int32]
    """``[b]`` slot of the k-th best where ties were settled, else -1."""
    query_keys: NDArray[np.uint64]
    """``[b]``, see ``order.tie_key``."""
    item_keys: NDArray[np.uint64]
    """``[n_items]``."""


class Product(NamedTuple):
    """What canonical scores are made of; no factors (d = 0) where the scores are canonical."""

    queries: NDArray[np.float32]
    """``[b, d]`` on the grid."""
    items: NDArray[np.float32]
    """``[places, d]`` on the grid."""
    error: NDArray[np.float64]
    """``[b]``: how far a score may be from the canonical one; 0 where it is that one."""
    codes: NDArray[np.int32]
    """``[places]`` item code of each place."""


@jit()
def canonical_all(
    product: Product,
    row: int,
    places: NDArray[np.int32],
    scores: NDArray[np.float32],
    n: int,
) -> None:
    """Give the first ``n`` of ``scores`` their canonical values."""
    queries, items, d = product.queries, product.items, product.queries.shape[1]
    if d == 0 or product.error[row] == 0.0:
        return
    whole = d - d % (LANES // 2)
    for j in range(n):
        place = places[j]
        total = dot_of_whole(queries, row * d, items, place * d, whole)
        for f in range(whole, d):
            total += np.float64(queries[row, f]) * np.float64(items[place, f])
        scores[j] = total


@jit()
def canonical(product: Product, row: int, place: int, score: Any) -> Any:
    """Canonical score of a query and a place; ``score`` itself where it is canonical."""
    d = product.queries.shape[1]
    if d == 0 or product.error[row] == 0.0:
        return score
    whole = d - d % (LANES // 2)
    total = dot_of_whole(product.queries, row * d, product.items, place * d, whole)
    for j in range(whole, d):
        total += np.float64(product.queries[row, j]) * np.float64(product.items[place, j])
    return np.float32(total)


@jit()
def below(x: float) -> Any:
    """A float32 at most ``x`` and within two steps of it."""
    y = np.float32(x)
    if np.float64(y) > x:
        y = np.nextafter(y, np.float32(-np.inf))
    return y


@jit()
def above(x: float) -> Any:
    """A float32 at least ``x`` and within two steps of it."""
    y = np.float32(x)
    if np.float64(y) < x:
        y = np.nextafter(y, np.float32(np.inf))
    return y


@jit()
def _key(score: Any) -> int:
    """Order floats as whole numbers."""
    bits = int(bits_of(score))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


@jit()
def _score(key: int) -> Any:
    return float_of(np.int32(key)) if key >= 0 else -float_of(np.int32(-key))


@jit()
def bound_of_kth(scores: NDArray[np.float32], start: int, n: int, k: int) -> Any:
    """Greatest bound found that at least ``k`` of ``scores[start:start + n]`` reach.

    It is the k-th largest, or lies above the (k + 1)-th and not above the k-th; -inf if fewer than
    ``k`` are finite. ``n`` is in whole vectors; a bisection over the bits of floats.
    """
    low, high = _key(-_LARGEST), _key(_LARGEST) + 1
    if count_from(scores, start, n, _score(low)) < k:
        return np.float32(-np.inf)
    while high - low > 1:
        middle = (low + high) // 2
        found = count_from(scores, start, n, _score(middle))
        if found == k:
            return _score(middle)
        if found > k:
            low = middle
        else:
            high = middle
    return _score(low)


@jit()
def _whole(n: int) -> int:
    """``n`` rounded up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES


@jit()
def _pad(lists: Shortlists, row: int) -> int:
    """Fill the last vector of a buffer with -inf; its length in whole vectors."""
    n = _whole(lists.n[row])
    for j in range(lists.n[row], n):
        lists.scores[row, j] = -np.inf
    return n


@jit()
def keep_from(lists: Shortlists, row: int, limit: Any) -> None:
    """Drop entries below ``limit``."""
    scores, places = lists.scores, lists.places
    n = 0
    for j in range(lists.n[row]):  # without a branch, which would be guessed wrong half the time
        score = scores[row, j]
        scores[row, n] = score
        places[row, n] = places[row, j]
        n += score >= limit
    lists.n[row] = n


@jit()
def bound_in_list(lists: Shortlists, row: int, k: int) -> Any:
    """``bound_of_kth`` of a buffer."""
    n = _pad(lists, row)
    return bound_of_kth(lists.scores, row * lists.scores.shape[1], n, k)


@jit()
def tighten(lists: Shortlists, row: int, wanted: int) -> None:
    """Raise the threshold to the ``wanted``-th best so far."""
    limit = bound_in_list(lists, row, wanted)
    if limit > lists.threshold[row]:
        lists.threshold[row] = limit
        keep_from(lists, row, limit)


@jit()
def _settle(lists: Shortlists, product: Product, row: int) -> None:
    """Keep exactly the k best by canonical score and tie order; the buffer ends sorted."""
    n = lists.n[row]
    canonical_all(product, row, lists.places[row], lists.scores[row], n)
    sort_entries(
        lists.scores[row, :n],
        lists.places[row, :n],
        product.codes,
        lists.query_keys[row],
        lists.item_keys,
    )
    lists.n[row] = min(n, lists.k)
    if n >= lists.k:
        lists.kth[row] = lists.k - 1
        last = np.float64(lists.scores[row, lists.k - 1])
        lists.threshold[row] = max(lists.threshold[row], below(last - product.error[row]))


@jit()
def _make_room(lists: Shortlists, product: Product, row: int) -> None:
    """Drop what can't be among the k best, so that at least one slot is free."""
    limit = below(np.float64(bound_in_list(lists, row, lists.k)) - 2.0 * product.error[row])
    lists.threshold[row] = max(lists.threshold[row], limit)
    keep_from(lists, row, limit)
    half_way = (lists.scores.shape[1] + lists.k) // 2
    if lists.kth[row] >= 0 or lists.n[row] > half_way:
        _settle(lists, product, row)


@jit()
def _comes_too_late(lists: Shortlists, product: Product, row: int, place: int, score: Any) -> bool:
    """After ties were settled: the newcomer stands behind the k-th best."""
    slot = lists.kth[row]
    last = lists.scores[row, slot]
    if score != last:
        return bool(score < last)
    code, last_code = product.codes[place], product.codes[lists.places[row, slot]]
    key = tie_key(lists.query_keys[row], lists.item_keys, code)
    last_key = tie_key(lists.query_keys[row], lists.item_keys, last_code)
    return bool(key > last_key or (key == last_key and code > last_code))


@jit()
def push(lists: Shortlists, product: Product, row: int, place: int, score: Any) -> None:
    """Take an entry whose score is not below the threshold."""
    if lists.kth[row] >= 0:
        score = canonical(product, row, place, score)
        if _comes_too_late(lists, product, row, place, score):
            return
    if lists.n[row] == lists.scores.shape[1]:
        _make_room(lists, product, row)
        if score < lists.threshold[row]:
            return
    lists.scores[row, lists.n[row]] = score
    lists.places[row, lists.n[row]] = place
    lists.n[row] += 1


@jit()
def _last_of(lists: Shortlists, product: Product, row: int) -> tuple[bool, Any, Any]:
    """Whether ties were settled among canonical scores, and score and key of the k-th best then."""
    slot = lists.kth[row]
    exact = product.queries.shape[1] == 0 or product.error[row] == 0.0
    if slot < 0 or not exact:
        return False, np.float32(0.0), np.uint64(0)
    code = product.codes[lists.places[row, slot]]
    key = tie_key(lists.query_keys[row], lists.item_keys, code)
    return True, lists.scores[row, slot], key


@jit()
def push_rows(
    lists: Shortlists,
    product: Product,
    tile: NDArray[np.float32],
    width: int,
    place: int,
    first: int,
    last: int,
) -> None:
    """Push what reaches the threshold from the rows ``first`` to ``last`` of a block.

    Args:
        lists: of the block.
        product: of the block.
        tile: float32, flat: the rows, ``width`` scores each, in whole vectors.
        width: see ``tile``.
        place: of the first score of a row.
        first: row of the block that ``tile`` begins with.
        last: row after the last.
    """
    scores, places, kth, capacity = lists.scores, lists.places, lists.kth, lists.scores.shape[1]
    codes, item_keys = product.codes, lists.item_keys
    for row in range(first, last):
        start = (row - first) * width
        limit, n = lists.threshold[row], lists.n[row]
        tied, last_score, last_key = _last_of(lists, product, row)
        query_key = lists.query_keys[row]
        for c in range(0, width, LANES):
            bits = lanes_from(tile, start + c, limit)
            while bits:
                j = c + lowest_bit(bits)
                bits &= bits - 1
                score = tile[start + j]
                if score < limit or score == -np.inf:
                    continue
                # Where all tie (a user without factors), a call for each would take milliseconds.
                tie = tied and score == last_score
                if tie and mix(query_key ^ item_keys[codes[place + j]]) > last_key:
                    continue
                if n < capacity and (tied or kth[row] < 0):
                    scores[row, n] = score
                    places[row, n] = place + j
                    n += 1
                else:
                    lists.n[row] = n
                    push(lists, product, row, place + j, score)
                    limit, n = lists.threshold[row], lists.n[row]
                    tied, last_score, last_key = _last_of(lists, product, row)
        lists.n[row] = n


@jit()
def _sort(lists: Shortlists, product: Product, row: int) -> None:
    """Sort a buffer of canonical scores, best first: by counting, as the buffer is short."""
    n, cap = lists.n[row], lists.scores.shape[1]
    whole = _pad(lists, row)
    scores, places = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.int32)
    total = 0
    if n <= MANY_ENTRIES:
        for j in range(n):
            score = lists.scores[row, j]
            over = np.nextafter(score, np.float32(np.inf))
            higher = count_from(lists.scores, row * cap, whole, over)
            scores[higher], places[higher] = score, lists.places[row, j]
            total += higher
    if total != n * (n - 1) // 2:  # ties share a place: the list's order of ties decides
        scores[:], places[:] = lists.scores[row, :n], lists.places[row, :n]
        sort_entries(scores, places, product.codes, lists.query_keys[row], lists.item_keys)
    lists.scores[row, :n], lists.places[row, :n] = scores, places


@jit()
def finish_list(
    lists: Shortlists,
    product: Product,
    row: int,
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
) -> bool:
    """Write the k best of a query, -1 and -inf where it has fewer candidates.

    Returns:
        False, with nothing written, if a guessed threshold was too high to be sure.
    """
    k, error = lists.k, product.error[row]
    if lists.n[row] > k:
        keep_from(lists, row, below(np.float64(bound_in_list(lists, row, k)) - 2.0 * error))
    canonical_all(product, row, lists.places[row], lists.scores[row], lists.n[row])
    _sort(lists, product, row)
    n = min(lists.n[row], k)
    limit = np.float64(lists.threshold[row])
    if limit > -np.inf and (n < k or np.float64(lists.scores[row, k - 1]) < limit + error):
        return False
    for j in range(n):
        top_scores[j] = lists.scores[row, j]
        top_items[j] = product.codes[lists.places[row, j]]
    top_scores[n:] = -np.inf
    top_items[n:] = -1
    return True
