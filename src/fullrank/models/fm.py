"""FM: the factorisation machine of user and item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fullrank.models.bpr_mf import BPRMF


@dataclass(eq=False)
class FM(BPRMF):
    """Score by ``b_u + b_i + w_u · h_i``.

    Rendle 2010, "Factorization machines", equation 1, for the two features user and item; DaisyRec
    calls it BPRFM. The global bias is left out: it moves no ranking, and no pairwise objective.
    ``b_u`` moves none either, but takes part where the objective is pointwise (``squared``,
    ``cross_entropy``); with a pairwise one this model is ``BPRMF``, and the papers that rank one
    over the other compare settings.
    """

    user_bias: ClassVar[bool] = True
