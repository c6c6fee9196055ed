"""The learning half of Data-genie: which sampler to take for a data set.

``Features`` measures logs and samples of them, learners (``fullrank.advise.learners``) predict from
that how well a sampler keeps the order of algorithms, and ``evaluate`` says on data sets that they
have not seen what their choice is worth.
"""

from fullrank.advise.features import Features, apart
from fullrank.advise.gin import Encoder, InfoGraph
from fullrank.advise.meta_data import MetaData
from fullrank.advise.pieces import Piece, Pieces
from fullrank.advise.protocol import Evaluation, Verdict, evaluate, verdict
from fullrank.advise.samples import Embedded, Measured, measure
from fullrank.advise.taus import taus

__all__ = [
    "Embedded",
    "Encoder",
    "Evaluation",
    "Features",
    "InfoGraph",
    "Measured",
    "MetaData",
    "Piece",
    "Pieces",
    "Verdict",
    "apart",
    "evaluate",
    "measure",
    "taus",
    "verdict",
]
