"""Paired differences against the baseline, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullrank.metrics import parse
from fullrank.report._figure import GREY, Figure, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import (
    decimals_for,
    interval_text,
    known,
    p_text,
    percent_text,
    significant,
    value_text,
)
from fullrank.report.board import BETTER, WORSE, Row, baselines_text, mark_of

VERDICTS = {BETTER: "better", WORSE: "worse", "": "can't be told apart"}
COLOURS = ("#3b82d6", "#d9722e", GREY)
SHAPES = ("triangle-up", "triangle-down", "circle")


def forest_figures(tests: Sequence[Row]) -> list[Figure]:
    """One figure a metric, from the tests of one data set and segment."""
    out = []
    for metric in dict.fromkeys(test["metric"] for test in tests):
        here = [t for t in tests if t["metric"] == metric and known(t["difference"])]
        if here:
            base = here[0]["baseline"]
            own = "" if base == tests[0]["baseline"] else f", differences to {base}"
            out.append(_figure(metric, here, f"{metric}{own}"))
    return out


def _figure(metric: str, tests: Sequence[Row], title: str) -> Figure:
    import altair as alt

    rows = [_row(test) for test in tests]
    unit = "loss per row, " if tests[0]["scale"] == "loss per row" else ""
    side = "right" if parse(metric).higher_is_better else "left"
    verdicts = list(VERDICTS.values())
    y = alt.Y("model:N", sort=[row["model"] for row in rows], title=None)
    base = alt.Chart(named()).encode(y=y)
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=verdicts, range=list(COLOURS)),
        legend=None,
    )
    axis = f"{unit}{side} is better"
    ends = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=axis, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4)),
        x2="high:Q",
        color=colour,
    )
    tip = [alt.Tooltip(f"{name}:N") for name in ("model", "verdict", "difference", "interval", "p")]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x="value:Q",
        color=colour,
        shape=alt.Shape(
            "verdict:N", scale=alt.Scale(domain=verdicts, range=list(SHAPES)), legend=None
        ),
        tooltip=tip,
    )
    zero = alt.Chart(named()).mark_rule(color="currentColor", strokeDash=[3, 3])
    chart = alt.layer(zero.encode(x=alt.datum(0, type="quantitative")), ends, dots)
    chart = chart.properties(width="container", height=alt.Step(26))
    return Figure(title, spec_of(chart, rows), grid=_grid(tests))


def forest_note(tests: Sequence[Row]) -> str:
    """What lines and colours mean, the same for all figures of a data set and segment."""
    level = percent_text(tests[0]["level"])
    return (
        f"{BETTER} better, {WORSE} worse than {baselines_text(tests)}, ● can't be told apart: the "
        f"test after {tests[0]['family']}. Lines: {level} interval of each difference by itself, "
        "which may miss 0 though the test of the family is undecided."
    )


def _row(test: Row) -> dict[str, Any]:
    digits = decimals_for([test["difference"]])
    return {
        "model": test["model"],
        "value": significant(test["difference"]),
        "low": significant(test["low"]),
        "high": significant(test["high"]),
        "verdict": VERDICTS[mark_of(test)],
        "difference": value_text(test["difference"], digits, sign=True),
        "interval": interval_text(test["low"], test["high"], digits),
        "p": f"adjusted {p_text(test['p_adjusted'])}",
    }


def _grid(tests: Sequence[Row]) -> Grid:
    header = ("model", "difference", "p", "adjusted p", "effect (d_z)", "wins / ties / losses")
    rows = []
    for test in tests:
        digits = decimals_for([test["difference"]])
        ends = interval_text(test["low"], test["high"], digits)
        value = value_text(test["difference"], digits, sign=True)
        rows.append(
            (
                Cell(test["model"]),
                Cell(value, mark_of(test), (ends,) if ends else ()),
                Cell(_p(test["p"])),
                Cell(_p(test["p_adjusted"])),
                Cell(value_text(test["effect_size"], 2, sign=True)),
                Cell(f"{test['wins']:,} / {test['ties']:,} / {test['losses']:,}"),
            )
        )
    names = dict.fromkeys(_test_name(test) for test in tests)
    notes = (f"Test: {'; '.join(names)}. Wins, ties and losses count users.",)
    return Grid("", header, tuple(rows), notes)


def _test_name(test: Row) -> str:
    """The test, with its note where it has one."""
    return f"{test['test']} ({test['note']})" if test["note"] else str(test["test"])


def _p(p: float | None) -> str:
    return p_text(p).removeprefix("p ").removeprefix("= ")
