"""Samples of 20 million training rows: `python -m benchmarks.samplers [--quick]`.

Users and items are as many as those of MovieLens-20M, the rows drawn by ``_interactions``, with
times uniform over two years. Each strategy keeps a fifth, from rows that nothing was asked of
before (counts and fingerprints are made anew) to rows, manifest and fingerprints; reading and
sorting are not in it. Beside each time stands a copy of the rows' arrays in the same process.
Processor time is of all threads. Memory is what the process adds at its peak to what it has with
the rows in it, at two sizes that differ fourfold in rows and users.

SVP-CF needs MovieLens 1M below ``FULLRANK_DATA``.
"""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._interactions import SHAPE, draw
from benchmarks._measure import alone, medians
from benchmarks._rows import Row, main

GOALS = {
    "RandomInteractions": 2.0, "RandomUsers": 2.0, "RandomItems": 2.0, "HeadUsers": 2.0,
    "HeadItems": 2.0, "Temporal": 2.0, "Stratified": 2.0, "KCore": 10.0, "PageRank": 10.0,
    "RandomWalk": 30.0, "ForestFire": 30.0,
}  # fmt: skip
"""Seconds, by strategy: all that fit no proxy."""
PROXY_GOAL = 120.0
"""Seconds of SVP-CF with 50 epochs of MF on MovieLens 1M."""
KEEP = 0.2
LINEAR = 1.2
"""A row may cost so many times the memory of a row of a quarter of the data."""


def save(file: Path, parts: int) -> None:
    """Write the rows of a part of the users, with times."""
    import numpy as np

    n_users, n_items, n = SHAPE
    n_users //= parts
    users, items = draw(n_users, n_items, n // parts)
    times = np.random.default_rng(0).integers(0, 2 * 365 * 86_400, len(users))
    np.savez(file, users=users, items=items, times=times, sizes=(n_users, n_items))


def strategies(file: str) -> dict[str, Any]:
    """Seconds, processor seconds and memory of each strategy, rows, and seconds of the copy."""
    import numpy as np

    from fullrank.core.interactions import Interactions
    from fullrank.core.vocabulary import Vocabulary

    with np.load(file) as z:
        sizes = z["sizes"].tolist()
        vocabs = [
            Vocabulary(np.arange(n), name) for n, name in zip(sizes, ("user", "item"), strict=True)
        ]
        sorted_ = Interactions(z["users"], z["items"], *vocabs, times=z["times"])
    columns = sorted_.users, sorted_.items, *vocabs, None, sorted_.times
    few = sorted_.take(sorted_.users < max(sizes[0] // 100, 50))
    copied = sorted_.users, sorted_.items, sorted_.times
    copy = medians({"copy": lambda: [column.copy() for column in copied]})["copy"]
    del sorted_
    found = {}
    for name in GOALS:
        _sampled(few, name)  # loads and compiles
        found[name] = _sampled(Interactions(*columns), name)
    return {"rows": len(columns[0]), "copy": copy, "by": found}


def _sampled(rows: Any, name: str) -> dict[str, float]:
    from benchmarks._training import memory
    from fullrank.subsample import Floor, subsample

    gc.collect()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    start, used = time.perf_counter(), time.process_time()
    sample = subsample(rows, name, KEEP, floor=Floor(1, 1, 1))
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "added": memory("VmHWM") - before,
        "order": sample.manifest["seconds"]["order"],
        "kept": float(len(sample.rows)),
    }


def proxy(quick: bool) -> dict[str, float] | str:
    """Time of SVP-CF on MovieLens 1M, 50 epochs (quick: two of a set that is bundled)."""
    import fullrank as fr
    from fullrank.core.errors import DataError
    from fullrank.subsample import subsample

    try:
        rows = fr.read("online-retail" if quick else "ml-1m").interactions
    except DataError as error:
        return str(error).partition(";")[0]
    few = rows.take(rows.users < 200)
    subsample(few, "SVPCF(proxy=BPRMF(epochs=1))", 0.5)  # loads and compiles
    strategy = "SVPCF(proxy=BPRMF(epochs=2))" if quick else "SVPCF"
    start, used = time.perf_counter(), time.process_time()
    sample = subsample(rows, strategy, KEEP)
    about = sample.manifest["about"]
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "rows": float(len(rows)),
        "epochs": float(about["epochs"]),
        "peak": about["cost"]["proxy_peak_mib"] or float("nan"),
    }


def _proxy_row(quick: bool) -> Row:
    found = alone("benchmarks.samplers:proxy", quick)
    if found.error:
        raise RuntimeError(found.error)
    goal = f"under {PROXY_GOAL:.0f} s"
    if isinstance(found.value, str):
        return Row("SVPCF on MovieLens 1M", goal, None, None, note=found.value)
    one = found.value
    what = f"SVPCF, MF and its inverse AUC against all negatives in each of {one['epochs']:.0f} "
    note = f"processor {one['processor']:.1f} s; peak of the process {one['peak'] / 1024:.2f} GiB"
    what += f"epochs, {'online-retail' if quick else 'MovieLens 1M'}, {one['rows']:,.0f} rows"
    return Row(what, goal, one["seconds"], one["seconds"] < PROXY_GOAL, note=note)


def rows(quick: bool) -> list[Row]:
    """Time at the full size, memory at two; then SVP-CF."""
    parts = 100 if quick else 1
    sizes = []
    for part in (parts, 4 * parts):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npz"
            save(file, part)
            found = alone("benchmarks.samplers:strategies", str(file))
        if found.error:
            raise RuntimeError(found.error)
        sizes.append(found.value)
    return [*_strategy_rows(*sizes), _proxy_row(quick)]


def _strategy_rows(whole: dict[str, Any], quarter: dict[str, Any]) -> list[Row]:
    times, memories = [], []
    for name, goal in GOALS.items():
        one, other = whole["by"][name], quarter["by"][name]
        times.append(
            Row(f"{name}, {KEEP:.0%} of {whole['rows']:,} rows", f"under {goal:.0f} s",
                one["seconds"], one["seconds"] < goal, limit=whole["copy"], limit_name="copy",
                note=f"the order {one['order']:.2f} s; processor {one['processor']:.1f} s")
        )  # fmt: skip
        per_row = [
            2**30 * size["added"] / found["rows"]
            for size, found in ((one, whole), (other, quarter))
        ]
        memories.append(
            Row(f"{name}: memory beyond the rows", f"at most {LINEAR}× a quarter's for each row",
                per_row[0], per_row[0] <= LINEAR * per_row[1], "bytes a row", per_row[1],
                f"{quarter['rows']:,} rows", note=f"{one['added']:.2f} GiB in all")
        )  # fmt: skip
    return [*times, *memories]


if __name__ == "__main__":
    main(rows)
