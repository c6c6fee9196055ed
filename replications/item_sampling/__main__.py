"""Run the study: `python -m replications.item_sampling DATA_FOLDER [--repeats 100] [--write]`.

Cells that are done are kept under ``--cache`` and not made again, so that it can be stopped.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from threadpoolctl import threadpool_limits

from fullrank.core.random import derive
from replications.item_sampling import page
from replications.item_sampling.study import Kept, kept_cell
from replications.item_sampling.worlds import REAL, names, world


def one(folder: Path, cache: Path, data: str, model: str, repeats: int) -> Kept | None:
    """The cell of one world; None where the model is too large for the data set."""
    made = world(folder, cache, data, model)
    if made is None:
        return None
    path = cache / f"{data}-{model}-{repeats}.npz".replace(" ", "-")
    with threadpool_limits(1):  # processes share the cores
        found = kept_cell(path, made, repeats, derive(0, data, model))
    print(f"{data}, {model}: {len(made.ranks):,} targets", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path("runs/item_sampling"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", choices=REAL, help="one data set alone, on a page of its own")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    given = parser.parse_args()

    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            key: pool.submit(one, given.folder, given.cache, *key, given.repeats)
            for key in names()
            if given.data in (None, key[0])
        }
        found = {key: future.result() for key, future in waiting.items()}
    made = {key: cell for key, cell in found.items() if cell is not None}
    if given.data is None:
        page.show(made, write=given.write)
    else:
        page.some(made, given.data, write=given.write)


if __name__ == "__main__":
    main()
