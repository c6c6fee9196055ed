"""What limits an estimate, in words, and how much other fits would change it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fullrank.core.brief import count
from fullrank.estimators._intervals import Ends
from fullrank.estimators._problem import Problem
from fullrank.estimators.mle import MLE
from fullrank.estimators.smooth_head import SmoothFit

STEPS = (30, 100, 300)
"""EM steps whose estimates are shown beside that of the MLE."""

APART = "largest over smallest among near fits"

_FEW_WINS = 500
_SPREAD = 1.5
_WIDE = 0.2


def sensitivities(problem: Problem) -> list[dict[str, float]]:
    """For each metric, other fits' estimates (EM), or how far near fits are apart (SH)."""
    if isinstance(problem.estimator, MLE):
        k = max((m.k or 1 for m in problem.metrics), default=1)
        found = {steps: problem.values(problem.cases.fit(MLE(steps=steps), k)) for steps in STEPS}
        return [
            {f"{steps} EM steps": float(values[j]) for steps, values in found.items()}
            for j in range(len(problem.metrics))
        ]
    first, columns = problem.fits[0], problem.columns[0]
    if isinstance(first, SmoothFit):
        spread = first.spread(columns.functions[:, columns.starts[:-1]])
        return [{APART: float(value)} for value in spread]
    return [{} for _ in problem.metrics]


def notes_of(
    problem: Problem, ends: Ends, j: int, sensitivity: Mapping[str, float]
) -> tuple[str, ...]:
    """What a reader should know before trusting the number."""
    out = [*_resolution(problem)]
    every = [stratum.groups for stratum in problem.cases.strata]
    wins = sum(float(groups.counts[groups.ranks == 1].sum()) for groups in every)
    if wins < _FEW_WINS and not any(groups.exact.any() for groups in every):
        out.append(
            f"only {count(int(wins), 'target')} came first in the sample: the estimate leans on "
            "the assumed smoothness of ranks"
        )
    value = float(ends.value[j])
    if value > 0 and (ends.users[1][j] - ends.users[0][j]) > 2 * _WIDE * value:
        out.append("the sampling of items alone leaves more than 20 % open: draw more candidates")
    spread = sensitivity.get(APART, 1.0)
    if spread > _SPREAD:
        out.append(f"fits that explain the sample about as well differ by a factor of {spread:.2f}")
    return tuple(out)


def _resolution(problem: Problem) -> list[str]:
    """Ranks that no sample tells apart, unless some targets were ranked in full."""
    every = [stratum.groups for stratum in problem.cases.strata]
    if sum(float(groups.counts[groups.exact].sum()) for groups in every) >= 20:
        return []
    size, n = max(int(groups.sizes.max()) for groups in every), max(groups.n for groups in every)
    blind = int(np.ceil(n / size))
    if blind < 2:
        return []
    return [
        f"approximate: ranks 1 to {blind:,} (N/n) look much alike in a sample of {size:,} from "
        f"{n:,}, so structure finer than that (a point mass at rank 1) is assumed to be smooth; a "
        "spot check or an adaptive design sees it"
    ]
