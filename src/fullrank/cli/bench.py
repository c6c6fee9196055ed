"""``demo``, ``run``, ``report``, ``schema``: benchmarks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fullrank.cli._output import busy, print_json, progress_bar
from fullrank.cli._say import say
from fullrank.core.errors import SpecError
from fullrank.core.paths import check_file_place, check_folder_place

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
DEMO = Path(__file__).with_name("demo.toml")


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for results.")] = Path(
        "fullrank-demo"
    ),
    json: Json = False,
) -> None:
    """Run an honest benchmark on the bundled data: a table with intervals, and a report.

    Online Retail II: first purchases of an online gift shop, split by time. The search budget is
    small so that it ends in seconds; a study would give every model 20 trials or more.
    """
    start = time.perf_counter()
    results = _run(DEMO, out / "store", 1, json)
    report_path = out / "report.html"
    _report(results, report_path, json)
    if json:
        print_json({**_content(results), "report": str(report_path)})
        return
    typer.echo(f"\nreport: {report_path}")
    typer.echo(
        f"{time.perf_counter() - start:.0f} s. This demo gives each model only "
        f"{results.spec.tune.trials} trials; copy the benchmark file and raise `trials`:\n"
        f"  {DEMO}"
    )


def run(
    bench: Annotated[Path, typer.Argument(help="Benchmark file (TOML).")],
    store: Annotated[
        Path | None, typer.Option(help="Folder of results; by default runs/NAME beside it.")
    ] = None,
    engine: Annotated[  # noqa: ARG001 - one so far; the contract has the option
        Literal["local"], typer.Option(help="Where cells run: this machine.")
    ] = "local",
    jobs: Annotated[int, typer.Option(min=1, help="Processes that share the store.")] = 1,
    json: Json = False,
) -> None:
    """Run a benchmark, or go on with one: tune on validation, refit, rank the test once.

    What is finished is never done again: stop it at any moment and give the same command.
    """
    folder = store if store is not None else bench.parent / "runs" / bench.stem
    results = _run(bench, folder, jobs, json)
    if json:
        print_json({**_content(results), "store": str(folder)})
        return
    typer.echo(f"\nstore: {folder}   (fullrank report {folder} -o report.html)")


def _run(bench: Path, store: Path, jobs: int, quiet: bool) -> Any:
    from fullrank.experiment.run import run as run_benchmark

    check_folder_place(store)
    with progress_bar(quiet) as progress:
        results = run_benchmark(bench, store, progress=progress, jobs=jobs)
    if results.fresh == 0:
        say(f"nothing to do: all {len(results.cells)} cells are in {store}")
    if not quiet:
        from fullrank.report import print_summary

        print_summary(results)
    return results


def _content(results: Any) -> dict[str, Any]:
    """The stable JSON shape of ``run``."""
    from fullrank.experiment.leaderboard import leaderboard, paired_tests

    cells = results.cells
    return {
        "leaderboard": leaderboard(results),
        "tests": paired_tests(results),
        "cells": len(cells),
        "fresh": results.fresh,
        "protocol": {data: list(results.protocol_ids(data)) for data in results.data},
        "settings": [
            {
                key: cell.about[key]
                for key in ("data", "fold", "model", "seed", "settings", "tuning")
            }
            for cell in cells
        ],
        "provenance": cells[0].about["provenance"] if cells else {},
    }


def report(
    store: Annotated[Path, typer.Argument(help="Folder that `fullrank run` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="report.html, or a table: .txt, .md, .tex, .csv, .json."),
    ] = None,
    json: Json = False,
) -> None:
    """Write one self-contained HTML file, or the leaderboard as Markdown, LaTeX, CSV or JSON."""
    from fullrank.experiment.results import Results

    path = out if out is not None else Path("report.html")
    results = Results.load(store)
    _report(results, path, json)
    if json:
        print_json({**_content(results), "report": str(path)})
    else:
        typer.echo(str(path))


def _report(results: Any, path: Path, quiet: bool) -> None:
    from fullrank.report import write_report, write_table

    writers = {
        ".html": write_report,
        ".htm": write_report,
        **dict.fromkeys((".txt", ".md", ".tex", ".csv", ".json"), write_table),
    }
    if path.suffix.lower() not in writers:
        raise SpecError(f"can't tell the format of {path.name!r}; end it in {', '.join(writers)}")
    check_file_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with busy("writing the report", quiet):
        writers[path.suffix.lower()](results, path)


def schema(json: Json = False) -> None:  # noqa: ARG001 - it prints JSON in any case
    """Print the JSON Schema of benchmark files, for editors."""
    from fullrank.experiment.spec import BenchSpec

    print_json(BenchSpec.model_json_schema())
