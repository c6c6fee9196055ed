"""What each trap of the published code does to Psi, on one small data set.

`python -m replications.svpcf.traps DATA_FOLDER --store STORE [--seeds 1 2 3]` leaves ``traps.csv``
in ``results/``: Psi without and with each trap that can be switched on, for each seed.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.experiment.psi import PsiResults, psi
from replications.svpcf import parts, trap_auc, trap_choice, work
from replications.svpcf.grids import Settings, grid
from replications.svpcf.linear import TRIALS
from replications.svpcf.sets import Source

SOURCE = Source("amazon-musical-instruments", ("explicit", "implicit"))
KEEP = (0.4, 0.1, 0.01)
Row = dict[str, Any]

DAMPING = {"label": "graph, damping 1e-6", "name": "PageRank", "settings": {"damping": 1e-6}}
CENTRAL = "graph, centrality"

SIZES = {
    "rows, stratified": "rounded up",
    "rows, temporal": "rounded up",
    "rows, SVP mf": "one negative",
    "users, SVP mf": "one negative, whole users",
    "users, random": "whole users",
    "users, head": "whole users",
    CENTRAL: "damping 1e-6, whole nodes",
    "graph, random walk": "nodes in the order of their codes",
    "graph, forest fire": "nodes in the order of their codes",
}
"""What the sizes of the published code change for each sampler."""


def grids(store: Path, seed: int, settings: Settings) -> dict[str, PsiResults]:
    """The grid as it is, with the published sizes, the published catalogue, and other policies.

    The published code lets items of dropped rows be candidates again, so that a model that finds
    them is called wrong, and ranks users without a row by what models have for them. So does the
    grid as it is; ``masked`` leaves such items out, ``fallback`` ranks such users by popularity.
    """
    samplers = [dict(one) for one in parts.SAMPLERS if one["label"] in SIZES]
    own: dict[str, dict[str, Any]] = {
        "exact": {"sampler": [*samplers, DAMPING]},
        "faithful": {"size": "faithful"},
    }
    own["subset"], own["masked"] = {"catalogue": "subset"}, {"dropped": "masked"}
    own["fallback"] = {"cold_users": "fallback"}
    out = {}
    for name, changes in own.items():
        spec = grid(SOURCE, seed, settings, keep=KEEP, **{"sampler": samplers, **changes})
        out[name] = psi(spec, store, progress=work.told(f"{name}, seed {seed}"))
    return out


def row(trap: str, sampler: str, without: PsiResults, with_: PsiResults, other: str = "") -> Row:
    """Psi without a trap and with it, and over the terms that are there with it.

    Args:
        trap: its name.
        sampler: label.
        without: results without it.
        with_: results with it.
        other: label of the sampler there; the same by default.
    """
    label = other or sampler
    all_places, places = without.terms.own(sampler), with_.terms.own(label)
    share = [
        done.manifest["realised"]["rows"]["share"]
        for done in with_.grid
        if done.which.sampler == label and done.which.keep == min(KEEP) and done.manifest
    ]
    return {
        "trap": trap,
        "sampler": sampler,
        "without": without.terms.value(sampler, "tau", all_places).value,
        "with": with_.terms.value(label, "tau", places).value,
        "without_same_terms": without.terms.value(sampler, "tau", places).value,
        "terms_without": len(all_places),
        "terms_with": len(places),
        "rows_at_smallest": float(np.mean(share)) if share else None,
    }


def of_grids(found: dict[str, PsiResults]) -> Iterator[Row]:
    """One row a trap and sampler."""
    exact = found["exact"]
    yield row("damping 1e-6 alone", CENTRAL, exact, exact, str(DAMPING["label"]))
    for sampler, what in SIZES.items():
        yield row(f"sizes: {what}", sampler, exact, found["faithful"])
    for sampler in SIZES:
        yield row("catalogue shrinks", sampler, exact, found["subset"])
    for sampler in SIZES:
        yield row("dropped rows again candidates", sampler, found["masked"], exact)
    for sampler in SIZES:
        yield row("cold users as models rank them", sampler, found["fallback"], exact)


def kept(path: Path, make: Callable[[], Iterable[Row]]) -> list[Row]:
    """Rows of a part that has no store of its own: read, or made and kept."""
    if not path.exists():
        text = json.dumps([*make()])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rows: list[Row] = json.loads(path.read_text())
    return rows


def run(store: Path, seeds: Sequence[int]) -> None:
    """All traps under all seeds; the table is written after each."""
    settings = work.chosen(SOURCE, store / "settings", TRIALS)
    rows: list[Row] = []
    for seed in seeds:
        made = [*of_grids(grids(store / "cells", seed, settings))]
        made += kept(
            store / f"auc-{seed}.json",
            lambda seed=seed: trap_auc.rows(SOURCE, seed, settings["implicit"], KEEP),
        )
        made += trap_choice.rows(SOURCE, seed, store / "choice", KEEP)
        rows += [{"seed": seed, **one} for one in made]
        work.write(work.RESULTS, "traps", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with the data sets")
    parser.add_argument("--store", type=Path, default=Path("runs/svpcf-traps"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(given.data)
    run(given.store, given.seeds)


if __name__ == "__main__":
    main()
