"""Coverage of the intervals of `estimate` on samples thinned to N, by world.

`python -m replications.item_sampling.coverage DATA_FOLDER [--repeats 60] [--write]` draws thinned
samples from the full ranks of each world of the study, estimates Recall and NDCG at ten cut-offs
as users do, and counts how many intervals for these users hold the truth: as they were without the
factor by which posterior draws are spread, and with it. The first 21 worlds of the table were
looked at when the factor was chosen, the others were not. Worlds that are done are kept.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fullrank.estimators import Thinned, estimate, simulate
from fullrank.estimators._intervals import WIDER
from replications.item_sampling.worlds import names, world

KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
METRICS = tuple(f"{name}@{k}" for name in ("recall", "ndcg") for k in KS)
CHOSEN = (
    *(("ml-1m", model) for model in ("EASE", "ItemKNN", "iALS", "Popularity")),
    *(("citeulike-a", model) for model in ("EASE", "ItemKNN", "iALS", "Popularity")),
    *(("law", name) for name in ("block", "mass", "pow.6", "pow1.2", "unif")),
    *(
        ("fresh law", name)
        for name in ("bend", "block 2-6", "block 60-90", "chance", "exponential", "point 40 %",
                     "point 5 %", "two bumps")
    ),
)  # fmt: skip
"""Worlds that the factor was chosen on."""

PAGE = Path(__file__).with_name("coverage.md")


def truth(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    places = np.array(KS)
    inside = (ranks[:, None] <= places).astype(float)
    gains = inside / np.log2(ranks[:, None] + 1)
    return np.concatenate([inside.mean(axis=0), gains.mean(axis=0)])


def cell(folder: Path, cache: Path, data: str, model: str, repeats: int) -> Path | None:
    """Estimates and ends of each repeat, kept in ``cache``; None where that is too large."""
    path = cache / f"coverage-{data}-{model}-{repeats}.npz".replace(" ", "_")
    if path.exists():
        return path
    made = world(folder, cache, data, model)
    if made is None:
        return None
    out: dict[str, list[list[float]]] = {"v": [], "lo": [], "hi": []}
    with threadpool_limits(1):
        for seed in range(repeats):
            sample = simulate(made.ranks, made.catalogs, Thinned(), seed)
            found = [one.these_users for one in estimate(sample, METRICS, rng=seed)]
            for key, end in (("v", "value"), ("lo", "low"), ("hi", "high")):
                out[key].append([getattr(one, end) for one in found])
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(path, t=truth(made.ranks), factor=WIDER, **{k: np.array(x) for k, x in out.items()})
    return path


def covered(path: Path) -> tuple[float, float]:
    """Share of intervals that hold the truth, with a factor of 1 and with that in use."""
    kept = dict(np.load(path))
    used = float(kept.get("factor", 1.0))
    out = []
    for factor in (1.0, WIDER):
        low, high = (kept["v"] + (kept[end] - kept["v"]) * factor / used for end in ("lo", "hi"))
        out.append(float(((low <= kept["t"]) & (kept["t"] <= high)).mean()))
    return out[0], out[1]


def page(found: dict[tuple[str, str], tuple[float, float]], repeats: int) -> str:
    lines = [
        "# Coverage of the intervals of samples thinned to N",
        "",
        f"`python -m replications.item_sampling.coverage DATA_FOLDER --write`: {repeats} samples a "
        "world, Recall and NDCG at ten cut-offs from 1 to 50, nominal 95 % intervals for these "
        f"users. Posterior draws are spread by {WIDER:g} around their median; *without* is what "
        "coverage would be otherwise. The factor was chosen on the worlds marked so, before the "
        "others were looked at. Repeats share one truth a world.",
        "",
        "| world | without | with | |",
        "|---|---|---|---|",
    ]
    for key, (without, with_) in found.items():
        mark = "chosen on" if key in CHOSEN else ""
        lines.append(f"| {', '.join(key)} | {100 * without:.0f} % | {100 * with_:.0f} % | {mark} |")
    for name, keys in (
        ("all", list(found)),
        ("real", [k for k in found if "law" not in k[0]]),
        ("not chosen on", [k for k in found if k not in CHOSEN]),
    ):
        some = np.array([found[k] for k in keys])
        mean, least = 100 * some.mean(axis=0), 100 * some.min(axis=0)
        lines.append(
            f"| **{name}**, {len(keys)} worlds | {mean[0]:.1f} %, lowest {least[0]:.0f} | "
            f"**{mean[1]:.1f} %, lowest {least[1]:.0f}** | |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--cache", type=Path, default=Path("runs/item_sampling"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write coverage.md")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            key: pool.submit(cell, given.folder, given.cache, *key, given.repeats)
            for key in names()
        }
        paths = {key: future.result() for key, future in waiting.items()}
    found = {key: covered(path) for key, path in paths.items() if path is not None}
    made = page(found, given.repeats)
    print(made)
    if given.write:
        PAGE.write_text(made)


if __name__ == "__main__":
    main()
