"""What factors start from: draws that hang on seed, item and dimension alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive, uniform_elements

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.core.vocabulary import Vocabulary


def normal_draws(vocab: Vocabulary, d: int, seed: int, name: str) -> NDArray[np.float64]:
    """Standard normal draws ``[n, d]`` by Box and Muller, from hashes of id and dimension.

    Args:
        vocab: whose ids are hashed.
        d: dimensions.
        seed: of all draws.
        name: of the model, so that two models don't start alike.
    """
    hashes = np.repeat(vocab.hashes, d)
    dims = np.tile(np.arange(d), len(vocab))
    radius = uniform_elements(derive(seed, name, "radius"), hashes, dims)
    angle = uniform_elements(derive(seed, name, "angle"), hashes, dims)
    normal = np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)
    return normal.reshape(len(vocab), d)


def alike(draws: NDArray[np.float64], by_item: csr_matrix) -> NDArray[np.float64]:
    """Draws ``[n_items, d]``, those of items with the same rows made equal.

    Items that start alike and have the same rows stay alike, so that nothing but the data tells
    items apart. Items without rows get 0.

    Args:
        draws: of the items.
        by_item: items × users; twins have the same cells with the same values.
    """
    out, seen = np.zeros(draws.shape), dict[tuple[bytes, bytes], int]()
    indptr, users, data = by_item.indptr, by_item.indices, by_item.data
    for item in np.flatnonzero(np.diff(indptr)):
        mine = slice(indptr[item], indptr[item + 1])
        key = (users[mine].tobytes(), data[mine].tobytes())
        out[item] = draws[seen.setdefault(key, int(item))]
    return out
