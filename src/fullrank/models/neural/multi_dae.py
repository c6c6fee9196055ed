"""MultiDAE: a denoising autoencoder of users' items with a multinomial likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fullrank.models.neural.multi_vae import MultiVAE


@dataclass(eq=False)
class MultiDAE(MultiVAE):
    """Score by the decoder's logits of a user's items; ``MultiVAE`` without its noise.

    Liang et al. 2018, section 3.2: ``z`` is a function of the row, nothing is drawn but the
    dropout, and there is no KL term (``kl_weight`` and ``kl_steps`` mean nothing here). ``reg``
    takes the place of the prior; 0.01 over the number of users in the paper's code, which is 0
    for our logs.
    """

    hidden_dim: int = 0

    variational: ClassVar[bool] = False
