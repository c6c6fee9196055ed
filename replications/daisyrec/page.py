"""The tables put into the page, and all values into files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

FOLDER = Path(__file__).parent


def fill(made: Mapping[str, str], page: Path = FOLDER / "README.md") -> None:
    """Put texts between their marks in the page."""
    text = page.read_text("utf-8")
    for name, table in made.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text, count = place.subn(
            lambda match, table=table: f"{match[1]}\n{table}\n\n{match[2]}", text
        )
        if count != 1:
            raise ValueError(f"{page.name} has {count} places for {name!r}, expected 1")
    page.write_text(text, "utf-8")


def write_csv(name: str, rows: list[dict[str, Any]]) -> None:
    """All values, one a line."""
    pl.DataFrame(rows, infer_schema_length=None).write_csv(FOLDER / name)
