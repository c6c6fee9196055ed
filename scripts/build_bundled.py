"""Make the bundled data set from Online Retail II: ``python scripts/build_bundled.py FOLDER``.

FOLDER holds ``interactions.parquet`` (user_id, item_id, timestamp, …; one row a purchase, in
seconds) and ``items.parquet`` (item_id, title). Kept is the first purchase of each (customer,
product). Rows are sorted by time, so that those of an invoice stand together and pack well.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

TARGET = Path(__file__).parents[1] / "src" / "fullrank" / "data" / "bundled"


def build(folder: Path, target: Path = TARGET) -> None:
    """Write both tables into ``target``."""
    rows = pl.read_parquet(folder / "interactions.parquet")
    first = (
        rows.group_by("user_id", "item_id")
        .agg(pl.col("timestamp").min())
        .with_columns(pl.col("user_id").cast(pl.Int32))
        .sort("timestamp", "user_id", "item_id")
    )
    items = pl.read_parquet(folder / "items.parquet").sort("item_id")
    options = {"compression": "zstd", "compression_level": 22, "row_group_size": 1 << 20}
    first.write_parquet(target / "online_retail.parquet", statistics=False, **options)
    items.write_parquet(target / "online_retail_items.parquet", statistics=False, **options)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
