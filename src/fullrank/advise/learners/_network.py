"""The network of Data-genie, for a loss on taus or on pairs (PyTorch)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, TrainingError
from fullrank.core.random import derive
from fullrank.core.settings import check_types
from fullrank.data.filters.amounts import check_count, check_share

LARGEST_RATE = 1e30
"""Adam's first steps leave float32 beyond."""

Phi = Callable[[Any], Any]
"""Rows of the matrix in, a number each out; tensors."""


@dataclass(frozen=True)
class Network:
    """Settings of ``Linear(p, hidden), dropout, ReLU, Linear(hidden, 1)``, trained by Adam.

    The defaults are those of Sachdeva, Wu & McAuley 2022, whose betas are taken as well; 20 epochs
    are theirs for measured features, 200 for InfoGraph's.

    Attributes:
        hidden: units.
        dropout: share of the units that a step leaves out.
        epochs: passes over the cells or pairs.
        learning_rate: of Adam.
        weight_decay: of Adam.
        batch: cells or pairs of a step.
    """

    hidden: int = 64
    dropout: float = 0.2
    epochs: int = 20
    learning_rate: float = 1e-3
    weight_decay: float = 1e-6
    batch: int = 128

    def __post_init__(self) -> None:
        check_types("network", self, vars(self))
        check_share("network", "dropout", self.dropout, zero=True)
        for name in ("hidden", "epochs", "batch"):
            check_count("network", name, getattr(self, name), least=1)
        if not 0 < self.learning_rate <= LARGEST_RATE or not self.weight_decay >= 0:
            raise SpecError(
                f"network: learning_rate must be in (0, {LARGEST_RATE:g}] and weight_decay >= 0, "
                f"got {self.learning_rate!r} and {self.weight_decay!r}"
            )

    def train(
        self, x: NDArray[np.float64], n: int, loss: Callable[[Phi, Any], Any], seed: int
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """Train on the CPU; the same seed and data give the same network.

        Args:
            x: float64 ``[rows, p]`` scaled.
            n: cells or pairs.
            loss: of the network (given row numbers, it gives their outputs) and the numbers of some
                cells or pairs; tensors.
            seed: of weights, order and dropout.

        Returns:
            Scaled rows in, outputs out, in float64.

        Raises:
            TrainingError: a weight became no number.
        """
        from fullrank.models.neural._torch import Noise, torch

        rows, cpu = torch.from_numpy(x.astype(np.float32)), torch.device("cpu")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "weights"))
            first = torch.nn.Linear(x.shape[1], self.hidden)
            last = torch.nn.Linear(self.hidden, 1)
        weights = [*first.parameters(), *last.parameters()]
        adam = torch.optim.Adam(
            weights, lr=self.learning_rate, betas=(0.9, 0.98), weight_decay=self.weight_decay
        )
        order, step = np.random.default_rng(derive(seed, "order")), 0
        for _ in range(self.epochs):
            for part in torch.from_numpy(order.permutation(n)).split(self.batch):
                noise = Noise(seed, step, on=cpu)

                def phi(at: Any, noise: Noise = noise) -> Any:
                    return last(torch.relu(noise.dropout(first(rows[at]), self.dropout)))[:, 0]

                adam.zero_grad()
                loss(phi, part).backward()
                adam.step()
                step += 1
        W, b, v, c = (x.detach().numpy().astype(np.float64) for x in weights)
        if not all(np.isfinite(part).all() for part in (W, b, v, c)):
            raise TrainingError("the network's weights are no numbers; lower its learning_rate")
        return lambda given: np.asarray(np.maximum(given @ W.T + b, 0) @ v[0] + c[0])
