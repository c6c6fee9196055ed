"""The data path beside its goals: `python -m benchmarks.data_path [--quick]`.

A log of MovieLens-20M's shape from a file through 10-core and a global time split to Parquet, each
run in a process of its own, import and all. `make` writes the log with a fixed seed: 144 rows a
user, power-law margins, distinct pairs, half stars, sessions in seconds since 1970, rows in the
order of time as a log has them (an order by user is easier: it is nearly the canonical one). The
limit is Polars alone, which reads the file and writes the same columns, and does nothing between.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks._measure import Alone, alone
from benchmarks._rows import Row, main

ROWS = 20_000_000
_PER_USER = 144  # MovieLens-20M: 20,000,263 ratings of 138,493 users
_ITEMS = 6  # times the root of the rows: 26,833 items at 20 million rows
_BLOCK = 20_000  # users drawn at once
_GRID = 1 << 22  # quantiles of the popularity of items


def make(path: Path, rows: int, *, text: bool = False, seed: int = 0) -> None:
    """Write a log as Parquet or, by the suffix, as CSV.

    Args:
        path: where.
        rows: how many.
        text: ids as text.
        seed: of the draws.
    """
    frame = log(rows, seed)
    if text:
        frame = frame.with_columns(
            user_id="user-" + pl.col("user_id").cast(pl.String).str.zfill(12),
            item_id="B" + pl.col("item_id").cast(pl.String).str.zfill(9),
        )
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def log(rows: int, seed: int = 0) -> pl.DataFrame:
    """Rows ``user_id, item_id, rating, timestamp`` in the order of time."""
    rng = np.random.default_rng(seed)
    n_users, n_items = max(rows // _PER_USER, 1), max(round(_ITEMS * rows**0.5), 1_000)
    share = rng.pareto(1.3, n_users) + 0.3
    wanted = np.minimum(share / share.sum() * 1.6 * rows, n_items // 8)
    wanted = np.maximum(wanted * (1.1 * rows / wanted.sum()), 1).astype(np.int64)
    place = np.arange(n_items)
    popular = (10 + place) ** -0.6 * np.exp(-6 * place / n_items)  # a long tail of rare items
    chance = np.cumsum(popular / popular.sum())
    drawn_as = np.searchsorted(chance, (np.arange(_GRID) + 0.5) / _GRID).astype(np.int64)
    blocks = range(0, n_users, _BLOCK)
    parts = [_block(rng, at, wanted[at : at + _BLOCK], drawn_as, n_items) for at in blocks]
    drawn = pl.concat(parts).sample(rows, seed=seed)  # an error if there are fewer
    names = pl.Series(rng.permutation(8 * n_items)[:n_items].astype(np.int32))  # ids with gaps
    drawn = drawn.with_columns(item_id=names.gather(drawn["item_id"]))
    drawn = drawn.sort("timestamp", maintain_order=True)
    return drawn.cast({"user_id": pl.Int64, "item_id": pl.Int64, "timestamp": pl.Int64})


def _block(
    rng: np.random.Generator, first: int, wanted: np.ndarray, drawn_as: np.ndarray, n_items: int
) -> pl.DataFrame:
    """Rows of some users: items drawn by popularity, each once a user."""
    owner = np.repeat(np.arange(len(wanted)), 2 * wanted)
    keys = np.sort(owner * n_items + drawn_as[rng.integers(0, _GRID, len(owner))])
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    owner, item = np.divmod(keys, n_items)
    begin = rng.integers(1_100_000_000, 1_420_000_000, len(wanted))
    later = rng.exponential(60 * 86_400, len(keys)) * (rng.random(len(keys)) < 0.3)
    within = rng.integers(0, 3_600, len(keys))
    return pl.DataFrame(
        {
            "user_id": (owner + first + 1).astype(np.int32),
            "item_id": item.astype(np.int32),
            "rating": rng.integers(1, 11, len(keys)) / 2,
            "timestamp": (begin[owner] + later.astype(np.int64) + within).astype(np.int32),
        }
    )


def run(path: str, out: str) -> dict[str, float]:
    """The path, with seconds of each step; called in a process of its own."""
    import fullrank as fr
    from fullrank.data.filters import Core, apply_all

    steps, clock = {}, time.perf_counter()

    def done(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        steps[name], clock = now - clock, now

    data = fr.read(Path(path)).interactions
    done("read")
    data = apply_all(data, [Core(users=10, items=10)], compact=True)
    done("core")
    split = fr.GlobalTime(valid=0.1, test=0.1).split(data)
    done("split")
    split.save(out)
    done("write")
    return steps


def polars_alone(path: str, out: str) -> None:
    """What nothing can be faster than: the same columns read and written."""
    file = Path(path)
    frame = pl.read_csv(file) if file.suffix == ".csv" else pl.read_parquet(file)
    frame.write_parquet(out)


def matrices(path: str) -> dict[str, float]:
    """Seconds of ``csr()`` and of the queries of a split (kernels loaded), medians of five."""
    import fullrank as fr

    small = fr.read({"user_id": [1, 2], "item_id": [1, 2], "rating": [1, 2], "timestamp": [1, 2]})
    fr.GlobalTime(test=0.5, valid=0).split(small.interactions).queries("test")
    small.interactions.csr()
    data = fr.read(Path(path)).interactions
    split, last = fr.GlobalTime().split(data), fr.LeaveLast().split(data)

    def csr() -> Any:
        data.__dict__.pop("_csr", None)
        return data.csr()

    pieces: dict[str, Callable[[], Any]] = {
        "csr": csr,
        "queries": lambda: split.queries("test"),
        "queries of all users": lambda: last.queries("test"),
    }
    return {name: _median(piece) for name, piece in pieces.items()}


def load(path: str) -> float:
    """Seconds of reading alone."""
    import fullrank as fr

    start = time.perf_counter()
    fr.read(Path(path))
    return time.perf_counter() - start


def _median(call: Callable[[], Any], rounds: int = 5) -> float:
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def seconds(rows: int) -> float:
    """Wall seconds of the path from Parquet in a process of its own, for the growth plots."""
    return _of_size(rows).process_seconds


def peak(rows: int) -> float:
    """Peak GiB of the path from Parquet in a process of its own."""
    return _of_size(rows).peak_gib


def _of_size(rows: int) -> Alone:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.parquet"
        _make_alone(path, rows)
        return _run(path)


def _make_alone(path: Path, rows: int, *, text: bool = False) -> None:
    """``make`` in a process of its own, whose memory goes with it."""
    made = alone("benchmarks.data_path:make_named", str(path), rows, text)
    if made.error:
        raise RuntimeError(made.error)


def make_named(path: str, rows: int, text: bool) -> None:
    """``make`` with arguments that JSON carries."""
    make(Path(path), rows, text=text)


def _run(path: Path, call: str = "run", target: str = "out") -> Alone:
    out = path.parent / target
    found = alone(f"benchmarks.data_path:{call}", str(path), str(out), gib=23)
    if found.error:
        raise RuntimeError(found.error)
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink()
    return found


def _path_row(path: Path, rows: int, most_seconds: float, most_gib: float, rounds: int) -> Row:
    found = [_run(path) for _ in range(rounds)]
    bare = statistics.median(
        _run(path, "polars_alone", "out.parquet").process_seconds for _ in range(rounds)
    )
    middle = sorted(found, key=lambda one: one.process_seconds)[rounds // 2]
    gib = max(one.peak_gib for one in found)
    steps = ", ".join(f"{name} {taken:.1f}" for name, taken in middle.value.items())
    kind = "CSV" if path.suffix == ".csv" else "Parquet"
    return Row(
        f"{rows:,} rows: {kind}, 10-core, global time split, Parquet",
        f"under {most_seconds:g} s and {most_gib:g} GiB",
        middle.process_seconds,
        middle.process_seconds < most_seconds and gib < most_gib,
        limit=bare,
        limit_name="Polars reads and writes",
        note=f"{steps}; peak {gib:.1f} GiB",
    )


def rows(quick: bool) -> list[Row]:
    """The rows of the table."""
    n, text_n, large, rounds = ROWS, 10_000_000, 100_000_000, 3
    if quick:
        n, text_n, large, rounds = 20_000, 20_000, 50_000, 1
    out = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix, most in (("csv", 25), ("parquet", 8)):
            path = folder / f"log.{suffix}"
            _make_alone(path, n)
            _run(path)  # compiles what isn't cached
            out.append(_path_row(path, n, most, 4, rounds))
        found = alone("benchmarks.data_path:matrices", str(folder / "log.parquet")).value
        for piece, goal in (("csr", 1.0), ("queries", None), ("queries of all users", None)):
            said = f"under {goal:g} s" if goal else "–"
            met = found[piece] < goal if goal else None
            out.append(Row(f"{n:,} rows: {piece}", said, found[piece], met))
        out.append(_text_row(folder / "text.parquet", text_n, rounds))
        large_path = folder / "large.parquet"
        _make_alone(large_path, large)
        whole = _run(large_path)
        out.append(
            Row(
                f"{large:,} rows: the path from Parquet, memory",
                "within 24 GiB",
                whole.peak_gib,
                whole.peak_gib < 24,
                unit="GiB",
                note=f"{whole.process_seconds:.0f} s",
            )
        )
    return out


def _text_row(path: Path, n: int, rounds: int) -> Row:
    _make_alone(path, n, text=True)
    loads = [alone("benchmarks.data_path:load", str(path)) for _ in range(rounds)]
    middle = sorted(loads, key=lambda one: one.value)[rounds // 2]
    note = f"peak {max(one.peak_gib for one in loads):.1f} GiB"
    return Row(
        f"{n:,} rows with text ids: Parquet to interactions", "–", middle.value, None, note=note
    )


if __name__ == "__main__":
    main(rows)
