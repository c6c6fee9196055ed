"""Metrics of the full ranking from ranks among sampled candidates, one estimator a file.

``__all__`` is the registry: an estimator is its module and a line here.
"""

from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._estimate import estimate
from fullrank.estimators._result import Recovered
from fullrank.estimators.mle import MLE
from fullrank.estimators.smooth_head import SH

__all__ = ["MLE", "SH", "Estimator", "Fit", "Recovered", "estimate"]

REGISTRY = ("MLE", "SH")
