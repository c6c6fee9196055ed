"""A small log with groups of taste, a timeline, grades and newcomers, and benchmarks on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fullrank.experiment.run import run
from fullrank.experiment.spec import BenchSpec, parse_spec

ROOT = Path(__file__).parents[2]

N_USERS, N_ITEMS, ROWS = 48, 36, 14


def log(seed: int = 3) -> pl.DataFrame:
    """Rows of three groups of users with tastes of their own; a quarter of the users come late.

    Some of them late enough to be cold in the test of ``content``, the others in its validation.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(N_USERS):
        start = {3: 850, 7: 970}.get(user % 8, int(rng.integers(0, 300)))
        own = np.flatnonzero(np.arange(N_ITEMS) % 3 == user % 3)
        others = np.flatnonzero(np.arange(N_ITEMS) % 3 != user % 3)
        items = [*rng.permutation(own)[: ROWS - 4], *rng.permutation(others)[:4]]
        times = start + np.sort(rng.integers(0, 1000 - start, ROWS))
        for item, time in zip(rng.permutation(items), times):
            grade = int(np.clip(rng.integers(3, 6) - 2 * (item % 3 != user % 3), 1, 5))
            rows.append((f"u{user:02d}", 100 + int(item), grade, int(time) * 86_400))
    columns = ["user_id", "item_id", "rating", "timestamp"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def content(**changes: Any) -> dict[str, Any]:
    """A benchmark on ``log.csv`` as a file holds it; ``None`` drops a key."""
    base: dict[str, Any] = {
        "metrics": ["ndcg@10", "recall@5", "mrr@10"],
        "data": [{"name": "small", "path": "log.csv"}],
        "split": {"strategy": "GlobalTime", "valid": 0.2, "test": 0.2},
        "tune": {"metric": "ndcg@10", "trials": 4},
        "model": [
            {"name": "Popularity"},
            {"name": "Random"},
            {"name": "ItemKNN", "search": {"neighbours": {"low": 1, "high": 30}}},
            {"name": "EASE", "search": {"reg": {"low": 0.1, "high": 1000.0, "log": True}}},
        ],
        "seeds": [1, 2],
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def spec(**changes: Any) -> BenchSpec:
    """The same, validated."""
    return parse_spec(content(**changes))


def bench(folder: Path, **changes: Any) -> Path:
    """Write the log and a benchmark file; returns the latter's path."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "log.csv").exists():
        log().write_csv(folder / "log.csv")
    path = folder / "bench.toml"
    path.write_text(toml(content(**changes)))
    return path


def run_in(folder: Path, **changes: Any) -> Any:
    """Write and run a benchmark; its store is ``store`` in the folder."""
    return run(bench(folder, **changes), folder / "store")


def toml(table: dict[str, Any]) -> str:
    """TOML of a benchmark: plain keys first, then tables."""
    plain = [f"{k} = {_value(v)}" for k, v in table.items() if not _is_table(v)]
    for key, value in table.items():
        if not _is_table(value):
            continue
        several = isinstance(value, list)
        for part in value if several else [value]:
            plain.append(f"\n[[{key}]]" if several else f"\n[{key}]")
            plain += [f"{_key(k)} = {_value(v)}" for k, v in part.items()]
    return "\n".join(plain) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict))


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else str(value)


def command(*arguments: str | Path) -> list[str]:
    """The command line as a process of its own would be started."""
    return [sys.executable, "-m", "fullrank", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Models in ``tests`` can be imported by processes."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def call(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        check=False,
        text=True,
        env=environment(),
        cwd=cwd,
        timeout=120,
    )


def tables(store: Path) -> dict[str, bytes]:
    """Bytes of every table of a store, by cell and name."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.glob("cells/*/*.parquet"))
    }


def no_constant(name: str) -> Any:
    """For ``json.loads(parse_constant=…)``: NaN and infinities are no JSON."""
    raise AssertionError(f"{name} is no JSON")
