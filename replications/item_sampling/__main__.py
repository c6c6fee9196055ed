"""Run the study: `python -m replications.item_sampling DATA_FOLDER [--repeats 100] [--write]`.

Cells that are done are kept under ``--cache`` and not made again, so that it can be stopped.
"""

from __future__ import annotations

import argparse
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from replications.item_sampling import tables
from replications.item_sampling.study import kept_cell
from replications.item_sampling.worlds import DATA, MODELS, world

README = Path(__file__).parent / "README.md"


def one(folder: Path, cache: Path, data: str, model: str, repeats: int) -> dict[str, Any] | None:
    made = world(folder, cache, data, model)
    if made is None:
        return None
    return kept_cell(cache / f"{data}-{model}-{repeats}.json", made, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path("runs/item_sampling"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    given = parser.parse_args()
    names = [(data, model) for data in given.data for model in MODELS]
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            key: pool.submit(one, given.folder, given.cache, *key, given.repeats) for key in names
        }
        found = {key: future.result() for key, future in waiting.items()}
    cells = {key: cell for key, cell in found.items() if cell is not None}
    made = {
        "table 1": tables.table_1(cells),
        "table 2": tables.table_2(cells),
        "table 3": tables.table_3(cells),
    }
    for name, text in made.items():
        print(f"## {name}\n\n{text}\n")
    if given.write:
        page = README.read_text("utf-8")
        for name, text in made.items():
            place = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
            page = place.sub(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page)
        README.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
