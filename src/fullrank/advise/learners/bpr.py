"""BPR: an order of samplers by a small network, Data-genie's second objective (PyTorch)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._design import Scaled
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._network import Network, Phi
from fullrank.advise.learners._pairs import pairs


@dataclass(frozen=True)
class BPR(Learner):
    """``-log sigmoid(Phi(x_a) - Phi(x_b))`` over pairs of a group in which a has the higher tau.

    Bayesian personalised ranking (Rendle et al. 2009) of samplers: Data-genie-ranking of Sachdeva,
    Wu & McAuley 2022. Equal taus say nothing.

    Attributes:
        network: settings.
    """

    ranks: ClassVar[bool] = True

    network: Network = field(default_factory=Network)

    def _load(self) -> None:
        from fullrank.models.neural import _torch  # noqa: F401  (says how to get PyTorch)

    def _fit(self, training: Training, seed: int) -> Scores:
        from fullrank.models.neural._torch import torch

        scaled, found = Scaled.of(training.x), pairs(training)
        better, worse = torch.from_numpy(found.better), torch.from_numpy(found.worse)
        weight = torch.from_numpy((found.weight / found.weight.mean()).astype(np.float32))

        def loss(phi: Phi, some: Any) -> Any:
            margin = phi(torch.cat([better[some], worse[some]])).view(2, -1)
            return (weight[some] * torch.nn.functional.softplus(margin[1] - margin[0])).mean()

        model = self.network.train(scaled(training.x), len(found.better), loss, seed)
        return lambda matrix, _: model(scaled(matrix))
