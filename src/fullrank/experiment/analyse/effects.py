"""What one factor does, all others held: levels compared where nothing else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from fullrank.experiment.analyse._factors import varying
from fullrank.experiment.analyse.study import Study, Unit
from fullrank.experiment.measure import number
from fullrank.metrics import Metric

Pairing = Literal["paired", "partly", "unpaired"]

PAIRINGS: Mapping[Pairing, str] = {
    "paired": "the same queries under both levels: users are drawn alike for both",
    "partly": "users with queries under both levels are drawn alike for both, but not all have "
    "them, or what is held out of them differs",
    "unpaired": "no user in common: drawn apart",
}
"""What each way of pairing means."""

HOLDING_OUT = ("data", "split", "repeats")
"""Factors that say what is held out: queries of one user under two levels are other queries."""

RANKED_AMONG = ("catalogue", "eligible", "candidates")
"""Factors that say what held-out items are ranked among: the fewer, the higher all scores."""

NOT_COMPARED = "model"
"""The factor that leaderboards compare the levels of."""


@dataclass(frozen=True)
class Effect:
    """One level of a factor against its reference level, by one metric.

    Attributes:
        metric: of the scores.
        factor: what differs, and nothing else.
        level: of it.
        reference: the level that it is compared with.
        contexts: how many units (a model under a condition) have both levels.
        score: mean over the contexts at the level.
        reference_score: at the reference.
        difference: score less reference score.
        low: lower end of its interval.
        high: upper end.
        pairing: how users of the two levels go together.
        shared: share of the users that both levels have, mean over contexts.
        higher_is_better: of the metric.
    """

    metric: str
    factor: str
    level: str
    reference: str
    contexts: int
    score: float | None
    reference_score: float | None
    difference: float | None
    low: float | None
    high: float | None
    pairing: Pairing
    shared: float
    higher_is_better: bool

    @property
    def same_task(self) -> bool:
        """True if both levels were asked the same, so that one can be better at it."""
        return self.pairing == "paired" and self.factor not in RANKED_AMONG

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


Context = Mapping[str, Unit]
"""Units by level of a factor, all other factors equal."""


def levels_of(study: Study) -> list[tuple[Unit, dict[str, str]]]:
    """Every unit with the levels of all its factors."""
    return [
        (unit, {**condition.factors, **unit.factors})
        for condition in study.conditions
        for unit in condition.units
    ]


def contexts_of(study: Study) -> dict[str, list[Context]]:
    """By factor the contexts in which it has two levels or more; factors without are left out."""
    rows = levels_of(study)
    out: dict[str, list[Context]] = {}
    for factor in varying(table for _, table in rows):
        groups: dict[tuple[tuple[str, str], ...], dict[str, Unit]] = {}
        for unit, table in rows:
            if factor in table:
                key = tuple(sorted((k, v) for k, v in table.items() if k != factor))
                groups.setdefault(key, {})[table[factor]] = unit
        found = [group for group in groups.values() if len(group) > 1]
        if found:
            out[factor] = list(found)
    return out


def factor_effects(study: Study) -> tuple[Effect, ...]:
    """One factor at a time: each level against the reference where all else is equal.

    Factors are those of the protocol (data, filters, split, catalogue …) and the settings of
    models (objective, negatives, optimiser …); a setting that a search chose has the level
    ``"tuned"``, so that levels may each be tuned for themselves. A context is everything else:
    model, its other settings, the rest of the protocol. The reference is the level with most
    contexts, the first of equals. Scores and differences are means over the contexts that have
    both levels, each counting alike; intervals resample users (``Study.drawn``) through all of
    them. Models are not compared with each other here: leaderboards do that.
    """
    compared = [
        one
        for factor, contexts in contexts_of(study).items()
        if factor != NOT_COMPARED
        for one in _compared(study, factor, contexts)
    ]
    return tuple(_effect(study, metric, one) for metric in study.metrics for one in compared)


@dataclass(frozen=True, eq=False)
class _Compared:
    """A level of a factor, its reference, and the units that differ in nothing else."""

    factor: str
    level: str
    reference: str
    pairs: list[tuple[Unit, Unit]]
    pairing: Pairing
    shared: float


def _compared(study: Study, factor: str, contexts: Sequence[Context]) -> list[_Compared]:
    levels = list(dict.fromkeys(level for context in contexts for level in context))
    counts = {level: sum(level in context for context in contexts) for level in levels}
    reference = max(levels, key=lambda level: counts[level])
    out = []
    for level in levels:
        pairs = [(c[level], c[reference]) for c in contexts if level in c and reference in c]
        if level != reference and pairs:
            out.append(_Compared(factor, level, reference, pairs, *_pairing(study, pairs)))
    return out


def _effect(study: Study, metric: Metric, one: _Compared) -> Effect:
    scores = [float(np.mean([pair[j].value(metric) for pair in one.pairs])) for j in (0, 1)]
    drawn = [
        study.drawn[a.condition, a.model, metric] - study.drawn[b.condition, b.model, metric]
        for a, b in one.pairs
    ]
    low, high = study.ends(np.mean(drawn, axis=0))
    return Effect(
        str(metric), one.factor, one.level, one.reference, len(one.pairs), number(scores[0]),
        number(scores[1]), number(scores[0] - scores[1]), low, high, one.pairing, one.shared,
        metric.higher_is_better,
    )  # fmt: skip


def _pairing(study: Study, pairs: Sequence[tuple[Unit, Unit]]) -> tuple[Pairing, float]:
    """How users of two levels go together, and what share of them both have."""
    data = {condition.name: condition.factors["data"] for condition in study.conditions}
    told = {
        condition.name: [condition.factors.get(name) for name in HOLDING_OUT]
        for condition in study.conditions
    }
    shares = []
    for a, b in pairs:
        alike = data[a.condition] == data[b.condition]  # other data sets are drawn apart
        both = np.intersect1d(a.users, b.users).size if alike else 0
        shares.append(both / np.union1d(a.users, b.users).size)
    share = float(np.mean(shares))
    if all(
        told[a.condition] == told[b.condition] and a.keys == b.keys and a.held_out == b.held_out
        for a, b in pairs
    ):
        return "paired", share
    return ("partly" if share else "unpaired"), share
