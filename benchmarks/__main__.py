"""Print the benchmark table: `make bench`. Peers and long runs have commands of their own."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import bootstrap, ranking
from benchmarks._measure import in_fresh_process, machine


def import_ms() -> float:
    """Median of five imports in fresh processes."""
    code = "import time; t = time.perf_counter(); import fullrank; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    found = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    return 1000 * statistics.median(found)


def demo_seconds() -> float:
    """The whole demo, installed, with a warm kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-c", "from fullrank.cli import main; main()"]
        subprocess.run([*command, "demo", "-o", folder], capture_output=True, check=True)
        return time.perf_counter() - start


def rows() -> list[tuple[str, str, str]]:
    """What was measured, the goal, the figure."""
    from benchmarks.evaluate_lists import table as lists

    out = [
        ("`import fullrank`, median of 5", "under 400 ms", f"{import_ms():.0f} ms"),
        ("`fullrank demo`, installed", "under 40 s", f"{demo_seconds():.0f} s"),
        (
            "bootstrap, 1,000 resamples × 1 million users × 8 metrics",
            "under 10 s",
            f"{bootstrap.seconds():.1f} s",
        ),
    ]
    for q, c in ((20_000, 20_000), (4_000, 100_000)):
        full, bare = ranking.figures(q, c)
        name = f"ranks of 8 targets and top 100, {q:,} × {c:,} × 64"
        out.append((name, f"product {bare:.2f} s", f"{full:.2f} s ({full / bare:.1f}×)"))
    lines = in_fresh_process("benchmarks.data_memory").output.strip().splitlines()
    peak = next(line.partition("= ")[2] for line in lines if line.startswith("peak"))
    name = "10 million rows, text ids: load, encode, split"
    out.append((name, "under 4 x the columns", f"{peak}; {lines[-1]}"))
    found = lists(1_000_000, ["fullrank"], 3600).strip().splitlines()[-1]
    seconds, peak = (cell.strip() for cell in found.split("|")[2:4])
    name = "`evaluate`, 1 million users × 100, text ids, Parquet, 8 metrics"
    out.append((name, "–", f"{seconds} s, {peak} GiB"))
    return out


if __name__ == "__main__":
    print(f"{machine()}\n")
    print("| what | goal or limit | measured |\n|---|---|---|")
    for row in rows():
        print(f"| {' | '.join(row)} |")
