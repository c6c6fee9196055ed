"""WARPMF: matrix factorisation that looks for negatives which are ranked too high."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.models.bpr_mf import BPRMF


@dataclass(eq=False)
class WARPMF(BPRMF):
    """Score by ``w_u · h_i + b_i``, learnt by WARP.

    Weston, Bengio & Usunier 2011, "WSABIE: scaling up to large vocabulary image annotation",
    section 3, on the factors of ``BPRMF``: negatives are looked at until one is less than the
    margin behind the positive, and the step is weighted by the rank that the number of looks
    tells. At most ``negatives_per_positive`` are looked at; without one within the margin nothing
    moves. The paper keeps vectors in a ball; here ``reg`` keeps them small, as LightFM does.

    ``adagrad`` is the default, as in LightFM, since the weights of steps differ much.
    """

    learning_rate: float = 0.05
    reg: float = 0.001
    objective: str = "warp"
    negatives_per_positive: int = 50
    optimiser: str = "adagrad"
    epochs: int = 30

    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "learning_rate": {"low": 0.005, "high": 0.2, "log": True},
        "reg": {"low": 1e-5, "high": 0.03, "log": True},
    }
