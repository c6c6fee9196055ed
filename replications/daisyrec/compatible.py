"""The published tables again: their split, candidates, order of equal scores, metrics, settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.metrics import parse, per_query_many
from fullrank.models import SLIM, Popularity, PureSVD, Recommender
from fullrank.rank import rank
from fullrank.split import Split
from replications.daisyrec.authors import ShrunkItemKNN, StaticBPR, UserRowSVD
from replications.daisyrec.data import FILES, TIMED, VIEWS, authors_split, rows_of
from replications.daisyrec.lists import Ordered, Ties, candidates
from replications.daisyrec.published import METRICS, numbers, settings

DRAWS, FITS = 5, 3
"""Candidate sets, and with them splits where these are by chance; fits of models that draw."""

DIALECT = tuple(parse(f"{name}(dialect=daisyrec)@10") for name in METRICS)
PARTS = ("all", "warm", "cold")


@dataclass(frozen=True)
class Row:
    """One line of the tables.

    Attributes:
        label: its name.
        published: the model whose published numbers stand beside it.
        make: of settings a model.
        sampled: ranks 1,000 candidates, else all unseen items.
        ties: see ``lists``.
        cold: looks at users without history, which LastFM lacks: for ML-1M alone.
    """

    label: str
    published: str
    make: Callable[..., Recommender]
    sampled: bool = True
    ties: Ties = "authors"
    cold: bool = False


ROWS = (
    Row("MostPop", "MostPop", Popularity, sampled=False),
    Row("MostPop, 1,000 candidates", "MostPop", Popularity),
    Row("ItemKNN", "ItemKNN", ShrunkItemKNN),
    Row("ItemKNN, fair ties", "ItemKNN", ShrunkItemKNN, ties="fair", cold=True),
    Row("ItemKNN, a stable sort", "ItemKNN", ShrunkItemKNN, ties="stable", cold=True),
    Row("ItemKNN, whole catalogue, fair ties", "ItemKNN", ShrunkItemKNN, False, "fair"),
    Row("PureSVD", "PureSVD", UserRowSVD),
    Row("PureSVD, history folded in", "PureSVD", PureSVD, cold=True),
    Row("PureSVD, folded in, fair ties", "PureSVD", PureSVD, ties="fair", cold=True),
    Row("SLIM", "SLIM", SLIM),
    Row("SLIM, fair ties", "SLIM", SLIM, ties="fair", cold=True),
    Row("BPRMF", "BPRMF", StaticBPR),
    Row("BPRFM", "BPRFM", lambda **given: StaticBPR(biases=True, **given)),
)


def measured(
    model: Recommender, split: Split, queries: Queries, row: Row, draw: int
) -> NDArray[np.float64]:
    """Means of the six metrics over all, warm and cold users ``[3, 6]``; NaN where none is."""
    lists = candidates(queries, seed=draw) if row.sampled else None
    ordered = Ordered(model, lists, row.ties).fit(split.train)
    found = per_query_many(rank(ordered, queries, catalogue="all").targets, DIALECT)
    values = np.stack([found[metric] for metric in DIALECT], axis=1)
    cold = queries.history_counts == 0
    parts = (np.ones_like(cold), ~cold, cold)
    return np.stack(
        [values[p].mean(axis=0) if p.any() else np.full(len(METRICS), np.nan) for p in parts]
    )


@lru_cache(maxsize=2 * DRAWS)
def split_of(folder: Path, data: str, view: str, seed: int) -> Split:
    """The authors' split."""
    return authors_split(rows_of(folder, data, view), data, seed)


@lru_cache(maxsize=DRAWS)
def fitted(
    make: Callable[..., Recommender], given: tuple[tuple[str, Any], ...], split: Split, seed: int
) -> Recommender:
    """A model fitted on a split; lines that differ in candidates and ties alone share it."""
    return make(**dict(given)).fit(split.train, rng=seed)


def draws(folder: Path, data: str, view: str, row: Row) -> Iterator[NDArray[np.float64]]:
    """``measured`` for each draw; what does not differ between draws is done once."""
    given = settings(data, view, row.published, split_of(folder, data, view, 0).data.n_users)
    seeded = row.make(**given).seeded
    for draw in range(FITS if seeded else DRAWS):
        chance = data not in TIMED
        split = split_of(folder, data, view, draw if chance else 0)
        fit = fitted(row.make, tuple(given.items()), split, draw if chance or seeded else 0)
        yield measured(fit, split, split.queries("test"), row, draw)


def cell(folder: Path, cache: Path, data: str, view: str, row: Row) -> dict[str, Any]:
    """Values ``[draws, 3, 6]`` of one line, kept in ``cache``."""
    name = f"{data}-{view}-{row.label}".lower().replace(" ", "_").replace(",", "")
    path = cache / "compatible" / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        values = np.stack(list(draws(folder, data, view, row)))
        aside = path.with_suffix(".part")
        aside.write_text(json.dumps({"values": values.round(6).tolist()}))
        aside.rename(path)
    return dict(json.loads(path.read_text()))


Cells = dict[tuple[str, str, str], NDArray[np.float64]]


def run_all(folder: Path, cache: Path) -> Cells:
    """All lines; values ``[draws, 3, 6]`` by data set, view and label."""
    out = {}
    for data in FILES:
        for view in VIEWS:
            known = numbers(data, view)
            for row in ROWS:
                if row.published in known and (data in TIMED or not row.cold):
                    found = cell(folder, cache, data, view, row)
                    out[data, view, row.label] = np.array(found["values"], dtype=float)
                    print(data, view, row.label, flush=True)
    return out
