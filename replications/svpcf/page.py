"""Tables and plots of the committed numbers: `python -m replications.svpcf.page` makes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from replications.svpcf import claims, numbers, plots, tables
from replications.svpcf.paper import NAME as PAPER
from replications.svpcf.sets import LINEAR, MORE

HERE = Path(__file__).parent


def made(results: Path) -> dict[str, str]:
    """Texts by mark.

    Args:
        results: folder with a folder for each data set, and ``traps.csv``.
    """
    linear = numbers.read_all(results, [source.name for source in LINEAR])
    every = [*linear, *numbers.read_all(results, [source.name for source in MORE])]
    paper = numbers.read_all(results, [PAPER])
    nothing = "Not run yet."
    out = {
        "claims": claims.table(every, paper) if every else nothing,
        "across": tables.across(every) if len(every) > 1 else nothing,
        "warm": tables.across(every, warm=True) if len(every) > 1 else nothing,
        "kinds": tables.kinds(every) if len(every) > 1 else nothing,
        "data": tables.data(every) if every else nothing,
        "psi": tables.psi(linear) if linear else nothing,
        "measures": tables.others(linear) if linear else nothing,
        "sizes": tables.sizes(linear) if linear else nothing,
        "scenarios": tables.scenarios(linear) if linear else nothing,
        "compared": tables.compared(linear) if linear else nothing,
        "costs": tables.costs(linear) if linear else nothing,
        "paper": claims.own(paper) if paper else nothing,
        "missing": tables.missing([*every, *paper]),
    }
    path = results / "traps.csv"
    out["traps"] = tables.traps(pl.read_csv(path)) if path.exists() else nothing
    return out


def fill(text: str, parts: Mapping[str, str]) -> str:
    """A page with texts between their marks.

    Raises:
        ValueError: a mark that isn't there, or is there twice.
    """
    for name, table in parts.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text, count = place.subn(
            lambda match, table=table: f"{match[1]}\n{table}\n\n{match[2]}", text
        )
        if count != 1:
            raise ValueError(f"the page has {count} places for {name!r}, expected 1")
    return text


def main() -> None:
    results, page = HERE / "results", HERE / "README.md"
    page.write_text(fill(page.read_text("utf-8"), made(results)), "utf-8")
    linear = numbers.read_all(results, [source.name for source in LINEAR])
    for name, svg in plots.all_of(linear).items():
        (HERE / f"{name}.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
