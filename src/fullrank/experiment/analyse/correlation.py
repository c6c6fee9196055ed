"""Do metrics order models alike: Kendall's tau between the rankings that they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.analyse.matrix import MetricMatrix, by_split
from fullrank.experiment.analyse.study import Condition, LackingError, Study
from fullrank.stats.kendall import pair_signs, tau_matrix


def metric_correlation(study: Study) -> tuple[MetricMatrix, ...]:
    """Kendall's tau-b between metrics: of the orders of models, averaged over conditions.

    Under each condition with two models or more the models are ordered by each metric (mean over
    users; a metric of which less is better is turned round). The entry of two metrics is the mean
    of their tau-b over the conditions where it is defined, each condition counting alike: Sun et
    al. 2022, "DaisyRec 2.0" (TPAMI), figure 8, don't say how they gather data sets.

    Intervals resample users, see ``Study.drawn``: in each resample everything is computed anew.
    A resampled order is noisier than the measured one, so that they lean to lower tau.

    Raises:
        LackingError: fewer than two rank metrics, or no condition with two models.
    """
    if len(study.metrics) < 2:
        raise LackingError(
            f"the correlation of metrics is of two rank metrics or more, and {study.metrics[0]} "
            "is the only one; name others with -m, every rank metric follows from stored ranks"
        )
    conditions = [condition for condition in study.conditions if len(condition.units) >= 2]
    if not conditions:
        raise LackingError(
            f"the correlation of metrics needs two models on a data set, and {study.models[0]} is "
            "the only one; add models to the benchmark"
            if len(study.models) == 1
            else "the correlation of metrics needs two models under one condition, and each "
            "condition here has one; add models to the benchmarks"
        )

    def one(title: str, some: Sequence[Condition]) -> MetricMatrix:
        return _matrix(study, title, some)

    return by_split(conditions, one)


def _matrix(study: Study, title: str, conditions: Sequence[Condition]) -> MetricMatrix:
    taus, drawn = zip(*(_taus(study, condition) for condition in conditions), strict=True)
    values, counts = _mean(np.stack(taus))
    resampled, _ = _mean(np.stack(drawn))
    m = len(study.metrics)
    ends = [study.ends(resampled[:, i, j]) for i in range(m) for j in range(m)]
    low, high = np.array(ends, dtype=np.float64).reshape(m, m, 2).transpose(2, 0, 1)
    names = tuple(map(str, study.metrics))
    return MetricMatrix(title, names, values, low, high, counts, "conditions")


def _taus(study: Study, condition: Condition) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tau of each pair of metrics ``[m, m]``, and resampled ``[r, m, m]``."""
    found = [study.values(condition, condition.models, metric) for metric in study.metrics]
    signs = np.stack([pair_signs(values) for values, _ in found])
    drawn = np.stack([pair_signs(values) for _, values in found], axis=1)
    return tau_matrix(signs), tau_matrix(drawn)


def _mean(taus: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mean over the first axis where defined, and of how many."""
    counts = (~np.isnan(taus)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(taus, axis=0) / counts), counts
