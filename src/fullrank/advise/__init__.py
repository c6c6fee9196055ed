"""Data-genie: which sampler to take for a data set.

``advise`` answers that with what was learnt from the meta-data that come with the package.
``Features`` measures logs and samples of them, learners (``fullrank.advise.learners``) predict from
that how well a sampler keeps the order of algorithms, ``evaluate`` says on data sets that they have
not seen what their choice is worth, and ``track_record`` what the advice is.
"""

from fullrank.advise.advice import Advice, advise
from fullrank.advise.features import Features, apart
from fullrank.advise.gin import Encoder, InfoGraph
from fullrank.advise.meta_data import MetaData
from fullrank.advise.pieces import Piece, Pieces
from fullrank.advise.protocol import Evaluation, Verdict, evaluate, verdict
from fullrank.advise.record import track_record
from fullrank.advise.samples import Embedded, Measured, measure
from fullrank.advise.taus import taus

__all__ = [
    "Advice",
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
    "advise",
    "apart",
    "evaluate",
    "measure",
    "taus",
    "track_record",
    "verdict",
]
