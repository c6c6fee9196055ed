"""MultiDAE: a denoising autoencoder of users' items with a multinomial likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.models.neural._autoencoder import Autoencoder


@dataclass(eq=False)
class MultiDAE(Autoencoder):
    """Score by the decoder's logits of a user's items; ``MultiVAE`` without its noise.

    Liang et al. 2018, section 3.2: ``z`` is a function of the row ``x``, nothing is drawn but the
    dropout, and each user adds ``-sum_{i in x} ln softmax(f(z))_i``. ``reg`` takes the place of
    the prior; 0.01 over the number of users in the paper's code, which is 0 for our logs.
    Defaults are the paper's (no hidden layer, 200 latent, dropout 0.5), but for the epochs.
    """

    hidden_dim: int = 0

    version: ClassVar[int] = 2  # sums of the first layer in another order: last bits differ

    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-7, "high": 1e-3, "log": True},
        "dropout": {"low": 0.1, "high": 0.8},
        "embedding_dim": [64, 128, 200],
    }
