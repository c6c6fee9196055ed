"""``analyse``: metrics against each other, protocols, factors and costs of finished benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fullrank.cli._output import busy, print_json
from fullrank.core.errors import SpecError
from fullrank.core.paths import check_file_place


def analyse(
    stores: Annotated[list[Path], typer.Argument(help="Folders that `fullrank run` wrote.")],
    metric: Annotated[
        list[str] | None,
        typer.Option("-m", "--metric", help="Metrics; by default those of the benchmarks."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Some of co-optimality, correlation, stability, effects, costs, with commas; by "
            "default all that can be made of these stores."
        ),
    ] = None,
    ties: Annotated[
        Literal["share", "first"],
        typer.Option(
            help="Trials that tie for the best: each counts alike, or the earliest counts."
        ),
    ] = "share",
    level: Annotated[float, typer.Option(help="Confidence level of intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Resamples of users.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 0,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write tables and charts to an HTML file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Analyse finished benchmarks: what metric, split, filter, setting and model change.

    Is what is best by one metric best by another (settings of searches), do metrics order models
    alike, would another protocol order them differently, what does each factor do while all
    others are equal, and what does quality cost. Several stores are analysed together: each data
    set under each protocol is a condition.
    """
    if out is not None:
        check_page(out, "an analysis")
    from fullrank.experiment.analyse import analyse as make

    parts = [part.strip() for part in only.split(",")] if only is not None else ()
    with busy("analysing", json):
        found = make(
            stores, metric or (), only=parts, ties=ties, level=level, resamples=resamples, seed=seed
        )
        if out is not None:
            from fullrank.report.analysis import write_analysis

            out.parent.mkdir(parents=True, exist_ok=True)
            write_analysis(found, out)
    if json:
        print_json({**found.to_dict(), "report": None if out is None else str(out)})
        return
    from fullrank.report.analysis import print_analysis

    print_analysis(found)
    if out is not None:
        typer.echo(f"\nreport: {out}")


def check_page(path: Path, what: str) -> None:
    """Refuse a path that no page can be written to, before the work is done.

    Args:
        path: of the file.
        what: is written, for the message.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"{what} is written as one HTML file, got {path.name!r}; end it in .html")
    check_file_place(path)
