"""Ten cheap models on three data sets, all samplers and sizes: the part that two cores can do.

`python -m replications.svpcf.linear DATA_FOLDER --store STORE [--only NAME] [--seeds 1 2 3]` runs
what is not there yet, and leaves the numbers in ``results/`` and ``meta/``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fullrank.advise import MetaData
from replications.svpcf import work
from replications.svpcf.grids import grid
from replications.svpcf.sets import LINEAR, Source

TRIALS = 8
"""Of each model on the full data."""


def run(source: Source, store: Path, seeds: list[int]) -> None:
    """One data set: settings once, then the grid of each seed."""
    folder = work.RESULTS / source.name
    settings = work.chosen(source, store / source.name / "settings", TRIALS)
    work.write_settings(folder, settings)
    repeats = []
    for seed in seeds:
        cells = store / source.name / f"seed-{seed}"
        repeats.append(work.measure(grid(source, seed, settings), cells, folder, seed))
        MetaData.repeated(repeats).save(work.META / source.name)


def main() -> None:
    names = [source.name for source in LINEAR]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with the data sets")
    parser.add_argument("--store", type=Path, default=Path("runs/svpcf-linear"))
    parser.add_argument("--only", choices=names, help="one data set")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(given.data)
    for source in LINEAR:
        if given.only in (None, source.name):
            run(source, given.store, given.seeds)


if __name__ == "__main__":
    main()
