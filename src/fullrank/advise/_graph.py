"""The graph of users and items, and what is measured on it: components, spectrum, cycles, hops."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, uniform_elements
from fullrank.subsample._draws import Side, side_draws

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_DENSE = 64
"""Up to this many users or items the spectrum is that of a small dense matrix."""
_EXACT_WORK = 2_000_000
"""Pairs of neighbours up to which cycles are counted and not sampled."""
_TOLERANCE = 1e-4
"""Of ARPACK: a feature needs no more digits, and the time doubles with six of them."""
_BLOCK = 1 << 21
_REACHED = 0.9


class Bipartite:
    """Distinct pairs of the users and items that have rows; codes are dense over these.

    Attributes:
        by_user: float32 CSR ``[n_users, n_items]`` of ones.
    """

    def __init__(self, rows: Interactions) -> None:
        from scipy.sparse import csr_matrix

        self._rows = rows
        full = rows.csr("binary")
        users, items = np.flatnonzero(rows.user_counts), np.flatnonzero(rows.item_counts)
        places = np.zeros(rows.n_items, np.int32)
        places[items] = np.arange(len(items), dtype=np.int32)
        indptr = np.append(full.indptr[users], full.indptr[-1])
        self.by_user: csr_matrix = csr_matrix(
            (full.data, places[full.indices], indptr), shape=(len(users), len(items))
        )
        self.by_user.has_sorted_indices = True
        self.by_user.has_canonical_format = True

    @cached_property
    def by_item(self) -> csr_matrix:
        """The transposed matrix ``[n_items, n_users]``."""
        return self.by_user.T.tocsr()

    def draws(self, seed: int, *names: object) -> NDArray[np.uint64]:
        """One draw a node, users first: a hash of the outside id, so that samples share them."""
        rows = self._rows
        kept: list[tuple[Side, NDArray[np.bool_]]] = [
            ("users", rows.user_counts > 0),
            ("items", rows.item_counts > 0),
        ]
        return np.concatenate([side_draws(rows, side, seed, *names)[some] for side, some in kept])

    @property
    def n_edges(self) -> int:
        """Distinct pairs."""
        return int(self.by_user.nnz)

    @cached_property
    def user_degrees(self) -> NDArray[np.int64]:
        """int64 ``[n_users]``, distinct items of each."""
        return np.asarray(np.diff(self.by_user.indptr), np.int64)

    @cached_property
    def item_degrees(self) -> NDArray[np.int64]:
        """int64 ``[n_items]``, distinct users of each."""
        return np.bincount(self.by_user.indices, minlength=self.by_user.shape[1]).astype(np.int64)


def component_sizes(graph: Bipartite) -> NDArray[np.int64]:
    """Nodes of each connected component, descending."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    m = graph.by_user
    n = sum(m.shape)
    indptr = np.concatenate([m.indptr, np.full(m.shape[1], m.indptr[-1], m.indptr.dtype)])
    square = csr_matrix((m.data, m.indices + np.int32(m.shape[0]), indptr), shape=(n, n))
    labels = connected_components(square, directed=False)[1]
    return np.sort(np.bincount(labels))[::-1].astype(np.int64)


def singular_values(graph: Bipartite, k: int, seed: int) -> NDArray[np.float64]:
    """The largest singular values of the binary matrix over its Frobenius norm: float64 ``[k]``.

    The norm is the root of the number of pairs, so the squares are shares of it. By Lanczos
    (ARPACK) from a drawn vector, to about 1e-4; by the eigenvalues of the smaller Gram matrix where
    one side has at most 64 nodes. A matrix with fewer than k has zeros for the rest.
    """
    m, norm = graph.by_user, np.sqrt(graph.n_edges)
    out = np.zeros(k)
    if min(m.shape) <= max(_DENSE, 2 * k):
        gram = (m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m).toarray().astype(np.float64)
        found = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
        out[: min(k, len(found))] = found[:k]
        return np.asarray(out / norm)
    from scipy.sparse.linalg import svds

    start = uniform_elements(derive(seed, "svd"), np.arange(min(m.shape))) + 0.5
    found = svds(
        m.astype(np.float64), k, v0=start, tol=_TOLERANCE, ncv=3 * k, return_singular_vectors=False
    )
    return np.asarray(np.sort(found)[::-1] / norm)


def four_cycles(graph: Bipartite, paths: int, seed: int) -> float:
    """Bipartite clustering coefficient: share of paths of three edges that close to a cycle.

    ``4 C4 / L3`` with C4 the cycles of four edges and L3 the paths of three (Robins & Alexander
    2004), in [0, 1]; the coefficient by triangles is 0 on every bipartite graph. Counted where
    that takes at most two million pairs of neighbours. Else the share of ``paths`` uniformly drawn
    paths that close: a standard error of at most ``1 / sqrt(4 paths)``. NaN without any path.
    """
    ends = graph.user_degrees - 1, graph.item_degrees - 1
    m = graph.by_user
    per_edge = np.repeat(ends[0], graph.user_degrees) * ends[1][m.indices]
    if not per_edge.any():
        return float("nan")
    work = [int((degrees.astype(np.float64) ** 2).sum()) for degrees in ends]
    if min(work) <= _EXACT_WORK:
        # Pairs of items share users: a user of degree d makes d² entries; so for the other side.
        both = m.T @ m if work[0] <= work[1] else m @ m.T
        both.setdiag(0)
        shared = both.data.astype(np.float64)  # each pair twice; float32 is exact to 16 million
        return float(4 * (shared * (shared - 1) / 2).sum() / 2 / per_edge.sum())
    return float(_closed(graph, per_edge, paths, seed).mean())


def _closed(
    graph: Bipartite, per_edge: NDArray[np.int64], paths: int, seed: int
) -> NDArray[np.bool_]:
    """Whether drawn paths ``user' - item - user - item'`` close: bool ``[paths]``.

    The middle edge is drawn in proportion to the paths through it, the ends uniformly.
    """
    m, t, number = graph.by_user, graph.by_item, np.arange(paths)
    drawn = [uniform_elements(derive(seed, "paths", part), number) for part in range(3)]
    running = np.cumsum(per_edge)
    at = np.minimum((drawn[0] * running[-1]).astype(np.int64), running[-1] - 1)
    edges = np.searchsorted(running, at, side="right")
    users = np.searchsorted(m.indptr, edges, side="right") - 1
    items = m.indices[edges]
    others = _partner(m, users, items, drawn[1]), _partner(t, items, users, drawn[2])
    return np.asarray(m[others[1], others[0]]).ravel() > 0


def _partner(
    m: csr_matrix, rows: NDArray[np.int64], apart: NDArray[np.int64], drawn: NDArray[np.float64]
) -> NDArray[np.int64]:
    """A uniform partner of each row but the one that is named, which is among them."""
    first, last = m.indptr[rows], m.indptr[rows + 1] - 1  # the last stands in for the one apart
    places = first + (drawn * (last - first)).astype(np.int64)
    found = m.indices[places]
    return np.asarray(np.where(found == apart, m.indices[last], found), np.int64)


def hop_counts(graph: Bipartite, sources: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """Nodes at each distance from drawn ones, and how many were drawn.

    All searches run at once, one bit each. With as many nodes as sources or fewer, none is drawn
    and the counts are those of all pairs.

    Args:
        graph: users are the first nodes.
        sources: at most 64.
        seed: of the draw.

    Returns:
        int64 ``[h + 1]`` summed over the sources, the first being the sources themselves.
    """
    shape = graph.by_user.shape
    chosen = np.argsort(graph.draws(seed, "sources"), kind="stable")[:sources]
    start = np.zeros(sum(shape), np.uint64)
    start[chosen] = np.uint64(1) << np.arange(len(chosen), dtype=np.uint64)
    front = [start[: shape[0]], start[shape[0] :]]
    seen = [part.copy() for part in front]
    counts = [len(chosen)]
    while counts[-1]:
        met = [_pull(graph.by_user, front[1]), _pull(graph.by_item, front[0])]
        front = [new & ~old for new, old in zip(met, seen)]
        seen = [old | new for old, new in zip(seen, front)]
        counts.append(sum(int(np.bitwise_count(part).sum(dtype=np.int64)) for part in front))
    return np.array(counts[:-1], np.int64), len(chosen)


def _pull(m: csr_matrix, bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of all partners of each row, joined: uint64 ``[rows]``; every row has partners."""
    if not bits.any():
        return np.zeros(m.shape[0], np.uint64)
    parts, first = [], 0
    while first < m.shape[0]:
        last = int(np.searchsorted(m.indptr, m.indptr[first] + _BLOCK, side="right")) - 1
        last = min(max(last, first + 1), m.shape[0])
        span = slice(m.indptr[first], m.indptr[last])
        offsets = m.indptr[first:last] - m.indptr[first]
        parts.append(np.bitwise_or.reduceat(bits[m.indices[span]], offsets))
        first = last
    return np.concatenate(parts)


def effective_diameter(counts: NDArray[np.int64]) -> float:
    """Hops within which 90 % of the connected pairs lie, between whole ones by a line.

    Leskovec, Kleinberg & Faloutsos 2005, section 3.2, over pairs of two nodes. NaN if no node has
    another one.

    Args:
        counts: as ``hop_counts`` gives them.
    """
    reached = np.cumsum(counts[1:])
    if not len(reached):
        return float("nan")
    shares = np.concatenate([[0.0], reached / reached[-1]])
    hop = int(np.argmax(shares >= _REACHED))
    return float(hop - 1 + (_REACHED - shares[hop - 1]) / (shares[hop] - shares[hop - 1]))
