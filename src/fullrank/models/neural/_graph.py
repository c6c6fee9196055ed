"""The graph of users and items, and sums of powers of its adjacency that gradients go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.threads import run_chunks
from fullrank.models.neural._torch import Tensor, torch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Rows a thread takes at a time: some 0.1 ms of work on sparse logs.
_ROWS = 256


class Graph:
    """Nodes are users, then items; ``Â = D^(-1/2) A D^(-1/2)``, with A the 0/1 edges, D degrees.

    Our own kernel on the CPU: rows are spread over threads, and each row's sum has one order. A GPU
    takes PyTorch's sparse product.

    Args:
        matrix: users × items.
    """

    def __init__(self, matrix: csr_matrix) -> None:
        from scipy.sparse import csr_matrix as csr

        n_users, n_items = matrix.shape
        back = csr(matrix.T)
        back.sort_indices()
        self.n, self.n_users = n_users + n_items, n_users
        self.indptr = np.concatenate(
            [matrix.indptr.astype(np.int64), matrix.nnz + back.indptr[1:].astype(np.int64)]
        )
        self.indices = np.concatenate(
            [matrix.indices.astype(np.int32) + np.int32(n_users), back.indices.astype(np.int32)]
        )
        degree = np.diff(self.indptr)
        root = np.ones(self.n)
        np.divide(1.0, np.sqrt(degree), out=root, where=degree > 0)
        self.root: NDArray[np.float32] = root.astype(np.float32)
        self.square: NDArray[np.float32] = (root**2).astype(np.float32)
        self.ones = np.ones(self.n, np.float32)
        self.every = np.arange(self.n, dtype=np.int64)
        self._on: dict[torch.device, Tensor] = {}

    def powers(
        self,
        x: NDArray[np.float32],
        k: int,
        *,
        rows: NDArray[np.int64] | None = None,
        only: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """``x + Â x + … + Â^k x``, float32 ``[n, d]``, as ``x + Â (x + Â (…))``.

        Args:
            x: float32 ``[n, d]``.
            k: the highest power, >= 1.
            rows: those that are asked for; others come out 0.
            only: those of ``x`` that aren't 0.
        """
        active = None
        if only is not None:
            active = np.zeros(self.n, dtype=bool)
            active[only] = True
        t = x * self.root[:, None]
        for step in range(1, k + 1):
            last = step == k
            own, scale = (self.ones, self.root) if last else (self.root, self.square)
            out = np.zeros_like(x) if last and rows is not None else np.empty_like(x)
            here = rows if last and rows is not None else self.every
            self._step(here, active if step == 1 else None, t, x, own, scale, out)
            t = out
        return t

    def once(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """``Â x``."""
        out = np.empty_like(x)
        zeros = np.zeros(self.n, np.float32)
        self._step(self.every, None, x * self.root[:, None], x, zeros, self.root, out)
        return out

    def _step(
        self, rows: NDArray[np.int64], active: NDArray[np.bool_] | None, *arrays: NDArray[Any]
    ) -> None:
        from fullrank.kernels.propagate import add_active_neighbours, add_neighbours

        def task(start: int, stop: int) -> None:
            graph = (rows[start:stop], self.indptr, self.indices)
            if active is None:
                add_neighbours(*graph, *arrays)
            else:
                add_active_neighbours(*graph, active, *arrays)

        run_chunks(task, len(rows), _ROWS)

    def on(self, device: torch.device) -> Tensor:
        """``Â`` as a sparse tensor of a device."""
        if device not in self._on:
            rows = np.repeat(self.every, np.diff(self.indptr))
            places = torch.from_numpy(np.stack([rows, self.indices.astype(np.int64)]))
            values = torch.from_numpy(self.root[rows] * self.root[self.indices])
            made = torch.sparse_coo_tensor(places, values, (self.n, self.n))
            self._on[device] = made.coalesce().to(device)
        return self._on[device]


def sum_of_powers(
    x: Tensor, graph: Graph, k: int, rows: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """``x + Â x + … + Â^k x`` ``[n, d]``, through which gradients flow.

    ``Â`` is symmetric, so that the gradient is the same sum applied to the given one.

    Args:
        x: ``[n, d]``.
        graph: of ``n`` nodes.
        k: the highest power.
        rows: users and items that are asked for, and whose gradients may differ from 0; the other
            rows come out 0. None for all.
    """
    if k == 0:
        return x
    if x.device.type == "cuda":
        whole, out = graph.on(x.device), x
        for _ in range(k):
            out = x + torch.sparse.mm(whole, out)
        return out
    wanted = None
    if rows is not None:
        wanted = np.unique(np.concatenate([rows[0].numpy(), rows[1].numpy() + graph.n_users]))
    found: Tensor = _Powers.apply(x, graph, k, wanted)
    return found


def neighbours(x: Tensor, graph: Graph) -> Tensor:
    """``Â x`` ``[n, d]``, through which gradients flow."""
    if x.device.type == "cuda":
        return torch.sparse.mm(graph.on(x.device), x)
    found: Tensor = _Once.apply(x, graph)
    return found


class _Powers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, graph: Graph, k: int, rows: NDArray[np.int64] | None
    ) -> Tensor:
        ctx.graph, ctx.k, ctx.rows = graph, k, rows
        return torch.from_numpy(graph.powers(_plain(x), k, rows=rows))

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None, None, None]:
        out = ctx.graph.powers(_plain(given), ctx.k, only=ctx.rows)
        return torch.from_numpy(out), None, None, None


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, graph: Graph) -> Tensor:
        ctx.graph = graph
        return torch.from_numpy(graph.once(_plain(x)))

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None]:
        return torch.from_numpy(ctx.graph.once(_plain(given))), None


def _plain(x: Tensor) -> NDArray[np.float32]:
    return np.ascontiguousarray(x.detach().numpy(), dtype=np.float32)
