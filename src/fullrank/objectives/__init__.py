"""Objectives: what training makes small. ``REGISTRY`` lists them; found in any case."""

from fullrank.objectives._base import Objective
from fullrank.objectives._read import objective
from fullrank.objectives.bpr import BPR
from fullrank.objectives.cross_entropy import CrossEntropy
from fullrank.objectives.hinge import Hinge
from fullrank.objectives.multinomial import Multinomial
from fullrank.objectives.softmax import Softmax
from fullrank.objectives.squared import Squared
from fullrank.objectives.top1 import Top1
from fullrank.objectives.warp import WARP

REGISTRY = (
    "BPR",
    "CrossEntropy",
    "Hinge",
    "Multinomial",
    "Softmax",
    "Squared",
    "Top1",
    "WARP",
)

__all__ = [
    "BPR",
    "REGISTRY",
    "WARP",
    "CrossEntropy",
    "Hinge",
    "Multinomial",
    "Objective",
    "Softmax",
    "Squared",
    "Top1",
    "objective",
]
