"""The page `docs/growth.md` and its plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.growth import Measured

TITLES = {
    "ranking": "Ranking from factors",
    "data": "Data path",
    "metrics": "Metrics and intervals",
    "training": "Training",
    "benchmark": "Benchmarks of many models",
}
HEAD = """# Growth

How time and memory grow with users, items, interactions, k and models, over three decades each.
Lines are fits of `constant + scale · size^exponent` on logarithms; the exponent stands in the
tables with its standard error. Each point is a process of its own: median of up to five calls
after one on a small input, memory as the peak during a call beyond what stood before (the inputs),
the result included; what lies below 4 MiB is noise of the allocator and not fitted. A bold exponent
of time is over the expected one by more than 0.1 and two standard errors.

Made by `python -m benchmarks.growth --write`; the numbers are in `docs/growth/points.json`.
"""
NEAR = 0.1
"""An exponent that exceeds the expected one by so much is called out."""


def write(series: Sequence[Measured], machines: Mapping[str, str], docs: Path) -> None:
    """Write page and plots into ``docs``."""
    (docs / "growth").mkdir(exist_ok=True)
    parts = [HEAD]
    for group, title in TITLES.items():
        members = [one for one in series if one.group == group]
        if not members:
            continue
        _plot(members).save(docs / "growth" / f"{group}.svg")
        parts += [
            f"## {title}\n\n![{title}: time and memory, log-log](growth/{group}.svg)\n",
            _table(members),
            *(f"{_sentence(one.name)}: {one.why}\n" for one in members if one.why),
            *(f"{_sentence(one.name)}, failed: {'; '.join(one.failures)}\n"
              for one in members if one.failures),
            f"{machines[group]}.\n",
        ]  # fmt: skip
    (docs / "growth.md").write_text("\n".join(parts), "utf-8")


def _table(members: Sequence[Measured]) -> str:
    lines = ["| series | sizes | time | exponent | expected | memory at the largest | exponent |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for one in members:
        time, memory = one.time, one.memory
        over = time is not None and time.exponent > one.expected + NEAR + 2 * time.error
        cells = [
            one.name,
            f"{one.sizes[0]:,} to {one.sizes[-1]:,} {one.axis}",
            f"{_seconds(one.seconds[0])} to {_seconds(one.seconds[-1])}",
            f"**{time}**" if over else str(time or "–"),
            f"{one.expected:g}" if one.expected >= 1 else f"at most {one.expected:g}",
            f"{1024 * one.gib[-1]:,.0f} MiB",
            str(memory or "–"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _sentence(name: str) -> str:
    """The name as a sentence begins."""
    return name[0].upper() + name[1:]


def _seconds(value: float) -> str:
    return f"{1000 * value:,.2g} ms" if value < 0.1 else f"{value:,.2g} s"


def _plot(members: Sequence[Measured]) -> Any:
    """Time and memory side by side, points with their fits."""
    import altair as alt

    panels = []
    for field, title in (("seconds", "seconds"), ("gib", "MiB beyond inputs")):
        points, lines = _rows(members, field)
        x = alt.X("size:Q", scale=alt.Scale(type="log"), title="size", axis=alt.Axis(format="~s"))
        y = alt.Y("value:Q", scale=alt.Scale(type="log"), title=title, axis=alt.Axis(format="~g"))
        colour = alt.Color("series:N", title=None, sort=[one.name for one in members])
        dots = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=45)
        curve = alt.Chart(alt.Data(values=lines)).mark_line(strokeWidth=1.2)
        layers = [chart.encode(x=x, y=y, color=colour) for chart in (curve, dots)]
        panels.append(alt.layer(*layers).properties(width=330, height=260))
    whole = alt.hconcat(*panels).configure(background="white", font="system-ui, sans-serif")
    return whole.configure_legend(orient="bottom", columns=2, labelLimit=300)


def _rows(
    members: Sequence[Measured], field: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Points and fits as rows; what is not positive can't stand on a log scale."""
    factor = 1024.0 if field == "gib" else 1.0
    points, lines = [], []
    for one in members:
        for size, value in zip(one.sizes, getattr(one, field)):
            if value > 0:
                points.append({"series": one.name, "size": size, "value": factor * value})
        fit = one.memory if field == "gib" else one.time
        if fit is not None:
            sizes = np.geomspace(one.sizes[0], one.sizes[-1], 60)
            lines += [
                {"series": one.name, "size": float(x), "value": float(factor * y)}
                for x, y in zip(sizes, fit.at(sizes))
            ]
    return points, lines
