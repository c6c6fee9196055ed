"""Further small data sets under one seed, so that there are many to learn from.

Those without an order of rows are sampled by fifteen samplers: ``Temporal`` needs one.

`python -m replications.svpcf.more DATA_FOLDER --store STORE [--only NAME ...]` runs what is not
there yet, and leaves the numbers in ``results/`` and ``meta/`` after each data set.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from replications.svpcf import work
from replications.svpcf.grids import grid
from replications.svpcf.sets import MORE, Source

TRIALS = 4
KEEP = (0.6, 0.2, 0.1)
SEED = 1


def run(source: Source, store: Path) -> None:
    """One data set: settings, then the grid."""
    folder, cells = work.RESULTS / source.name, store / source.name / f"seed-{SEED}"
    settings = work.chosen(source, store / source.name / "settings", TRIALS)
    work.write_settings(folder, settings)
    spec = grid(source, SEED, settings, keep=KEEP)
    work.measure(spec, cells, folder, SEED).save(work.META / source.name)


def main() -> None:
    names = [source.name for source in MORE]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with the data sets")
    parser.add_argument("--store", type=Path, default=Path("runs/svpcf-more"))
    parser.add_argument("--only", choices=names, nargs="+", default=names, help="some of the sets")
    given = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(given.data)
    for source in MORE:
        if source.name in given.only:
            run(source, given.store)


if __name__ == "__main__":
    main()
