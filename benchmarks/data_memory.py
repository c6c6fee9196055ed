"""Peak memory of loading, encoding and splitting: ``python benchmarks/data_memory.py [ROWS]``.

Writes a Parquet file of string ids, then in a fresh process reads and splits it while a thread
watches the resident set. Prints the peak above that of the imports, over the size of the columns
in Arrow's layout (string bytes plus 8 bytes an offset, 8 bytes a number). Linux only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np


def make(path: Path, rows: int) -> int:
    """Write ``rows`` interactions; returns the bytes of the columns."""
    import polars as pl

    rng = np.random.default_rng(0)
    users = pl.Series((rng.random(rows) ** 2 * rows / 20).astype(np.int64))
    items = pl.Series((rng.random(rows) ** 3 * rows / 100).astype(np.int64))
    frame = pl.DataFrame(
        {
            "user_id": "user-" + users.cast(pl.String).str.zfill(12),
            "item_id": "B" + items.cast(pl.String).str.zfill(9),
            "rating": rng.integers(1, 6, rows).astype(np.float64),
            "timestamp": rng.integers(1_500_000_000, 1_600_000_000, rows),
        }
    )
    frame.write_parquet(path)
    return rows * (17 + 10 + 8 + 8 + 8 + 8)


class Peak(threading.Thread):
    """Highest resident set, in bytes, sampled each 2 ms."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, resident())
            time.sleep(0.002)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def measure(path: str) -> dict[str, float]:
    from fullrank.core.interactions import Interactions
    from fullrank.data import read
    from fullrank.split._base import TEST, TRAIN, Split

    read({"user_id": ["a"], "item_id": ["b"]})
    start, watch = resident(), Peak()
    watch.start()
    clock = time.perf_counter()
    data: Interactions = read(path).interactions
    loaded, load_peak = time.perf_counter() - clock, watch.peak
    assert data.times is not None
    cut = np.quantile(data.times, 0.9)
    split = Split(data, np.where(data.times > cut, TEST, TRAIN).astype(np.int8), {"cut": 0.9})
    assert len(split.train) + len(split.test) == len(data)
    return {
        "load_s": loaded,
        "all_s": time.perf_counter() - clock,
        "load_peak": load_peak - start,
        "peak": watch.peak - start,
    }


def main() -> None:
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2])))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        size = make(path, rows)
        done = subprocess.run(
            [sys.executable, __file__, "measure", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
    found = json.loads(done.stdout)
    print(f"{rows:,} rows, columns {size / 2**20:,.0f} MiB")
    for what in ("load_peak", "peak"):
        print(f"{what}: {found[what] / 2**20:,.0f} MiB = {found[what] / size:.2f} x the columns")
    print(f"load {found['load_s']:.1f} s, load and split {found['all_s']:.1f} s")


if __name__ == "__main__":
    main()
