"""``psi``: how well samplers of data keep the ranking of algorithms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli._output import busy, print_json, progress_bar
from fullrank.cli._say import say
from fullrank.cli.analyse import check_page
from fullrank.core.paths import check_folder_place


def psi(
    bench: Annotated[Path, typer.Argument(help="Psi file (TOML): docs/psi.md.")],
    store: Annotated[
        Path | None, typer.Option(help="Folder of results; by default runs/NAME beside it.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write tables and charts to an HTML file.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that share the store.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Measure how well samplers of data keep the ranking of algorithms, or go on with it.

    Models are tuned, fitted and ranked on the full training rows and on every sample of them, for
    each scenario, size and seed of the file, by the same protocol. Psi is the mean of Kendall's
    tau-b between the rankings, with intervals, comparisons of samplers, and what was saved. What
    is finished is never done again: stop it at any moment and give the same command.
    """
    if report is not None:
        check_page(report, "Psi")
    folder = store if store is not None else bench.parent / "runs" / bench.stem
    check_folder_place(folder)
    from fullrank.experiment.psi import psi as measure

    with progress_bar(json) as progress:
        found = measure(bench, folder, progress=progress, jobs=jobs)
    if found.fresh == 0:
        say(f"nothing to do: all trials and cells are in {folder}")
    failed = sum(len(done.failures) for done in found.grid)
    if failed:
        say(
            f"{failed} fits or searches failed (see missing terms); a final fit that failed is "
            f"tried again once its file in {folder / 'failures'} is deleted"
        )
    if report is not None:
        from fullrank.report.psi import write_psi

        report.parent.mkdir(parents=True, exist_ok=True)
        with busy("writing the report", json):
            write_psi(found, report)
    if json:
        about = {"store": str(folder), "report": None if report is None else str(report)}
        print_json({**found.to_dict(), "fresh": found.fresh, **about})
        return
    from fullrank.report.psi import print_psi

    print_psi(found)
    typer.echo(f"\nstore: {folder}")
    if report is not None:
        typer.echo(f"report: {report}")
