"""InfoGraph: embeddings of logs by a graph isomorphism network, without any target (PyTorch).

Sun, Hoffmann, Verma & Tang 2020, "InfoGraph" (ICLR), on the GIN of Xu, Hu, Leskovec & Jegelka 2019,
as Sachdeva, Wu & McAuley 2022 use it to describe data sets and samples of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._network import LARGEST_RATE
from fullrank.advise.pieces import INPUTS, Piece
from fullrank.core.errors import DataError, SpecError, TrainingError
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.settings import check_types
from fullrank.data.filters.amounts import check_count

_LN2 = log(2.0)


@dataclass(frozen=True)
class InfoGraph:
    """Train an encoder of graphs so that a node can be told to be of its own graph.

    Layer l of the GIN: ``h_v <- BN(ReLU(MLP(h_v + sum of h_w over partners w)))`` with an MLP
    d -> d, ReLU, d -> d; nodes have all layers' outputs, and a graph their mean over its nodes.
    With T(v, G) the inner product of a node's and a graph's vector, each through a residual network
    of three layers, the loss is the Jensen-Shannon estimate of their mutual information, negated::

        mean over (v, G), v not in G, of (softplus(-T) + T - ln 2)
        - mean over (v, G), v in G, of (ln 2 - softplus(-T))

    Departures from the code of Sachdeva, Wu & McAuley 2022, whose sizes (d, layers) are (8, 1),
    (8, 3), (16, 1), (16, 3), (32, 1) and whose rate, epochs and batches are the defaults: nodes
    bring their degree and side, there fixed random vectors; and a graph is the mean of its nodes,
    there one node's sorted features (sort-pooling with k = 1). Batch norms use the moments over all
    training graphs after training.

    Nothing but graphs is learnt from, but they are those of training data sets only: ``fit`` must
    not see the data set that is to be advised on where that is to be judged.

    Attributes:
        embedding_dim: d.
        layers: of the GIN; a graph has ``d * layers`` numbers.
        epochs: passes over the graphs.
        learning_rate: of Adam.
        batch_graphs: graphs of a step, at least 2.
    """

    embedding_dim: int = 8
    layers: int = 3
    epochs: int = 19
    learning_rate: float = 0.01
    batch_graphs: int = 128

    def __post_init__(self) -> None:
        check_types("InfoGraph", self, vars(self))
        for name in ("embedding_dim", "layers", "epochs"):
            check_count("InfoGraph", name, getattr(self, name), least=1)
        check_count("InfoGraph", "batch_graphs", self.batch_graphs, least=2)
        if not 0 < self.learning_rate <= LARGEST_RATE:
            raise SpecError(
                f"InfoGraph: learning_rate must be in (0, {LARGEST_RATE:g}], got "
                f"{self.learning_rate!r}"
            )

    def fit(self, pieces: Sequence[Piece], rng: RNG = 0) -> Encoder:
        """Train on graphs, on the CPU; the same seed and graphs give the same encoder.

        Args:
            pieces: at least two.
            rng: seed or Generator of weights and order.

        Raises:
            DataError: fewer than two graphs.
            SpecError: PyTorch is not installed.
            TrainingError: the loss became no number.
        """
        from fullrank.models.neural._torch import torch

        if len(pieces) < 2:
            raise DataError(
                f"InfoGraph tells graphs apart: it needs at least 2 of them, got {len(pieces)}"
            )
        seed = seed_of(rng)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "weights"))
            network = _network(self.embedding_dim, self.layers)
        adam = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        order, losses = np.random.default_rng(derive(seed, "order")), []
        for epoch in range(self.epochs):
            total = 0.0
            for part in self._batches(order.permutation(len(pieces))):
                adam.zero_grad()
                loss = _loss(network, _joined([pieces[j] for j in part]))
                loss.backward()
                adam.step()
                total += float(loss.detach()) * len(part)
            losses.append(total / len(pieces))
            if not np.isfinite(losses[-1]):
                raise TrainingError(
                    f"InfoGraph: the loss of epoch {epoch + 1} is {losses[-1]}; lower learning_rate"
                )
        self._settle(network, pieces)
        return Encoder(self, network, tuple(losses))

    def _batches(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Parts of nearly equal size, so that none has a single graph."""
        yield from np.array_split(order, max(len(order) // self.batch_graphs, 1))

    def _settle(self, network: Any, pieces: Sequence[Piece]) -> None:
        """Give the batch norms the moments over all graphs under the final weights."""
        from fullrank.models.neural._torch import torch

        for norm in network["norms"]:
            norm.reset_running_stats()
            norm.momentum = None  # the plain mean over batches
        with torch.no_grad():
            for part in self._batches(np.arange(len(pieces))):
                _nodes(network, _joined([pieces[j] for j in part]))
        network.eval()


@dataclass(frozen=True, eq=False)
class Encoder:
    """A trained encoder.

    Attributes:
        settings: of the training.
        network: PyTorch modules by name.
        losses: of each epoch, mean over graphs.
    """

    settings: InfoGraph
    network: Any = field(repr=False)
    losses: tuple[float, ...] = field(repr=False)

    def embed(self, piece: Piece) -> dict[str, float]:
        """A graph's numbers by name, ``gin.1`` to ``gin.(d layers)``, free of its nodes' order."""
        from fullrank.models.neural._torch import torch

        with torch.no_grad():
            joined = _joined([piece])
            found = _graphs(_nodes(self.network, joined), joined)[0]
        return {f"gin.{j + 1}": float(value) for j, value in enumerate(found.tolist())}


@dataclass(frozen=True, eq=False)
class _Joined:
    """Several graphs as one of separate parts; tensors."""

    inputs: Any
    edges: Any
    graph_of: Any
    sizes: Any


def _joined(pieces: Sequence[Piece]) -> _Joined:
    from fullrank.models.neural._torch import torch

    sizes = np.array([len(piece.inputs) for piece in pieces])
    first = np.concatenate([[0], np.cumsum(sizes)])
    edges = np.concatenate([piece.edges + at for piece, at in zip(pieces, first)], axis=1)
    return _Joined(
        torch.from_numpy(np.concatenate([piece.inputs for piece in pieces])),
        torch.from_numpy(edges),
        torch.from_numpy(np.repeat(np.arange(len(pieces)), sizes)),
        torch.from_numpy(sizes.astype(np.float32)),
    )


def _network(d: int, layers: int) -> Any:
    from fullrank.models.neural._torch import torch

    nn, width = torch.nn, d * layers

    def block(*sizes: int) -> Any:
        """Linear layers with a ReLU between two of them."""
        parts: list[Any] = []
        for before, after in pairwise(sizes):
            parts += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*parts[:-1])

    heads = {f"{name}_head": block(*[width] * 4) for name in ("node", "graph")}
    shortcuts = {f"{name}_shortcut": nn.Linear(width, width) for name in ("node", "graph")}
    return nn.ModuleDict(
        {
            "mlps": nn.ModuleList([block(d if j else INPUTS, d, d) for j in range(layers)]),
            "norms": nn.ModuleList([nn.BatchNorm1d(d) for _ in range(layers)]),
            **heads,
            **shortcuts,
        }
    )


def _nodes(network: Any, joined: _Joined) -> Any:
    """All layers' outputs of each node: float32 ``[nodes, d layers]``."""
    from fullrank.models.neural._torch import torch

    h, outputs = joined.inputs, []
    source, target = joined.edges
    for mlp, norm in zip(network["mlps"], network["norms"]):
        h = norm(torch.relu(mlp(h.index_add(0, target, h[source]))))  # [nodes, d]
        outputs.append(h)
    return torch.cat(outputs, dim=1)


def _graphs(nodes: Any, joined: _Joined) -> Any:
    """Mean over the nodes of each graph: float32 ``[graphs, d layers]``."""
    sums = nodes.new_zeros(len(joined.sizes), nodes.shape[1])
    return sums.index_add(0, joined.graph_of, nodes) / joined.sizes[:, None]


def _loss(network: Any, joined: _Joined) -> Any:
    from fullrank.models.neural._torch import torch

    nodes = _nodes(network, joined)
    graphs = _graphs(nodes, joined)
    local = network["node_head"](nodes) + network["node_shortcut"](nodes)
    whole = network["graph_head"](graphs) + network["graph_shortcut"](graphs)
    scores = local @ whole.T  # [nodes, graphs]
    own = joined.graph_of[:, None] == torch.arange(len(graphs))
    soft = torch.nn.functional.softplus(-scores)
    other = (soft + scores - _LN2)[~own]
    return other.mean() - (_LN2 - soft)[own].mean()
