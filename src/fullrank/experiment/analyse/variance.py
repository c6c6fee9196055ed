"""Where the variance of scores comes from: shares of factors, with intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.analyse._factors import NONE
from fullrank.experiment.analyse.effects import NOT_COMPARED, contexts_of, levels_of
from fullrank.experiment.analyse.study import Study
from fullrank.experiment.measure import number
from fullrank.metrics import Metric
from fullrank.stats.anova import Anova, anova

RESIDUAL = "residual"


@dataclass(frozen=True)
class Share:
    """What one term explains of the variance of scores by one metric.

    Attributes:
        metric: of the scores.
        term: a factor, two of them (``"model × split"``), or ``"residual"``.
        df: its degrees of freedom.
        sum_squares: of type II.
        share: of the total sum of squares; None if all scores are equal.
        low: lower end of its interval.
        high: upper end.
    """

    metric: str
    term: str
    df: int
    sum_squares: float
    share: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Variance:
    """Variance of scores over units (a model under a condition) decomposed over factors.

    Attributes:
        shares: by metric and term.
        units: how many scores are decomposed.
        balanced: every combination of levels stands for as many scores, so that shares sum to 1.
        aliased: factors that others account for wholly, so that they have no share of their own.
    """

    shares: tuple[Share, ...] = ()
    units: int = 0
    balanced: bool = True
    aliased: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        shares = [share.to_dict() for share in self.shares]
        return {**asdict(self), "shares": shares, "aliased": list(self.aliased)}


def score_variance(study: Study) -> Variance:
    """Analysis of variance of the scores of all units, see ``stats.anova.anova``.

    Factors are the model and all those that change while nothing else does (as in
    ``factor_effects``). Each unit is one score: interactions of more than two factors, and of two
    where the design leaves no room, are in the residual, and so is what chance makes of the
    users. Intervals resample users (``Study.drawn``); resampled scores are noisier, so that they
    lean to the residual.

    Returns:
        Nothing in it if fewer than three units have scores, or one factor alone has two levels.
    """
    rows = levels_of(study)
    names = [NOT_COMPARED, *(name for name in contexts_of(study) if name != NOT_COMPARED)]
    out: list[Share] = []
    units, balanced = 0, True
    aliased: tuple[str, ...] = ()
    for metric in study.metrics:
        kept = [(unit, table) for unit, table in rows if unit.value(metric) == unit.value(metric)]
        factors = {name: [table.get(name, NONE) for _, table in kept] for name in names}
        factors = {name: levels for name, levels in factors.items() if len(set(levels)) > 1}
        if len(kept) < 3 or len(factors) < 2:
            continue
        found = anova([unit.value(metric) for unit, _ in kept], factors)
        drawn = np.column_stack([study.drawn[u.condition, u.model, metric] for u, _ in kept])
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        again = anova(drawn, factors) if len(drawn) else None
        out += _shares(study, metric, found, again)
        units, balanced = len(kept), found.balanced
        aliased = tuple(term.name for term in found.terms if term.df == 0)
    return Variance(tuple(out), units, balanced, aliased)


def _shares(study: Study, metric: Metric, found: Anova, again: Anova | None) -> list[Share]:
    parts = [
        (term.name, term.df, term.sum_squares, _drawn(again, term.factors))
        for term in found.terms
        if term.df
    ]
    if found.residual_df:
        parts.append((RESIDUAL, found.residual_df, found.residual, _drawn(again, ())))
    total = float(found.total)
    out = []
    for name, df, squares, drawn in parts:
        low, high = (None, None) if drawn is None else study.ends(drawn)
        share = number(float(squares) / total) if total > 0 else None
        out.append(Share(str(metric), name, df, float(squares), share, low, high))
    return out


def _drawn(again: Anova | None, factors: tuple[str, ...]) -> NDArray[np.float64] | None:
    """Resampled shares of a term, or of the residual; NaN where all scores are equal."""
    if again is None:
        return None
    same = [term.sum_squares for term in again.terms if term.factors == factors]
    squares = same[0] if same else again.residual
    shares = np.full(again.total.shape, np.nan)
    np.divide(squares, again.total, out=shares, where=again.total > 0)
    return shares
