"""`fullrank estimate` on ML-1M: each model, 100 seeds, against the full ranking.

`python -m replications.item_sampling.ml1m DATA_FOLDER [--seeds 100] [--write]` ranks each model
among sampled candidates (masked histories, draws of the engine), writes RANKS files, and estimates
from those as the command line does.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import fullrank as fr
from fullrank.estimators import Thinned, estimate, read_ranks, write_ranks
from fullrank.negatives import Uniform
from fullrank.rank import rank
from replications.item_sampling import worlds
from replications.item_sampling.page import fill

METRICS = ("ndcg@10", "recall@10", "recall@20", "recall@50")
MODELS: dict[str, Any] = {
    "EASE": lambda: fr.EASE(reg=200.0),
    "IALS": lambda: fr.IALS(embedding_dim=64),
    "PureSVD": fr.PureSVD,
    "ItemKNN": lambda: fr.ItemKNN(neighbours=200),
    "UserKNN": fr.UserKNN,
    "NeuMF": worlds.MODELS["NeuMF"],
    "Multi-VAE": worlds.MODELS["Multi-VAE"],
    "Popularity": fr.Popularity,
    "Random": fr.Random,
}
DESIGNS: dict[str, Any] = {"n = 100": Uniform(m=99), "thinned": Thinned()}


def cell(folder: Path, cache: Path, name: str, seeds: int) -> dict[str, Any]:
    """Truth and estimates of one model, kept in ``cache``."""
    path = cache / f"ml1m-{name}-{seeds}.json"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with threadpool_limits(1):
            text = json.dumps(_made(folder, name, seeds))
        aside = path.with_suffix(".part")
        aside.write_text(text)
        aside.rename(path)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _made(folder: Path, name: str, seeds: int) -> dict[str, Any]:
    log = fr.read(folder / "ml-1m" / "interactions.parquet").interactions
    split = fr.LeaveRandom(valid=0).split(log)
    queries = split.queries("test")
    model = MODELS[name]().fit(split.train, rng=0)
    full = rank(model, queries).targets
    out: dict[str, Any] = {"truth": [fr.parse(m).value(full) for m in METRICS]}
    for label, design in DESIGNS.items():
        out[label] = []
        for seed in range(seeds):
            ranked = rank(model, queries, candidates=design, seed=seed, threads=1).targets
            spent = ranked.counts["scored_pairs"] / len(queries)
            with tempfile.TemporaryDirectory() as kept:
                file = Path(kept) / "ranks.parquet"
                write_ranks(ranked, file)
                found = estimate(read_ranks(file), METRICS)
            out[label].append([spent, [_row(one) for one in found]])
    return out


def _row(one: Any) -> list[float]:
    users, all_ = one.these_users, one.estimate
    return [one.raw, users.value, users.low, users.high, all_.low, all_.high]


def table(cells: dict[str, dict[str, Any]]) -> str:
    """Rows: model and design. Columns: each metric, true, sampled, estimate, error, coverage."""
    lines = [
        "| model | design | pairs a query | metric | full | sampled | estimate, mean | "
        "mean error, % | these users covered | population covered |",
        "|" + "---|" * 10,
    ]
    for name, found in cells.items():
        for label in DESIGNS:
            spent = np.mean([spent for spent, _ in found[label]])
            rows = np.array([rows for _, rows in found[label]])
            for j, metric in enumerate(METRICS):
                lines.append(_line(name, label, spent, metric, found["truth"][j], rows[:, j]))
    lines += list(_pooled(cells))
    return "\n".join(lines)


def _line(name: str, label: str, spent: Any, metric: str, true: float, rows: Any) -> str:
    raw, value, low, high, wide_low, wide_high = rows.T
    error = 100 * np.abs(value - true).mean() / true
    covered = 100 * ((low <= true) & (true <= high)).mean()
    wide = 100 * ((wide_low <= true) & (true <= wide_high)).mean()
    return (
        f"| {name} | {label} | {spent:,.0f} | {metric} | {true:.4f} | {raw.mean():.4f} | "
        f"{value.mean():.4f} | {error:.1f} | {covered:.0f} % | {wide:.0f} % |"
    )


def _pooled(cells: dict[str, dict[str, Any]]) -> Iterator[str]:
    for label in DESIGNS:
        inside, wide = [], []
        for found in cells.values():
            true = np.array(found["truth"])
            rows = np.array([rows for _, rows in found[label]])
            inside.append((rows[:, :, 2] <= true) & (true <= rows[:, :, 3]))
            wide.append((rows[:, :, 4] <= true) & (true <= rows[:, :, 5]))
        shares = [f"{100 * np.mean(x):.1f} %" for x in (inside, wide)]
        yield f"| **all** | {label} | | | | | | | **{shares[0]}** | **{shares[1]}** |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path("runs/item_sampling"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            name: pool.submit(cell, given.folder, given.cache, name, given.seeds)
            for name in given.models
        }
        made = table({name: future.result() for name, future in waiting.items()})
    print(made)
    if given.write:
        fill({"ml-1m": made})


if __name__ == "__main__":
    main()
