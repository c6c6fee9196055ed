"""Intervals, paired tests, multiplicity and power, on arrays; the user is the unit.

Per-query values come with the code of each query's user, since the queries of one user are not
independent. ``mean_interval`` and ``compare_pairs`` are the two calls that most code needs.
"""

from fullrank.stats.anova import Anova, Term, anova
from fullrank.stats.compare import PairedTest, compare_pairs, paired_difference
from fullrank.stats.effect import cohen_dz
from fullrank.stats.interval import mean_interval, mean_intervals
from fullrank.stats.kendall import kendall_tau
from fullrank.stats.moments import state_interval
from fullrank.stats.multiplicity import Family, adjust
from fullrank.stats.pairs import Significance
from fullrank.stats.power import detectable_difference, paired_power, users_needed
from fullrank.stats.randomisation import sign_flip
from fullrank.stats.signed_rank import wilcoxon
from fullrank.stats.t_test import paired_t

__all__ = [
    "Anova",
    "Family",
    "PairedTest",
    "Significance",
    "Term",
    "adjust",
    "anova",
    "cohen_dz",
    "compare_pairs",
    "detectable_difference",
    "kendall_tau",
    "mean_interval",
    "mean_intervals",
    "paired_difference",
    "paired_power",
    "paired_t",
    "sign_flip",
    "state_interval",
    "users_needed",
    "wilcoxon",
]
