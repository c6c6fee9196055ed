"""Start-up and the demo: `python -m benchmarks.basics`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks._rows import Row, main

IMPORT_GOAL, DEMO_GOAL = 400, 40


def import_ms(times: int) -> float:
    """Median of imports in fresh processes."""
    code = "import time; t = time.perf_counter(); import fullrank; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    found = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(times)
    ]
    return 1000 * statistics.median(found)


def demo_seconds() -> float:
    """The whole demo, installed, with a warm kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-c", "from fullrank.cli import main; main()"]
        subprocess.run([*command, "demo", "-o", folder], capture_output=True, check=True)
        return time.perf_counter() - start


def rows(quick: bool) -> list[Row]:
    """Import and demo."""
    ms = import_ms(1 if quick else 5)
    name = "`import fullrank`, median of 5"
    out = [Row(name, f"under {IMPORT_GOAL} ms", ms, ms < IMPORT_GOAL, unit="ms")]
    if not quick:
        demo_seconds()  # compiles what isn't in the cache
        demo = demo_seconds()
        out.append(
            Row("`fullrank demo`, installed", f"under {DEMO_GOAL} s", demo, demo < DEMO_GOAL)
        )
    return out


if __name__ == "__main__":
    main(rows)
