"""The arithmetic of Psi: how well a sampler of data keeps the ranking of algorithms.

Sachdeva, Wu & McAuley 2022, "On sampling collaborative filtering datasets", section 4:

    Psi(D, s) = 1 / lambda  sum over scenarios f, metrics m of f, sizes p  of  tau(R_fm, R_fm^sp)

with ``R_fm`` the scores of the algorithms on the full data, ``R_fm^sp`` those on the sample of size
``p``, and ``lambda`` the number of terms. 1 is the ranking kept, -1 reversed, 0 chance.
"""

from fullrank.subsample.psi.agreement import MEASURES, agreement, overlapping
from fullrank.subsample.psi.compare import Comparison, compare_samplers
from fullrank.subsample.psi.null import Null, psi_null
from fullrank.subsample.psi.summary import (
    PairShare,
    Standing,
    Terms,
    Value,
    pair_shares,
    standings,
)
from fullrank.subsample.psi.terms import Missing, Place, Repeat, Scores, Term, make_term

__all__ = [
    "MEASURES",
    "Comparison",
    "Missing",
    "Null",
    "PairShare",
    "Place",
    "Repeat",
    "Scores",
    "Standing",
    "Term",
    "Terms",
    "Value",
    "agreement",
    "compare_samplers",
    "make_term",
    "overlapping",
    "pair_shares",
    "psi_null",
    "standings",
]
