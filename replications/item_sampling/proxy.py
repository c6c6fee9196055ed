"""Proxy lists on ranks of a real model: `python -m replications.item_sampling.proxy DATA_FOLDER`.

EASE on MovieLens 1M is evaluated; a proxy's list is scored for each user and the rest sampled. How
many listed items precede each target is counted once, by ranking; the draws from the rest are
simulated from the true ranks, with other coins in each repeat. Designs that are done are kept
under ``--cache`` and not made again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullrank as fr
from fullrank.core.ranked import TargetRanks
from fullrank.estimators import ProxyList, Thinned, estimate, simulate
from fullrank.models import Recommender
from fullrank.negatives import Given
from fullrank.rank import rank
from replications.item_sampling import page

KS = (1, 5, 10, 20, 50)
METRICS = tuple(f"{name}@{k}" for name in ("recall", "ndcg") for k in KS)
LENGTHS = (50, 200)
PROXIES = ("PureSVD", "Popularity", "Random")
DEEPER: dict[str, Any] = {"keep": 0.7, "ceiling": 1.0}
"""A walk through the rest as far as that of ``Thinned``: what exact ranks there are worth."""


def proxy(name: str) -> Recommender:
    made: Recommender = {
        "PureSVD": fr.PureSVD(embedding_dim=50),
        "Popularity": fr.Popularity(),
        "Random": fr.Random(),
    }[name]
    return made


def known(folder: Path, cache: Path) -> Mapping[str, NDArray[np.int64]]:
    """True ranks, catalogues, and by proxy and length what of the list precedes each target."""
    path = cache / "proxy-ml-1m.npz"
    if path.exists():
        return dict(np.load(path))
    log = fr.read(folder / "ml-1m" / "interactions.parquet").interactions
    split = fr.LeaveRandom(valid=0).split(log)
    queries, model = split.queries("test"), fr.EASE(reg=200.0).fit(split.train, rng=0)
    full = rank(model, queries).targets
    some = full.ranked
    assert np.array_equal(full.best, full.worst), "ties are left open"
    found = {"ranks": full.best[some], "catalogs": full.n_candidates[some]}
    for name in PROXIES:
        cheap = proxy(name).fit(split.train, rng=0)
        for length in LENGTHS:
            design = ProxyList(proxy=cheap, length=length)
            sample = rank(model, queries, candidates=design).targets.sample
            assert sample is not None
            found[f"{name} {length}"] = sample.listed[some]
            found[f"{name} {length} rest"] = sample.catalog_sizes[some]
    cache.mkdir(parents=True, exist_ok=True)
    out = {key: value.astype(np.int64) for key, value in found.items()}
    np.savez(path, **out)
    return out


def designs() -> dict[str, tuple[str | None, Any]]:
    """Lists and design of each row of the table."""
    out: dict[str, tuple[str | None, Any]] = {}
    for name in PROXIES:
        for length in LENGTHS:
            lists = f"{name} {length}"
            out[f"{name}, H={length}"] = lists, ProxyList(proxy=Given())
        out[f"{name}, H={length}, to N"] = lists, ProxyList(proxy=Given(), **DEEPER)
    return {**out, "Thinned": (None, Thinned())}


def truth(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    places = np.array(KS)
    inside = (ranks[:, None] <= places).astype(float)
    return np.concatenate(
        [inside.mean(axis=0), (inside / np.log2(ranks[:, None] + 1)).mean(axis=0)]
    )


def sampled(world: Mapping[str, NDArray[np.int64]], row: str, seed: int) -> TargetRanks:
    """One sample of a design."""
    lists, design = designs()[row]
    options: dict[str, Any] = {}
    if lists is not None:
        options["listed"] = world[lists]
        options["length"] = world["catalogs"] - world[f"{lists} rest"]
    return simulate(world["ranks"], world["catalogs"], design, seed, **options)


def cell(folder: Path, cache: Path, row: str, repeats: int) -> dict[str, Any]:
    """Estimates, ends for these users and items a user of each repeat; kept in ``cache``."""
    path = cache / f"proxy-{row.replace(', ', '-').replace(' ', '')}-{repeats}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text())
        return kept
    world = known(folder, cache)
    out: dict[str, Any] = {"value": [], "low": [], "high": [], "items": []}
    for seed in range(repeats):
        made = sampled(world, row, seed)
        found = [one.these_users for one in estimate(made, METRICS, rng=seed)]
        for end in ("value", "low", "high"):
            out[end].append([getattr(one, end) for one in found])
        out["items"].append(made.counts["scored_pairs"] / len(world["ranks"]))
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(out))
    aside.rename(path)
    return out


def table(world: Mapping[str, NDArray[np.int64]], cells: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        "| design | caught | items a user | Recall: error | covers | NDCG: error | covers |",
        "|---|---|---|---|---|---|---|",
    ]
    true = truth(world["ranks"])
    for row, found in cells.items():
        value, low, high = (np.array(found[end]) for end in ("value", "low", "high"))
        off = 100 * np.abs(value / true - 1).mean(axis=0)
        inside = 100 * ((low <= true) & (true <= high)).mean(axis=0)
        parts = [
            [
                " / ".join(f"{x:.1f}" for x in off[some]),
                " / ".join(f"{x:.0f}" for x in inside[some]),
            ]
            for some in (slice(0, len(KS)), slice(len(KS), None))
        ]
        first = [row, _caught(world, row), f"{np.mean(found['items']):,.0f}"]
        lines.append("| " + " | ".join([*first, *parts[0], *parts[1]]) + " |")
    return "\n".join(lines)


def _caught(world: Mapping[str, NDArray[np.int64]], row: str) -> str:
    """Share of the items above targets of rank 50 or better that the list holds."""
    lists = designs()[row][0]
    if lists is None:
        return "–"
    near = world["ranks"] <= KS[-1]
    return f"{world[lists][near].sum() / (world['ranks'][near] - 1).sum():.2f}"


def _cells(given: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    known(given.folder, given.cache)
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            row: pool.submit(cell, given.folder, given.cache, row, given.repeats)
            for row in designs()
        }
        for row, future in waiting.items():
            yield row, future.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--cache", type=Path, default=Path("runs/item_sampling"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    given = parser.parse_args()
    cells = dict(_cells(given))
    made = table(known(given.folder, given.cache), cells)
    print(made)
    if given.write:
        page.fill({"proxy": made})


if __name__ == "__main__":
    main()
