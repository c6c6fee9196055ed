"""A draw a row by hash, and the places that draws give rows within their user."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import mix


@jit()
def hash_rows(
    state: Any,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    user_hashes: NDArray[np.uint64],
    item_hashes: NDArray[np.uint64],
    earlier: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    """Hash of seed, user, item and number of earlier rows of the pair, as ``hash_elements`` gives.

    Args:
        state: uint64, the mixed seed.
        users: int32 ``[n]``.
        items: int32 ``[n]``.
        user_hashes: uint64 ``[n_users]`` of the outside ids.
        item_hashes: uint64 ``[n_items]``.
        earlier: int64 ``[n]``.
        out: uint64 ``[n]``, overwritten.
    """
    for i in range(len(users)):
        h = mix(state ^ mix(user_hashes[users[i]]))
        h = mix(h ^ mix(item_hashes[items[i]]))
        out[i] = mix(h ^ mix(np.uint64(earlier[i])))


@jit()
def places_within(
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    runs: NDArray[np.signedinteger[Any]],
    draws: NDArray[np.uint64],
    out: NDArray[np.int32],
) -> None:
    """Place of each row within its user, from 0: by runs of equal values, in a run by draws.

    Args:
        indptr: int64 ``[n_users + 1]``.
        first: first user.
        last: one after the last user.
        runs: ``[n]``, in order within a user; all equal for an order by draws alone.
        draws: uint64 ``[n]``.
        out: int32 ``[n]``, overwritten for these users.
    """
    for u in range(first, last):
        start, stop = indptr[u], indptr[u + 1]
        begin = start
        while begin < stop:
            end = begin + 1
            while end < stop and runs[end] == runs[begin]:
                end += 1
            if end == begin + 1:
                out[begin] = begin - start
            else:
                order = np.argsort(draws[begin:end], kind="mergesort")
                for j in range(len(order)):
                    out[begin + order[j]] = begin - start + j
            begin = end
