"""Features of a log of 20 million rows: `python -m benchmarks.advise_features [--quick]`.

Users and items are drawn from Zipf's law (exponents 0.8 and 1, ranks shifted by 50 so that no node
has all), independently, with repeats; times are uniform over two years and values are stars. Times
are beside the features' own: reading and coding the log are not in them. Processor time is of all
threads. Memory is what the process adds at its peak to what it has with the log in it, at two sizes
of the log that differ fourfold.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks._measure import alone
from benchmarks._rows import Row, main

ROWS = 20_000_000
GOAL = 60.0
"""Seconds."""


def log(n: int, seed: int = 0) -> Any:
    """Interactions of n rows, a user for every 40 and an item for every 200 of them."""
    import numpy as np

    from fullrank.core.interactions import Interactions
    from fullrank.core.vocabulary import Vocabulary

    rng = np.random.default_rng(seed)
    columns = []
    for size, exponent in ((n // 40, 0.8), (n // 200, 1.0)):
        running = np.cumsum((50.0 + np.arange(size)) ** -exponent)
        drawn = np.searchsorted(running, rng.random(n) * running[-1])
        columns.append(rng.permutation(size)[drawn].astype(np.int32))
    sizes = n // 40, n // 200
    users, items = (
        Vocabulary(np.arange(size), name) for size, name in zip(sizes, ("user", "item"))
    )
    times = rng.integers(0, 2 * 365 * 86_400, n)
    values = rng.integers(1, 6, n).astype(np.float64)
    return Interactions(*columns, users, items, values, times)


def features(n: int) -> dict[str, float]:
    """Seconds, processor seconds and memory of all features of a log."""
    from benchmarks._training import memory
    from fullrank.advise.features import Features

    Features().of(log(20_000))  # loads and compiles
    rows = log(n)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    start, used = time.perf_counter(), time.process_time()
    found = Features().of(rows)
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "added": memory("VmHWM") - before,
        "pairs": float(rows.csr("binary").nnz),
        **{name: found[name] for name in ("cycles.four", "hops.diameter")},
    }


def rows(quick: bool) -> list[Row]:
    """Time at the full size, memory at two."""
    n = 200_000 if quick else ROWS
    whole, quarter = (alone("benchmarks.advise_features:features", size) for size in (n, n // 4))
    for found in (whole, quarter):
        if found.error:
            raise RuntimeError(found.error)
    one, other = whole.value, quarter.value
    what = f"features of a log, {n:,} rows"
    pairs = f"{one['pairs']:,.0f} pairs"
    per_row = [2**30 * found["added"] / size for found, size in ((one, n), (other, n // 4))]
    return [
        Row(what, f"under {GOAL:.0f} s", one["seconds"], one["seconds"] < GOAL,
            note=f"{pairs}; processor {one['processor']:.1f} s"),
        Row(f"their memory beyond the log, {n:,} rows", "linear in rows: at most 1.2× a quarter's "
            "for each row", per_row[0], per_row[0] <= 1.2 * per_row[1], "bytes a row",
            per_row[1], "a quarter of the rows", note=f"{one['added']:.2f} GiB in all"),
    ]  # fmt: skip


if __name__ == "__main__":
    main(rows)
