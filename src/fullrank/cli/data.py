"""``data``: what is in a data set, which are known, other formats."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli._output import (
    busy,
    check_output,
    parse_columns,
    parse_read,
    print_json,
    print_table,
)
from fullrank.cli._summary import summary_rows

app = typer.Typer(help="Look at data sets and convert them.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Column names, such as user_id=uid,item_id=iid."),
]
Read = Annotated[
    list[str] | None,
    typer.Option("--read", help="Reading options, such as encoding=latin-1 or separator=';'."),
]


def load(source: str, columns: str | None, options: list[str] | None) -> Any:
    """Read a path or a named data set with options of the command line."""
    from fullrank.data import read

    return read(source, columns=parse_columns(columns) or None, **parse_read(options))


@app.command("list")
def list_sets(json: Json = False) -> None:
    """List the data sets that are known by name, and whether their files are at hand."""
    from fullrank.data import list_sources

    found = list_sources()
    if json:
        print_json([{**_entry(one), "available": one.available} for one in found])
        return
    rows = [[one.name, "yes" if one.available else "", one.licence] for one in found]
    print_table(["name", "at hand", "terms"], rows)


def _entry(one: Any) -> dict[str, Any]:
    keep = ("name", "licence", "citation", "url", "notes", "users", "items", "rows")
    return {key: value for key, value in vars(one).items() if key in keep}


@app.command("info")
def info(
    source: Annotated[str, typer.Argument(help="File, or name of a data set.")],
    columns: Columns = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Describe a data set: counts, concentration, times, duplicates, ids that look alike, terms."""
    from fullrank.data import describe

    with busy("reading", quiet=json):
        found = describe(load(source, columns, read))
    if json:
        print_json(asdict(found))
        return
    print_table([found.name, ""], summary_rows(found))


@app.command("convert")
def convert(
    source: Annotated[str, typer.Argument(help="File, or name of a data set.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File: .parquet, .csv, .tsv, .jsonl or .arrow.")
    ],
    columns: Columns = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Write interactions in another format, with canonical column names."""
    from fullrank.data import write_interactions

    check_output(out)
    with busy("converting", quiet=json):
        dataset = load(source, columns, read)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_interactions(dataset.interactions, out)
    rows = len(dataset.interactions)
    if json:
        print_json({"out": str(out), "rows": rows, "fingerprint": dataset.interactions.fingerprint})
    else:
        typer.echo(f"{out}: {rows:,} rows")
