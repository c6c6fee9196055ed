"""Make recommendation lists and held-out items of any size: `python -m benchmarks.make_lists DIR`.

Users and items have text ids; each user has ``depth`` recommendations drawn from a skewed
distribution over the catalogue, and 1 to 9 held-out items of which some are in the list.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

N_ITEMS = 50_000


def arrays(users: int, depth: int, seed: int = 0) -> tuple[NDArray[np.int64], ...]:
    """Lists and held-out items: users, items, users, items, grouped by user, best first."""
    rng = np.random.default_rng(seed)
    # An arithmetic walk through a permutation: no item twice in a list, popular items more often.
    start = (N_ITEMS * rng.random(users) ** 2).astype(np.int64)
    step = rng.integers(1, 50, users) * 2 + 1
    items = (start[:, None] + step[:, None] * np.arange(depth)) % N_ITEMS
    counts = rng.integers(1, 10, users)
    owner = np.repeat(np.arange(users), counts)
    hit = rng.random(len(owner)) < 0.3
    listed = items[owner, (depth * rng.random(len(owner)) ** 2).astype(np.int64)]
    target = np.where(hit, listed, rng.integers(0, N_ITEMS, len(owner)))
    held = pl.DataFrame({"user_id": owner, "item_id": target}).unique(maintain_order=True)
    who = np.repeat(np.arange(users), depth)
    return who, items.ravel(), held["user_id"].to_numpy(), held["item_id"].to_numpy()


def make(folder: Path, users: int, depth: int, *, text: bool = True, seed: int = 0) -> None:
    """Write ``recs.parquet`` (user_id, item_id, rank) and ``truth.parquet`` (user_id, item_id)."""
    folder.mkdir(parents=True, exist_ok=True)
    who, items, owner, target = arrays(users, depth, seed)
    recs = pl.DataFrame({"user_id": who, "item_id": items}).with_columns(
        rank=pl.Series(np.tile(np.arange(1, depth + 1, dtype=np.int32), users))
    )
    truth = pl.DataFrame({"user_id": owner, "item_id": target})
    if text:
        recs, truth = (_named(frame) for frame in (recs, truth))
    recs.write_parquet(folder / "recs.parquet")
    truth.write_parquet(folder / "truth.parquet")


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        user_id=pl.format("user-{}", pl.col("user_id").cast(pl.String).str.zfill(8)),
        item_id=pl.format("item-{}", pl.col("item_id").cast(pl.String).str.zfill(6)),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--integers", action="store_true", help="integer ids instead of text")
    arguments = parser.parse_args()
    make(arguments.folder, arguments.users, arguments.depth, text=not arguments.integers)
