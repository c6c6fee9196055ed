"""MultiVAE: a variational autoencoder of users' items with a multinomial likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.models.neural._autoencoder import Autoencoder


@dataclass(eq=False)
class MultiVAE(Autoencoder):
    """Score by the decoder's logits of a user's items.

    Liang, Krishnan, Hoffman & Jebara 2018, "Variational autoencoders for collaborative filtering",
    equations 5, 8 and 10. With ``x`` the user's row (0 and 1), ``x̂ = x / |x|_2``, an encoder
    ``tanh`` layer to mean and log-variance of ``z`` and a mirrored decoder ``f``, each user adds

        -sum_{i in x} ln softmax(f(z))_i + beta KL(q(z | x) || N(0, 1))

    with ``z`` drawn once in training and at its mean for scoring. ``beta`` rises from 0 to
    ``kl_weight`` over the first ``kl_steps`` steps. Batches are sparse: the first layer adds up
    the vectors of a user's items, and only the ``batch_size × n_items`` logits are dense.

    Dropout falls on ``x̂``. ``reg`` is L2 on all weights, added to the mean loss over users. The
    start is Xavier normal as in the paper's code, biases 0 (there: truncated normal, 0.001).
    Defaults are the paper's (one hidden layer of 600, 200 latent, dropout 0.5, ``kl_weight`` 0.2
    at 200,000 steps), but for a shorter rise of ``beta``, made for logs of thousands of users:
    ``kl_steps`` 2,000 (about 40 epochs of ML-1M), and the epochs.

    Attributes:
        embedding_dim: size of ``z``.
        hidden_dim: of the layer between; 0 for none.
        kl_weight: the last ``beta``.
        kl_steps: steps until it.
    """

    kl_weight: float = 0.2
    kl_steps: int = 2000

    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "kl_weight": {"low": 0.01, "high": 1.0, "log": True},
        "dropout": {"low": 0.1, "high": 0.8},
        "embedding_dim": [64, 128, 200],
    }

    variational: ClassVar[bool] = True
    version: ClassVar[int] = 2  # sums of the first layer in another order: last bits differ

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.kl_weight < float("inf"):
            raise SpecError(f"MultiVAE: kl_weight must be >= 0, got {self.kl_weight!r}")
        if not isinstance(self.kl_steps, int) or self.kl_steps < 0:
            raise SpecError(f"MultiVAE: kl_steps must be >= 0, got {self.kl_steps!r}")

    def _beta(self, step: int) -> float:
        return self.kl_weight * min(step / max(self.kl_steps, 1), 1.0)
