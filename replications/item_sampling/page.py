"""Put tables, numbers and plots of the study beside this page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from replications.item_sampling import plots, reference, tables
from replications.item_sampling.tables import Cells

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"


def some(cells: Cells, data: str, *, write: bool) -> None:
    """Print the tables of one data set; put them into a page of its own, if asked to."""
    titles = {
        "Errors at n = 100": tables.table_1(cells),
        "Adaptive designs": tables.table_2(cells),
        "Is the best model found?": tables.table_3(cells),
        "Coverage": tables.covers(cells),
        "The spot check": tables.checks(cells),
    }
    text = "\n\n".join(f"## {title}\n\n{table}" for title, table in titles.items())
    print(text)
    if write:
        path = FOLDER / f"{data}.md"
        head = path.read_text("utf-8").split("\n## ")[0].rstrip() if path.exists() else f"# {data}"
        path.write_text(f"{head}\n\n{text}\n", "utf-8")


def show(cells: Cells, *, write: bool) -> None:
    """Print the tables; put them into the page, with plots and all numbers, if asked to."""
    made = {
        "summary": tables.summary(cells),
        "table 1": tables.table_1(cells),
        "table 1 large": tables.table_1_large(cells),
        "table 2": tables.table_2(cells),
        "table 3": tables.table_3(cells),
        "coverage": tables.covers(cells),
        "spot check": tables.checks(cells),
        "reference": reference.beside(cells),
    }
    for name, text in made.items():
        print(f"## {name}\n\n{text}\n")
    if write:
        fill(made)
        pl.DataFrame(tables.detail(cells), infer_schema_length=None).write_csv(
            FOLDER / "errors.csv"
        )
        for name, svg in plots.all_of(cells).items():
            (FOLDER / f"{name}.svg").write_text(svg, "utf-8")


def fill(made: Mapping[str, str]) -> None:
    """Put texts between their marks in the page."""
    page = README.read_text("utf-8")
    for name, text in made.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        page, count = place.subn(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page)
        if count != 1:
            raise ValueError(f"{README.name} has {count} places for {name!r}, expected 1")
    README.write_text(page, "utf-8")
