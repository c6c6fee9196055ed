"""The grid of Psi: samplers of data judged by the ranking of algorithms that they keep."""

from fullrank.experiment.psi.collect import collect
from fullrank.experiment.psi.costs import SampleCost
from fullrank.experiment.psi.run import PsiResults, psi
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.psi.spec import check_psi, parse_psi, read_psi

__all__ = [
    "PsiResults",
    "PsiSpec",
    "SampleCost",
    "check_psi",
    "collect",
    "parse_psi",
    "psi",
    "read_psi",
]
