"""Figures: an Altair chart with its caption and its numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullrank.report._grid import Grid

if TYPE_CHECKING:
    import altair as alt

PALETTE = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#3ca951",
    "#ff8ab7",
    "#a463f2",
    "#97bbf5",
    "#9c6b4e",
)
"""Vega's "observable10" without its grey: readable on light and dark grounds."""

GREY = "#8b919b"
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])


@dataclass(frozen=True)
class Figure:
    """One chart of the report.

    Attributes:
        title: heading.
        spec: Vega-Lite specification.
        caption: what is shown, how it was defined, how many queries stand behind it.
        grid: the numbers, for readers without scripts; None if a table beside it has them.
        wide: takes the whole width of the page.
    """

    title: str
    spec: dict[str, Any]
    caption: str = ""
    grid: Grid | None = None
    wide: bool = False


@dataclass(frozen=True)
class Looks:
    """Colour and dash of each model, the same in all charts.

    Attributes:
        models: labels in the order of the benchmark file.
        baseline: drawn in grey.
    """

    models: tuple[str, ...]
    baseline: str

    @property
    def colours(self) -> list[str]:
        """One colour a model; they repeat after nine, with another dash."""
        return [GREY if m == self.baseline else PALETTE[i % 9] for m, i in self._numbers()]

    @property
    def dashes(self) -> list[list[int]]:
        """One dash pattern a model."""
        return [DASHES[(i // 9) % len(DASHES)] for _, i in self._numbers()]

    def _numbers(self) -> list[tuple[str, int]]:
        others = [model for model in self.models if model != self.baseline]
        places = {model: number for number, model in enumerate(others)}
        return [(model, places.get(model, 0)) for model in self.models]

    @property
    def key(self) -> list[tuple[str, str, str]]:
        """Label, colour and SVG dash pattern of each model: the legend stands in the page."""
        dashes = [" ".join(map(str, dash)) if dash[1] else "" for dash in self.dashes]
        return list(zip(self.models, self.colours, dashes))

    def colour(self) -> alt.Color:
        """Encoding of the model by colour."""
        import altair as alt

        scale = alt.Scale(domain=list(self.models), range=self.colours)
        return alt.Color("model:N", scale=scale, legend=None)

    def dash(self) -> alt.StrokeDash:
        """Encoding of the model by dash pattern."""
        import altair as alt

        scale = alt.Scale(domain=list(self.models), range=self.dashes)
        return alt.StrokeDash("model:N", scale=scale, legend=None)


ROWS = "rows"
"""Name under which a chart finds its data."""


def named() -> alt.NamedData:
    """The data of a chart by name: Altair would copy rows deeply at every step."""
    import altair as alt

    return alt.NamedData(name=ROWS)


def spec_of(chart: Any, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The specification in the report's looks: text and lines in the colour of the page.

    Args:
        chart: an Altair chart over ``named()``.
        rows: its data.
    """
    ink = "currentColor"
    chart = chart.configure(background="transparent", font="system-ui, sans-serif").configure_view(
        stroke=None
    )
    chart = chart.configure_axis(
        labelColor=ink,
        titleColor=ink,
        gridColor="#8884",
        domainColor="#8888",
        tickColor="#8888",
        titleFontWeight="normal",
        labelLimit=130,
    ).configure_legend(labelColor=ink, titleColor=ink, symbolOpacity=1)
    # Validation takes most of the time of a report; the tests do it once for each kind of chart.
    spec: dict[str, Any] = chart.to_dict(validate=False)
    del spec["$schema"]  # an address that nothing may be tempted to fetch
    return {**spec, "datasets": {ROWS: list(rows)}}
