"""A PyTorch module of one's own as a model: beside a benchmark file, ``perceptron:Perceptron``."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fullrank import Recommender


def network(n_items, dim):
    """Items to items, through ``dim`` numbers."""
    return torch.nn.Sequential(
        torch.nn.Linear(n_items, dim), torch.nn.Tanh(), torch.nn.Linear(dim, n_items)
    )


@dataclass(eq=False)
class Perceptron(Recommender):
    """Score by a network that gives the items of a history again, through a narrow layer."""

    embedding_dim: int = 32
    epochs: int = 20
    learning_rate: float = 0.01

    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("first_", "shift_", "second_", "bias_")

    def _fit(self, train, rng, monitor):
        with torch.random.fork_rng():  # the seed of others stays as it is
            torch.manual_seed(int(np.random.default_rng(rng).integers(2**31)))
            net = network(train.n_items, self.embedding_dim)
        rows = torch.from_numpy(train.csr("binary").toarray()).float()
        rows = rows[rows.sum(1) > 0]
        optimiser = torch.optim.Adam(net.parameters(), self.learning_rate)
        for epoch in range(self.epochs):
            optimiser.zero_grad()
            share = rows / rows.sum(1, keepdim=True)
            torch.nn.functional.cross_entropy(net(rows), share).backward()
            optimiser.step()
            self.first_, self.shift_, self.second_, self.bias_ = (
                w.detach().numpy().copy() for w in net.parameters()
            )
            if monitor is not None and monitor(epoch, self):
                break

    def _score(self, queries):
        # float64, so that a query gets the same float32 scores alone and in any block
        net = network(queries.n_items, self.embedding_dim).double()
        weights = (self.first_, self.shift_, self.second_, self.bias_)
        with torch.no_grad():
            for mine, w in zip(net.parameters(), weights, strict=True):
                mine.copy_(torch.from_numpy(w))
            rows = torch.from_numpy(queries.history_csr().toarray()).double()
            return net(rows).float().numpy()
