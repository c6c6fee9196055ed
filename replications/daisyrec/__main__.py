"""Run the study: `python -m replications.daisyrec DATA_FOLDER [--part compatible] [--write]`.

What is done is kept under ``--cache`` and not made again, so that it can be stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from replications.daisyrec import compatible, factors, honest, page, reading, tables

PARTS = ("compatible", "honest", "factors")


def compatible_part(folder: Path, cache: Path, *, write: bool) -> dict[str, str]:
    """The published tables again."""
    cells = compatible.run_all(folder, cache)
    if write:
        page.write_csv("compatible.csv", tables.compatible_rows(cells))
    labels = {row.label: row.published for row in compatible.ROWS}
    return {
        "compatible": tables.compatible(cells, labels),
        "popularity": tables.popularity(cells),
        "cold": tables.cold(cells),
    }


def honest_part(folder: Path, cache: Path, *, write: bool) -> dict[str, str]:
    """The same data by a protocol without the study's flaws."""
    results = honest.run_all(folder, cache)
    board = tables.boards(results)
    if write:
        page.write_csv("honest.csv", tables.honest_rows(board))
    return {
        "honest": tables.honest(board),
        "fallback": reading.fallback(board),
        "orders": reading.orders(board),
        **reading.of_metrics(results),
    }


def factors_part(folder: Path, cache: Path, *, write: bool) -> dict[str, str]:  # noqa: ARG001
    """One factor at a time."""
    head = ("level", "fixed settings", "tuned", "tuned, less the tuned base (95 %)")
    return {"factors": tables.markdown(head, factors.table(factors.run_all(folder, cache)))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--part", choices=PARTS, help="one of the parts; all without")
    parser.add_argument("--cache", type=Path, default=Path("runs/daisyrec"))
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    given = parser.parse_args()

    makers = dict(zip(PARTS, (compatible_part, honest_part, factors_part), strict=True))
    for part in (given.part,) if given.part else PARTS:
        made = makers[part](given.folder, given.cache, write=given.write)
        for name, text in made.items():
            print(f"## {name}\n\n{text}\n")
        if given.write:
            page.fill(made)


if __name__ == "__main__":
    main()
