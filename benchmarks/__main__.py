"""Print the benchmark table, or parts of it: `python -m benchmarks [PART …] [--quick] [--write]`.

Each part is a module with ``rows`` (see ``_rows``) and runs in a process of its own. ``--write``
puts the tables of the parts into ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks._measure import Alone, alone, blas, machine
from benchmarks._rows import Row, table

PARTS = (
    "basics", "full_ranking", "scored", "sampled", "lists", "data_path", "training",
    "training_sgd", "training_neural", "advise_features", "samplers",
)  # fmt: skip
README = Path(__file__).parent / "README.md"
FAILED = "runs"
"""Goal of the row of a part that failed."""
FORCED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Settings of a machine that make BLAS slower than it is; parts run without them."""


def rows_of(found: Alone) -> list[Row]:
    """Rows of a part; one that says why if it failed."""
    if found.error:
        return [Row("this part failed", FAILED, None, False, note=found.error)]
    return [Row(**row) for row in found.value]


def heading(part: str, rows: Sequence[Row], quick: bool) -> str:
    """The part, and what is to be said of its goals: at toy size they hold for nothing."""
    if any(row.goal == FAILED for row in rows):
        return f"## {part}: failed"
    if quick:
        return f"## {part}: goals are not judged at these sizes"
    met = all(row.met is not False for row in rows)
    return f"## {part}{'' if met else ': not all goals are met'}"


def section(part: str, quick: bool) -> tuple[str, str]:
    """Run a part; its heading, and Markdown."""
    found = alone("benchmarks._rows:as_json", part, quick, limit=7200, gib=64)
    rows = rows_of(found)
    title = heading(part, rows, quick)
    if quick:
        rows = [replace(row, met=None) for row in rows]
    note = " Quick: the figures prove nothing." if quick else ""
    head = f"`python -m benchmarks {part}`, {found.process_seconds / 60:.0f} min: {machine()}; "
    return title, f"{head}{blas()}.{note}\n\n{table(rows)}"


def written(text: str, part: str, content: str) -> str:
    """The page with the section of a part replaced.

    Raises:
        ValueError: the page has no place for the part.
    """
    place = re.compile(f"(<!-- {part} -->\n).*?(<!-- /{part} -->)", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"{README} has no lines <!-- {part} --> and <!-- /{part} -->")
    return place.sub(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", text)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument("--quick", action="store_true", help="smallest sizes, to see that it runs")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    if arguments.write and arguments.quick:
        parser.error("quick figures prove nothing and are not written")
    for name in FORCED:
        os.environ.pop(name, None)
    for part in arguments.parts or PARTS:
        title, content = section(part, arguments.quick)
        print(f"{title}\n\n{content}\n", flush=True)
        if arguments.write:
            README.write_text(written(README.read_text("utf-8"), part, content), "utf-8")


if __name__ == "__main__":
    main()
