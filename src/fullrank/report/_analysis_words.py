"""Sentences that read the tables of an analysis."""

from __future__ import annotations

from collections.abc import Sequence

from fullrank.core.brief import count
from fullrank.experiment.analyse import Analysis, CostRow, Effect, MetricMatrix
from fullrank.report._analysis_grids import decided, level_names, verdict
from fullrank.report._numbers import (
    decimals_for,
    interval_text,
    known,
    percent_text,
    seconds_text,
    value_text,
)
from fullrank.report.board import BETTER, best_value


def conditions_words(analysis: Analysis) -> list[str]:
    """What was analysed."""
    study = analysis.study
    names = "; ".join(condition.name for condition in study.conditions)
    return [
        f"{count(len(study.conditions), 'condition')}: {names}. "
        f"{count(len(study.models), 'model')}: {', '.join(study.models)}.",
        *(f"Left out: {part}, as {why}." for part, why in analysis.left_out.items()),
    ]


def co_optimality_words(analysis: Analysis) -> list[str]:
    """The pairs that go together most and least."""
    found = analysis.co_optimality
    if found is None:
        return []
    pairs = [p for p in found.matrices[0].pairs if known(p["value"])]
    if not pairs:
        return []
    low, high = (pick(pairs, key=lambda p: p["value"]) for pick in (min, max))
    first = (
        f"Settings that are best by {low['row']} are also best by {low['column']} in "
        f"{percent_text(round(low['value'], 3))} of {count(low['n'], 'search', 'searches')}"
    )
    if low["value"] == high["value"]:
        return [f"{first}; all pairs of metrics have this share."]
    return [
        f"{first}, the least of all pairs; most often "
        f"({percent_text(round(high['value'], 3))}) those of {high['row']} are best by "
        f"{high['column']} too. What a search is tuned "
        "by matters as far as these shares are below 100 %."
    ]


def correlation_words(analysis: Analysis) -> list[str]:
    """The pairs of metrics that order models most and least alike."""
    if not analysis.correlation:
        return []
    matrix = analysis.correlation[0]
    pairs = [p for p in matrix.pairs if known(p["value"]) and _before(matrix, p)]
    if not pairs:
        return ["No two metrics order the models: under each condition all models tie."]
    low, high = (pick(pairs, key=lambda p: p["value"]) for pick in (min, max))
    out = (
        f"{low['row']} and {low['column']} order models least alike: tau-b {_tau(low)}, mean over "
        f"{count(low['n'], 'condition')}"
    )
    if len(pairs) == 1:
        return [out.replace(" least alike", "") + "."]
    if low["value"] == high["value"]:
        return [f"{out}; no pair does more."]
    return [f"{out}. {high['row']} and {high['column']} do most alike: {_tau(high)}."]


def _before(matrix: MetricMatrix, pair: dict[str, object]) -> bool:
    at = matrix.metrics.index
    return at(str(pair["row"])) < at(str(pair["column"]))


def _tau(row: dict[str, float]) -> str:
    return f"{value_text(row['value'], 2)} {interval_text(row['low'], row['high'], 2)}".strip()


def stability_words(analysis: Analysis) -> list[str]:
    """By factor how far the order of models holds, by the first metric."""
    if "stability" not in analysis.parts:
        return []
    if not analysis.stability:
        return [
            "No two conditions share two models, so that no order can be compared; name stores of "
            "other splits, filters or settings beside this one."
        ]
    metric = analysis.stability[0].metric
    out = []
    for row in analysis.by_factor:
        if row.metric == metric:
            ends = interval_text(row.low, row.high, 2)
            best = f"the best model by {metric} is another in {row.flips} of them"
            out.append(
                f"Where {row.factor} alone changes ({count(row.pairs, 'pair')}), the orders of "
                f"models by {metric} have tau-b {value_text(row.tau, 2)} {ends}".rstrip()
                + f"; {best}."
            )
    rows = [row for row in analysis.stability if row.metric == metric]
    flips = sum(row.flips for row in rows)
    share = f"{flips} of {count(len(rows), 'pair')} of conditions"
    return [*out, f"Over all, the best model by {metric} is another in {share}."]


def effects_words(analysis: Analysis) -> list[str]:
    """What each factor does to the first metric, and what explains its variance."""
    if "effects" not in analysis.parts:
        return []
    if not analysis.effects:
        return [
            "No factor changes while all others are equal; name stores that differ in one of them "
            "(filters, split, catalogue, or a setting such as the objective)."
        ]
    metric = analysis.effects[0].metric
    here = [e for e in analysis.effects if e.metric == metric and known(e.difference)]
    names, digits = level_names(here), decimals_for(e.score for e in here)
    out = []
    for e in here:
        ends = interval_text(e.low, e.high, digits)
        out.append(
            f"{e.factor} {names[e.factor, e.level]} against {names[e.factor, e.reference]}: "
            f"{metric} {value_text(e.difference, digits, sign=True)} {ends}".rstrip()
            + f" over {count(e.contexts, 'context')}, users {e.pairing}: {_said(e)}."
        )
    return [*out, *_variance_words(analysis, metric)]


def _said(effect: Effect) -> str:
    """What an effect comes to."""
    if not decided(effect):
        return "no difference can be told"
    if effect.same_task:
        return "better" if verdict(effect) == BETTER else "worse"
    side = "higher" if (effect.difference or 0) > 0 else "lower"
    return f"{side}, {'among other items' if effect.pairing == 'paired' else 'on other queries'}"


def _variance_words(analysis: Analysis, metric: str) -> list[str]:
    here = [s for s in analysis.variance.shares if s.metric == metric and s.share is not None]
    if not here:
        return []
    largest = sorted(here, key=lambda s: -(s.share or 0))[:3]
    parts = ", ".join(f"{s.term} {100 * (s.share or 0):.1f} %" for s in largest)
    scores = count(analysis.variance.units, "score")
    return [f"Of the variance of {metric} over {scores}, the largest shares are: {parts}."]


def costs_words(analysis: Analysis) -> list[str]:
    """The fastest and slowest fit, and what the best model costs, under each condition."""
    out = []
    for condition in dict.fromkeys(row.condition for row in analysis.costs):
        rows = [row for row in analysis.costs if row.condition == condition]
        where = f"{condition}: " if len(analysis.study.conditions) > 1 else ""
        text = _cost_words(rows, str(analysis.study.metrics[0]))
        out += [f"{where}{text}"] if text else []
    return out


def _cost_words(rows: Sequence[CostRow], metric: str) -> str:
    timed = [(row.cost.fit_seconds, row) for row in rows if row.cost.fit_seconds is not None]
    if not timed:
        return ""
    (least, fast), (most, slow) = (pick(timed, key=lambda t: t[0]) for pick in (min, max))
    text = f"fits take from {seconds_text(least)} ({fast.model})"
    text += f" to {seconds_text(most)} ({slow.model})"
    best = best_value(metric, (row.quality[metric] for row in rows))
    top = next((row for row in rows if best is not None and row.quality[metric] == best), None)
    if top is None:
        return f"{text}."
    own = seconds_text(top.cost.fit_seconds)
    return f"{text}; the best by {metric}, {top.model}, takes {own}."
