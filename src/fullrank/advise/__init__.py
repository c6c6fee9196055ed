"""The learning half of Data-genie: which sampler to take for a data set.

``Features`` measures logs and samples of them, learners (``fullrank.advise.learners``) predict from
that how well a sampler keeps the order of algorithms, and ``evaluate`` says on data sets that they
have not seen what their choice is worth.
"""

from fullrank.advise.features import Features, apart
from fullrank.advise.gin import Encoder, InfoGraph
from fullrank.advise.pieces import Piece, Pieces

__all__ = ["Encoder", "Features", "InfoGraph", "Piece", "Pieces", "apart"]
