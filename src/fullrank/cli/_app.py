"""The application: which commands there are."""

from __future__ import annotations

from typing import Annotated

import typer

from fullrank import __version__
from fullrank.cli import advise, analyse, bench, data, estimates, lists, names, psi, samples, splits

HELP = """Rigorous evaluation for recommender systems.

Ranks against the full catalogue, splits without leakage, states the convention of every metric
and how sure each number is. Exit codes: 0 success, 1 a check that you asked for failed, 2 bad
usage or input. --debug shows the traceback of an error.
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fullrank {__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options before the command."""


for command in (bench.demo, bench.run, bench.report, lists.evaluate, lists.compare, splits.split):
    app.command()(command)
app.command()(samples.subsample)
app.command()(psi.psi)
app.command()(advise.advise)
app.command()(analyse.analyse)
app.command()(estimates.estimate)
app.command()(estimates.plan)
app.command("schema")(bench.schema)
app.command("list")(names.list_names)
app.add_typer(data.app, name="data")
