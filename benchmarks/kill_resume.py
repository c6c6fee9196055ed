"""Kill a benchmark at random moments, go on each time, and compare with a run left alone.

    python benchmarks/kill_resume.py examples/ml-1m.toml --kills 10 --seed 1

Both runs keep their stores under ``--out`` (a new folder). What is compared: every table of every
cell byte for byte, settings and values of all trials, and the leaderboard with its tests as JSON.
Times, peaks of memory and energy are not. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Kill:
    """One interruption: when (seconds after the start), and what was finished by then."""

    after: float
    trials: int
    cells: int
    half_written: int


@dataclass(frozen=True)
class Outcome:
    """Both runs: seconds of the quiet one, the kills of the other, and what differs."""

    seconds: float
    kills: tuple[Kill, ...]
    differences: tuple[str, ...]


def kill_and_resume(
    bench: Path, out: Path, *, kills: int, seed: int, env: dict[str, str] | None = None
) -> Outcome:
    """Run a benchmark twice, once with kills.

    Args:
        bench: benchmark file; its budget must be in trials.
        out: folder for both stores.
        kills: how often the second run is killed.
        seed: of the moments.
        env: environment of the processes.
    """
    quiet, broken = out / "quiet", out / "killed"
    start = time.perf_counter()
    _finish(bench, quiet, env)
    seconds, total = time.perf_counter() - start, sum(_counts(quiet))
    found = [_kill(bench, broken, *moment, env) for moment in _moments(kills, seed, total, seconds)]
    _finish(bench, broken, env)
    return Outcome(seconds, tuple(found), tuple(differences(quiet, broken)))


def _moments(kills: int, seed: int, total: int, seconds: float) -> list[tuple[int, float]]:
    """When to kill: once so many trials and cells are finished, so many seconds later.

    Progress and not time, so that no kill comes after the end; the seconds are about what one
    trial or cell takes, so that kills fall anywhere within them.
    """
    draw = random.Random(seed)
    counts = sorted(draw.sample(range(total), min(kills, total)))
    return [(count, draw.uniform(0, seconds / total)) for count in counts]


def _start(bench: Path, store: Path, env: dict[str, str] | None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fullrank", "run", str(bench), "--store", str(store), "--json"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=subprocess.PIPE, env=env, text=True)


def _kill(bench: Path, store: Path, count: int, later: float, env: dict[str, str] | None) -> Kill:
    start = time.perf_counter()
    process = _start(bench, store, env)
    while process.poll() is None and sum(_counts(store)) < count:
        time.sleep(0.002)
    time.sleep(later)
    ended = process.poll() is not None
    process.kill()
    message = process.communicate()[1]
    if ended:
        raise RuntimeError(f"the benchmark ended before it could be killed: {message}")
    after = time.perf_counter() - start
    left = [*store.glob("tmp/*"), *store.rglob(".*.json.*")]
    return Kill(after, *_counts(store), len(left))


def _finish(bench: Path, store: Path, env: dict[str, str] | None) -> None:
    process = _start(bench, store, env)
    message = process.communicate()[1]
    if process.returncode != 0:
        raise RuntimeError(f"the benchmark ended with {process.returncode}: {message}")


def _counts(store: Path) -> tuple[int, int]:
    """Finished trials and cells."""
    trials, cells = store.glob("tune/*/trial-*.json"), store.glob("cells/*/cell.json")
    return len(list(trials)), len(list(cells))


def differences(one: Path, other: Path) -> list[str]:
    """What differs between two stores, times and energy aside."""
    out = []
    for what, read in (("table", _tables), ("trial", _trials), ("result", _results)):
        a, b = read(one), read(other)
        out += [f"{what} {key}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)]
    return out


def _tables(store: Path) -> dict[str, bytes]:
    paths = store.glob("cells/*/*.parquet")
    return {str(path.relative_to(store)): path.read_bytes() for path in paths}


def _trials(store: Path) -> dict[str, Any]:
    found = {}
    for path in store.glob("tune/*/trial-*.json"):
        trial = json.loads(path.read_text())
        del trial["resources"]
        found[str(path.relative_to(store))] = trial
    return found


def _results(store: Path) -> dict[str, str]:
    from fullrank.experiment.leaderboard import leaderboard, paired_tests
    from fullrank.experiment.results import Results

    results = Results.load(store)
    cells = [cell.folder.name for cell in results.cells]
    rows, tests = leaderboard(results), paired_tests(results)
    parts = {"cells": cells, "leaderboard": rows, "tests": tests}
    return {name: json.dumps(part, sort_keys=True) for name, part in parts.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a kill, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for both stores; a temporary one if not")
    options = parser.parse_args(arguments)
    out = options.out or Path(tempfile.mkdtemp(prefix="fullrank-kill-"))
    found = kill_and_resume(options.bench, out, kills=options.kills, seed=options.seed)
    print(f"left alone: {found.seconds:.1f} s; stores in {out}")
    print(f"{'kill':>4} {'after, s':>9} {'trials':>7} {'cells':>6} {'half written':>13}")
    for j, kill in enumerate(found.kills, start=1):
        counts = f"{kill.trials:>7} {kill.cells:>6} {kill.half_written:>13}"
        print(f"{j:>4} {kill.after:>9.1f} {counts}")
    print("\n".join(found.differences) or "no difference: tables, trials and leaderboard are equal")
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main())
