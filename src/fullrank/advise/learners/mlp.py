"""MLP: regression of tau by a small network, Data-genie's first objective (PyTorch)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._design import Scaled
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._network import Network, Phi


@dataclass(frozen=True)
class MLP(Learner):
    """``tanh`` of the network's output against tau, by weighted squared error.

    Data-genie-regression of Sachdeva, Wu & McAuley 2022, on one-hot scenario and metric where they
    learn embeddings, which the first layer does as well.

    Attributes:
        network: settings.
    """

    network: Network = field(default_factory=Network)

    def _load(self) -> None:
        from fullrank.models.neural import _torch  # noqa: F401  (says how to get PyTorch)

    def _fit(self, training: Training, seed: int) -> Scores:
        from fullrank.models.neural._torch import torch

        scaled = Scaled.of(training.x)
        tau = torch.from_numpy(training.tau.astype(np.float32))
        weight = torch.from_numpy(training.weight.astype(np.float32))

        def loss(phi: Phi, cells: Any) -> Any:
            gap = torch.tanh(phi(cells)) - tau[cells]
            return (weight[cells] * gap**2).mean()

        model = self.network.train(scaled(training.x), len(training.tau), loss, seed)
        return lambda matrix, _: np.tanh(model(scaled(matrix)))
