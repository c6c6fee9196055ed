"""Walks, fires and cores on an undirected graph: the order in which they reach its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BACKLOG = 100
"""Neighbours that a fire left aside and remembers, the latest ones (SVP-CF's code)."""
_RELIT = 10
"""How many of them go on burning where a fire has gone out (SVP-CF's code)."""


@jit()
def _uniform(key: Any, number: int) -> float:
    """Uniform in [0, 1): draw ``number`` of the stream ``key``."""
    return np.float64(np.int64(mix(key + np.uint64(number) * _GOLDEN) >> np.uint64(11))) * 2.0**-53


@jit()
def _enter(
    node: int,
    place: int,
    indptr: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: NDArray[np.int32],
    places: NDArray[np.int32],
) -> int:
    """Give a node its place; the weight of its edges to nodes that have one."""
    places[node] = place
    total = 0
    for p in range(indptr[node], indptr[node + 1]):
        if places[neighbours[p]] >= 0:
            total += weights[p]
    return total


@jit()
def random_walk(
    indptr: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    key: Any,
    restart: float,
    patience: int,
    rows: int,
    nodes: int,
    places: NDArray[np.int32],
) -> int:
    """Walk, jump back to the start now and then, begin elsewhere where nothing new is met.

    Args:
        indptr: int64 ``[nodes + 1]`` of the graph; each edge is there from both ends.
        neighbours: int32 ``[2 edges]``.
        weights: int32 ``[2 edges]`` rows of each edge.
        starts: int32, all nodes with edges in a drawn order.
        key: uint64 of the stream of draws.
        restart: chance of a jump back to the start.
        patience: steps without a new node after which the walk begins elsewhere.
        rows: weight of edges between visited nodes at which it ends.
        nodes: visited nodes at which it ends.
        places: int32 ``[nodes]``, overwritten: when a node was met, -1 for never.

    Returns:
        Number of starts.
    """
    places[:] = -1
    kept, met, number, used = 0, 0, 0, 0
    for at in range(len(starts)):
        if kept >= rows or met >= nodes:
            break
        start = starts[at]
        if places[start] >= 0:
            continue
        used += 1
        kept += _enter(start, met, indptr, neighbours, weights, places)
        met += 1
        here, idle = start, 0
        while idle < patience and kept < rows and met < nodes:
            u = _uniform(key, number)
            number += 1
            idle += 1
            if u < restart:
                here = start
                continue
            degree = indptr[here + 1] - indptr[here]
            step = min(int((u - restart) / (1.0 - restart) * degree), degree - 1)
            here = neighbours[indptr[here] + step]
            if places[here] < 0:
                kept += _enter(here, met, indptr, neighbours, weights, places)
                met += 1
                idle = 0
    return used


@jit()
def _burn(
    node: int,
    indptr: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    places: NDArray[np.int32],
    key: Any,
    number: int,
    log_survive: float,
    room: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Draw which unmet neighbours burn: the first of ``room``, then some of those left aside.

    Returns:
        How many burn, how many are drawn in all, and the number of the next draw.
    """
    free = 0
    for p in range(indptr[node], indptr[node + 1]):
        if places[neighbours[p]] < 0:
            room[free] = neighbours[p]
            free += 1
    # Geometric on 1, 2, ...: P(k > x) = (1 - burn)^x.
    geometric = 1 + int(min(np.log(1.0 - _uniform(key, number)) / log_survive, 2.0**31))
    number += 1
    burn = min(geometric, free)
    drawn = min(free, burn + _BACKLOG)
    for j in range(drawn):
        other = j + min(int(_uniform(key, number) * (free - j)), free - j - 1)
        number += 1
        room[j], room[other] = room[other], room[j]
    return burn, drawn, number


@jit()
def _push(node: int, places: NDArray[np.int32], queue: NDArray[np.int32], tail: int) -> int:
    """Let a node wait for its turn unless it does, or was met; -2 marks what waits."""
    if places[node] == -1:
        places[node] = -2
        queue[tail] = node
        return tail + 1
    return tail


@jit()
def _relight(
    backlog: NDArray[np.int32],
    ring: NDArray[np.int64],
    starts: NDArray[np.int32],
    places: NDArray[np.int32],
    queue: NDArray[np.int32],
    head: int,
    tail: int,
) -> int:
    """Fill an empty queue: from the backlog, the latest first, else by a new fire.

    Args:
        backlog: int32 ``[100]``, a ring.
        ring: int64 ``[4]``: where its oldest entry is, how many it has, starts used, fires lit.
        starts: int32, all nodes with edges in a drawn order.
        places: int32 ``[nodes]``.
        queue: int32 ``[nodes]``.
        head: of the queue.
        tail: of the queue.
    """
    while head == tail and ring[1] > 0:
        for _ in range(min(_RELIT, ring[1])):
            ring[1] -= 1
            tail = _push(backlog[(ring[0] + ring[1]) % _BACKLOG], places, queue, tail)
    while head == tail and ring[2] < len(starts):
        before = tail
        tail = _push(starts[ring[2]], places, queue, tail)
        ring[2] += 1
        ring[3] += tail - before
    return tail


@jit()
def forest_fire(
    indptr: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: NDArray[np.int32],
    starts: NDArray[np.int32],
    key: Any,
    log_survive: float,
    rows: int,
    nodes: int,
    places: NDArray[np.int32],
) -> int:
    """Burn from node to node, a geometric number of unmet neighbours at a time.

    Args:
        indptr: as for ``random_walk``, and so are neighbours, weights, starts, key, rows, nodes.
        neighbours: int32 ``[2 edges]``.
        weights: int32 ``[2 edges]``.
        starts: int32.
        key: uint64.
        log_survive: ``log(1 - burn)``, below 0.
        rows: weight at which it ends.
        nodes: number at which it ends.
        places: int32 ``[nodes]``, overwritten: when a node burnt, below 0 for never.

    Returns:
        Number of fires that were lit.
    """
    places[:] = -1
    room, queue = np.empty(len(places), np.int32), np.empty(len(places), np.int32)
    backlog, ring = np.empty(_BACKLOG, np.int32), np.zeros(4, np.int64)
    head, tail, kept, number = 0, 0, 0, 0
    while kept < rows and head < nodes:
        tail = _relight(backlog, ring, starts, places, queue, head, tail)
        if head == tail:
            break
        node = queue[head]
        kept += _enter(node, head, indptr, neighbours, weights, places)
        head += 1
        burn, drawn, number = _burn(
            node, indptr, neighbours, places, key, number, log_survive, room
        )
        for j in range(burn):
            tail = _push(room[j], places, queue, tail)
        for j in range(burn, drawn):
            backlog[(ring[0] + ring[1]) % _BACKLOG] = room[j]
            if ring[1] < _BACKLOG:
                ring[1] += 1
            else:
                ring[0] = (ring[0] + 1) % _BACKLOG
    return int(ring[3])


@jit()
def core_numbers(
    indptr: NDArray[np.int64], neighbours: NDArray[np.int32], out: NDArray[np.int64]
) -> None:
    """Largest k for which a node is in the k-core (Batagelj & Zaveršnik 2003), in linear time.

    Args:
        indptr: int64 ``[nodes + 1]``.
        neighbours: int32 ``[2 edges]``.
        out: int64 ``[nodes]``, overwritten; 0 for nodes without edges.
    """
    n = len(out)
    most = 0
    for v in range(n):
        out[v] = indptr[v + 1] - indptr[v]
        most = max(most, out[v])
    begins = np.zeros(most + 2, np.int64)  # where the nodes of a degree begin in the order
    for v in range(n):
        begins[out[v] + 1] += 1
    for d in range(most + 1):
        begins[d + 1] += begins[d]
    order, place, free = np.empty(n, np.int64), np.empty(n, np.int64), begins.copy()
    for v in range(n):
        place[v] = free[out[v]]
        order[place[v]] = v
        free[out[v]] += 1
    for i in range(n):
        v = order[i]
        for p in range(indptr[v], indptr[v + 1]):
            u = neighbours[p]
            if out[u] > out[v]:  # moves to the front of its degree, whose range then shrinks
                first = begins[out[u]]
                w = order[first]
                if w != u:
                    order[place[u]], order[first] = w, u
                    place[w], place[u] = place[u], first
                begins[out[u]] += 1
                out[u] -= 1
