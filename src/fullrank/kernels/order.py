"""The order of a list: score descending, then a hash of query and item, then the item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def mix(z: Any) -> Any:
    """SplitMix64, the scalar twin of ``core.random.mix``."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def tie_key(query_key: Any, item_keys: NDArray[np.uint64], item: int) -> Any:
    """What orders items of equal score: lower first."""
    return mix(query_key ^ item_keys[item])


@jit()
def _before(score: Any, key: Any, item: int, score2: Any, key2: Any, item2: int) -> bool:
    """True if the first stands before the second."""
    if score != score2:
        return bool(score > score2)
    if key != key2:
        return bool(key < key2)
    return item < item2


@jit()
def _sift_down(
    scores: NDArray[np.float32],
    keys: NDArray[np.uint64],
    places: NDArray[np.int32],
    codes: NDArray[np.int32],
    size: int,
    place: int,
) -> None:
    """Restore the heap whose root is the last of its entries."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _before(
            scores[child],
            keys[child],
            codes[places[child]],
            scores[other],
            keys[other],
            codes[places[other]],
        ):
            child = other
        if not _before(
            scores[place],
            keys[place],
            codes[places[place]],
            scores[child],
            keys[child],
            codes[places[child]],
        ):
            return
        scores[place], scores[child] = scores[child], scores[place]
        keys[place], keys[child] = keys[child], keys[place]
        places[place], places[child] = places[child], places[place]
        place = child


@jit()
def sort_entries(
    scores: NDArray[np.float32],
    places: NDArray[np.int32],
    codes: NDArray[np.int32],
    query_key: Any,
    item_keys: NDArray[np.uint64],
) -> None:
    """Sort entries in place, best first: a heap sort, which no input can slow down.

    Args:
        scores: float32 ``[n]``.
        places: int32 ``[n]``.
        codes: int32, item code of each place.
        query_key: uint64 of the query.
        item_keys: uint64 ``[n_items]``.
    """
    n = len(scores)
    keys = np.empty(n, dtype=np.uint64)
    for j in range(n):
        keys[j] = tie_key(query_key, item_keys, codes[places[j]])
    for j in range(n // 2 - 1, -1, -1):
        _sift_down(scores, keys, places, codes, n, j)
    for size in range(n - 1, 0, -1):  # the last of the heap moves to the end
        scores[0], scores[size] = scores[size], scores[0]
        keys[0], keys[size] = keys[size], keys[0]
        places[0], places[size] = places[size], places[0]
        _sift_down(scores, keys, places, codes, size, 0)
