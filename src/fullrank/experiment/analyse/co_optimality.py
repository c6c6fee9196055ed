"""Is what is best by one metric best by another: settings of searches, asymmetric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.analyse.matrix import MetricMatrix, by_split
from fullrank.experiment.analyse.study import LackingError, Study, Unit
from fullrank.experiment.store import Store, key_of
from fullrank.metrics import Metric, parse
from fullrank.stats import mean_intervals

Ties = Literal["share", "first"]
TIES: tuple[Ties, ...] = ("share", "first")

TIE_RULES: Mapping[str, str] = {
    "share": "of several trials that are best by the row's metric each counts alike: the cell is "
    "the share of them that are best by the column's metric too",
    "first": "of several trials that are best by the row's metric the earliest counts",
}
"""What each rule says of trials that tie."""


@dataclass(frozen=True, eq=False)
class Case:
    """The finished trials of one search.

    Attributes:
        condition: its name.
        split: of the condition.
        model: label.
        fold: number.
        values: by metric float64 ``[t]``, NaN where a trial has no value; trials by number, those
            of settings that were tried before left out.
    """

    condition: str
    split: str
    model: str
    fold: int
    values: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class CoOptimality:
    """How often what is best by one metric is best by another.

    Attributes:
        matrices: of all cases, then of each split if there are several.
        ties: the rule for trials that tie.
        lacking: searches whose trials don't have what is needed, and why.
    """

    matrices: tuple[MetricMatrix, ...]
    ties: Ties
    lacking: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ties": self.ties,
            "tie_rule": TIE_RULES[self.ties],
            "matrices": [matrix.to_dict() for matrix in self.matrices],
            "lacking": list(self.lacking),
        }


def co_optimality(study: Study, ties: Ties = "share") -> CoOptimality:
    """Share of searches in which the trial that is best by the row is best by the column too.

    A case is one search, a model under a condition (on a fold), with at least two finished trials
    of different settings that have validation values of both metrics. With A the trials that are
    best by metric a and B those best by b, a case counts ``|A and B| / |A|`` (``"share"``), or 1
    if the earliest trial of A is in B and 0 otherwise (``"first"``); an entry is the mean over
    cases. It is not symmetric: A and B may differ in size. Values tie if they are equal to the
    last digit. Intervals are over cases, taken as independent of each other.

    Sun et al. 2022, "DaisyRec 2.0" (TPAMI), figure 7, of which the rule for ties is not told:
    ``"first"`` is what taking the maximum of a list gives.

    Args:
        study: the conditions.
        ties: the rule.

    Raises:
        LackingError: no search with two finished trials, or fewer than two metrics that they know.
    """
    cases, lacking = _cases(study)
    if not cases:
        why = lacking[0] if lacking else "no model was searched"
        raise LackingError(
            "co-optimality needs a search with two finished trials, and there is none here "
            f"({why}); give models a search space"
        )
    wanted = [str(metric) for metric in (*study.metrics, *study.others)]
    if len(wanted) < 2:
        raise LackingError(
            f"co-optimality is of two metrics or more, and {wanted[0]} is the only one; name "
            "others that the trials were measured by with -m"
        )
    names = [name for name in wanted if any(name in case.values for case in cases)]
    lacking += [f"{n}: no trial has a validation value of it" for n in wanted if n not in names]
    if len(names) < 2:
        raise LackingError(
            "co-optimality needs validation values of two metrics, and trials keep those of their "
            f"own benchmark ({'; '.join(lacking)}); name metrics of it with -m"
        )
    one = _matrix_of(names, study.level, ties)
    return CoOptimality(by_split(cases, one), ties, tuple(lacking))


def _matrix_of(names: Sequence[str], level: float, ties: Ties) -> Any:
    def one(title: str, cases: Sequence[Case]) -> MetricMatrix:
        table = np.stack([credits(case.values, names, ties) for case in cases])
        flat = table.reshape(len(cases), -1)
        found = mean_intervals(flat, level=level, bounds=[(0.0, 1.0)] * flat.shape[1])
        shape = (len(names), len(names))
        values = np.array([e.value for e in found]).reshape(shape)
        counts = (~np.isnan(table)).sum(axis=0)
        low, high = (np.array([getattr(e, n) for e in found]).reshape(shape) for n in _ENDS)
        return MetricMatrix(title, tuple(names), values, low, high, counts, "cases")

    return one


_ENDS = ("low", "high")


def credits(
    values: Mapping[str, NDArray[np.float64]], names: Sequence[str], ties: Ties
) -> NDArray[np.float64]:
    """What one case counts: float64 ``[metrics, metrics]``, NaN where two values are not known.

    Args:
        values: by metric those of the trials.
        names: of the metrics, rows and columns.
        ties: the rule.
    """
    out = np.full((len(names), len(names)), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if a in values and b in values:
                known = ~np.isnan(values[a]) & ~np.isnan(values[b])
                if known.sum() >= 2:
                    best = (_best(values[a][known], a), _best(values[b][known], b))
                    out[i, j] = _credit(*best, ties)
    return out


def _best(values: NDArray[np.float64], name: str) -> NDArray[np.bool_]:
    end = values.max() if parse(name).higher_is_better else values.min()
    return np.asarray(values == end)


def _credit(a: NDArray[np.bool_], b: NDArray[np.bool_], ties: Ties) -> float:
    if ties == "first":
        return float(b[int(np.argmax(a))])
    return float((a & b).sum() / a.sum())


def _cases(study: Study) -> tuple[list[Case], list[str]]:
    """Searches with two trials or more, and in words those that can't be used."""
    cases, lacking = [], []
    metrics = (*study.metrics, *study.others)
    for condition in study.conditions:
        for unit in condition.units:
            for fold, trials in _searches(unit):
                where = f"{condition.name}: {unit.model}" + (f", fold {fold}" if fold else "")
                values = _values(trials, metrics)
                if len(trials) < 2:
                    lacking.append(
                        f"{where}: fewer than two finished trials of different settings (pruned "
                        "and failed ones have no final value)"
                    )
                elif not all("values" in trial for trial in trials):
                    lacking.append(
                        f"{where}: trials of an older version, which kept the metric of the search "
                        "alone"
                    )
                else:
                    cases.append(Case(condition.name, condition.split, unit.model, fold, values))
    return cases, lacking


def _searches(unit: Unit) -> list[tuple[int, list[dict[str, Any]]]]:
    """Finished trials of the search of each fold, the first of equal settings."""
    out = []
    for cell in unit.folds:
        tuning = cell.about["tuning"]
        if tuning is None:
            continue
        stored = Store(cell.folder.parents[1]).trials(tuning["key"])[: tuning["trials"]]
        first: dict[str, dict[str, Any]] = {}
        for trial in stored:
            if trial["value"] is not None:
                first.setdefault(key_of(trial["settings"]), trial)
        out.append((int(cell.about["fold"]), list(first.values())))
    return out


def _values(
    trials: Sequence[Mapping[str, Any]], metrics: Sequence[Metric]
) -> dict[str, NDArray[np.float64]]:
    """By metric the values of trials, for metrics that some trial has."""
    out = {}
    for name in map(str, metrics):
        found = [trial.get("values", {}).get(name) for trial in trials]
        if any(value is not None for value in found):
            out[name] = np.array([np.nan if v is None else v for v in found], dtype=np.float64)
    return out
