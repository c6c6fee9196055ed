"""What each size of an adaptive sample bought, as a chart: SVG, or a page without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.core.brief import count
from fullrank.core.errors import SpecError, suggest
from fullrank.core.paths import check_file_place
from fullrank.report._aside import write_aside
from fullrank.report._figure import GREY, PALETTE, Figure, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import UNDEFINED
from fullrank.report.html import VL_VERSION

if TYPE_CHECKING:
    from fullrank.estimators import Efficiency

TITLE = "Sampling efficiency by size"
COST = "items for a newly resolved target"
ENDINGS = (".svg", ".html")

_LEGEND = (
    "at each size: targets resolved, of those that went into it; blue: within n_max, grey: beyond"
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem }}
body {{ margin: 2rem auto; padding: 0 1rem }}
svg {{ max-width: 100%; height: auto }}
td, th {{ padding: .1rem .8rem; text-align: right }}
</style>
</head>
<body>
<h1>{title}</h1>
{svg}
<p>{caption}</p>
{table}
</body>
</html>
"""


def efficiency_figure(found: Efficiency) -> Figure:
    """``C_j`` against the size, both logarithmic, with the stages and the recommended ``n_max``.

    Args:
        found: from ``estimators.efficiency``.

    Returns:
        What charts of a report are: a Vega-Lite specification with its caption and numbers.
    """
    rows = [
        {**stage, "within": stage["size"] <= found.n_max, "n_max": found.n_max}
        for stage in found.to_dict()["stages"]
    ]
    return Figure(TITLE, _spec(rows, found), _caption(found), _grid(rows))


def write_efficiency(found: Efficiency, path: str | Path) -> Path:
    """Write the chart: ``.svg``, or ``.html`` with the numbers beside it; both need no network.

    Raises:
        SpecError: another ending.
    """
    path = Path(path)
    check_chart(path)
    figure = efficiency_figure(found)
    svg = _svg(figure)
    if path.suffix.lower() == ".svg":
        return write_aside(path, svg)
    page = _PAGE.format(
        title=escape(figure.title), svg=svg, caption=escape(figure.caption), table=_table(figure)
    )
    return write_aside(path, page)


def check_chart(path: Path) -> None:
    """Refuse a path that no chart can be written to, before the work is done.

    Raises:
        SpecError: another ending than ``.svg`` and ``.html``, or a folder that isn't there.
    """
    if path.suffix.lower() not in ENDINGS:
        raise SpecError(f"no chart ends in {path.suffix!r}{suggest(path.suffix, ENDINGS)}")
    check_file_place(path)
    if not path.parent.is_dir():
        raise SpecError(f"can't write {path}: there is no folder {path.parent}; make it first")


def _spec(rows: Sequence[dict[str, Any]], found: Efficiency) -> dict[str, Any]:
    import altair as alt

    sizes = [row["size"] for row in rows]
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", domain=[sizes[0] / 2.2, max(*sizes, found.n_max) * 1.2],
                        nice=False),
        axis=alt.Axis(values=sizes, title="size of the sample (n)", grid=False, format=",d"),
    )  # fmt: skip
    y = alt.Y(
        "cost:Q", scale=alt.Scale(type="log"), axis=alt.Axis(title=f"{COST} (C)", format=",.3~r")
    )
    base = alt.Chart(named()).encode(x=x, y=y)
    known = "isValid(datum.cost)"
    line = base.transform_filter(known).mark_line(color=GREY, strokeWidth=1.5)
    shades = alt.Scale(domain=[True, False], range=[PALETTE[0], GREY])
    dots = base.transform_filter(known).mark_point(size=70, filled=True, opacity=1)
    dots = dots.encode(color=alt.Color("within:N", scale=shades, legend=None))
    text = base.transform_filter(known).transform_calculate(
        label="format(datum.resolved, ',') + ' of ' + format(datum.targets, ',')"
    )
    labels = text.mark_text(align="right", dx=-8, dy=-6, color="currentColor").encode(
        text="label:N"
    )
    mark = alt.Chart(named()).transform_filter(f"datum.size == {sizes[0]}").encode(x="n_max:Q")
    rule = mark.mark_rule(strokeDash=[5, 4], color=PALETTE[2])
    name = mark.mark_text(align="left", dx=5, baseline="top", color=PALETTE[2]).encode(
        y=alt.value(0), text=alt.value(f"n_max {found.n_max:,}")
    )
    title = alt.Title(TITLE, subtitle=_LEGEND, anchor="start", color="currentColor",
                      subtitleColor="currentColor", fontSize=14, subtitleFontSize=11)  # fmt: skip
    chart = alt.layer(line, dots, labels, rule, name).properties(width=620, height=320, title=title)
    return spec_of(chart, rows)


def _caption(found: Efficiency) -> str:
    text = (
        f"Each point is a size: {COST} there, and how many of the targets that went into it were "
        f"resolved (an item precedes them). {count(found.targets, 'target')}, {found.items:,.1f} "
        f"items each on average. Recommended n_max: {found.n_max:,}, the largest size within an "
        "eighth of the catalogue."
    )
    missing = [f"{n:,}" for n, c in zip(found.sizes, found.cost) if c == float("inf")]
    if missing:
        text += f" Nobody was resolved at {', '.join(missing)}: no point there."
    return text


def _grid(rows: Sequence[dict[str, Any]]) -> Grid:
    cells = tuple(
        (
            Cell(f"{row['size']:,}"),
            Cell(f"{row['targets']:,}"),
            Cell(f"{row['resolved']:,}"),
            Cell(UNDEFINED if row["cost"] is None else f"{row['cost']:,.1f}"),
        )
        for row in rows
    )
    return Grid("", ("size", "targets", "resolved", COST), cells)


def _svg(figure: Figure) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(figure.spec, vl_version=VL_VERSION))


def _table(figure: Figure) -> str:
    assert figure.grid is not None
    head = "".join(f"<th>{escape(name)}</th>" for name in figure.grid.header)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell.text)}</td>" for cell in row) + "</tr>"
        for row in figure.grid.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"
