"""The published protocol: choices for cells of data sets that were learnt from.

Sachdeva, Wu & McAuley 2022, as their code has it: of each data set and scenario the groups (metric
and size) are shuffled; one is for validation, three are for the test (one in `explicit`), and all
others are learnt from. So the test shares data sets, scenarios and even samples with the training,
and says nothing of new data. It stands beside the leave-one-data-set-out numbers to show what that
makes of them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from fullrank.advise._regret import outcome
from fullrank.advise.learners import Learner
from fullrank.advise.table import CELL, GROUP
from fullrank.core.random import derive

TESTED = {"explicit": 1}
USUALLY = 3
LEAST = 5
"""Samplers of a group, or it is skipped, as in the published code."""
DRAWS = 5


def published_protocol(
    table: pl.DataFrame, features: pl.DataFrame, learner: Learner, seed: int
) -> pl.DataFrame:
    """`draw, chooser, groups, regret, p@1, mse`: means over the test groups of each draw.

    Args:
        table: cells with taus.
        features: of their samples.
        learner: what chooses; a random choice stands beside it.
        seed: of the shuffles.
    """
    rows = []
    for draw in range(DRAWS):
        test = drawn(table, derive(seed, "published", draw))
        training = table.join(test.select(*GROUP), on=list(GROUP), how="anti")
        fitted = learner.fit(training, features, derive(seed, "fit", draw), level=None)
        wanted = test.filter(pl.col("part") == "test").select(GROUP)
        cells = table.join(wanted, on=list(GROUP), how="semi").sort(CELL)
        predicted = fitted.predict(cells.select(CELL), features)["tau"].to_numpy()
        mean = float(training["tau"].mean() or 0.0)
        for name, found in _means(cells, predicted, mean).items():
            rows.append((draw, name, *found))
    return pl.DataFrame(rows, ["draw", "chooser", "groups", "regret", "p@1", "mse"], orient="row")


def drawn(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Groups kept from the training, with `part`: `valid` or `test`."""
    rng = np.random.default_rng(seed)
    out = []
    for (_, scenario), own in sorted(table.group_by("data", "scenario")):
        groups = own.group_by(GROUP).len().sort(GROUP)
        order = rng.permutation(len(groups))
        n_test = min(TESTED.get(str(scenario), USUALLY), max(len(groups) - 2, 0))
        chosen = groups[order[: n_test + 1].tolist()]
        parts = ["valid", *["test"] * (len(chosen) - 1)]
        out.append(chosen.select(GROUP).with_columns(pl.Series("part", parts, pl.String)))
    return pl.concat(out)


def _means(
    cells: pl.DataFrame, predicted: np.ndarray, mean: float
) -> dict[str, tuple[int, float, float, float]]:
    found: dict[str, list[tuple[float, float, float]]] = {"learner": [], "random": []}
    numbered = cells.with_row_index("row")
    for _, own in sorted(numbered.group_by(GROUP)):
        if len(own) < LEAST:
            continue
        at, tau = own["row"].to_numpy(), own["tau"].to_numpy()
        flat = np.full(len(at), mean)
        for name, taus in (("learner", predicted[at]), ("random", flat)):
            one = outcome(tau, taus, taus)
            found[name].append((one.regret, one.hit, one.error))
    return {
        name: (len(rows), *(float(x) for x in np.mean(rows, axis=0)))
        for name, rows in found.items()
        if rows
    }
