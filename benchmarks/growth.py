"""Time and memory against size, over three decades: `python -m benchmarks.growth [--write]`.

Each point is a process of its own. ``--write`` makes ``docs/growth.md`` and its plots from what
was measured; the measurements are kept beside them, and ``--draw`` makes the page from these.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks._measure import ROOT, alone, machine

LEAST = 4 / 1024
"""GiB below which the memory of a call is noise of the allocator."""
KEPT = ROOT / "docs" / "growth" / "points.json"


@dataclass(frozen=True)
class Series:
    """Points of one piece over its sizes.

    Attributes:
        group: figure that it belongs to.
        name: label.
        axis: what grows.
        piece: function of ``_growth_pieces``.
        arguments: from the size.
        sizes: at which it is measured.
        expected: exponent of the time; what exceeds it by 0.1 is flagged on the page.
        why: explanation, where it is not linear.
    """

    group: str
    name: str
    axis: str
    piece: str
    arguments: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    expected: float = 1.0
    why: str = ""


@dataclass(frozen=True)
class Fit:
    """``y = constant + scale * size ** exponent``; ``error`` is the exponent's standard error."""

    constant: float
    scale: float
    exponent: float
    error: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.error:.2f}"

    def at(self, size: np.ndarray) -> np.ndarray:
        return self.constant + self.scale * size**self.exponent


@dataclass(frozen=True)
class Measured:
    """Points of a series; seconds and GiB are NaN where a point failed."""

    group: str
    name: str
    axis: str
    sizes: list[int]
    seconds: list[float]
    gib: list[float]
    expected: float
    why: str
    failures: list[str] = field(default_factory=list)

    @property
    def time(self) -> Fit | None:
        """Fit of the seconds."""
        return fitted(self.sizes, self.seconds)

    @property
    def memory(self) -> Fit | None:
        """Fit of the GiB, of points that are more than pages and arenas."""
        return fitted(self.sizes, [x if x > LEAST else float("nan") for x in self.gib])


def decades(first: int, last: int, per_decade: int = 2) -> tuple[int, ...]:
    """Sizes from ``first`` to ``last``, evenly spaced in the logarithm, two digits each."""
    steps = round(np.log10(last / first) * per_decade)
    raw = first * (last / first) ** (np.arange(steps + 1) / steps)
    return tuple(int(float(f"{size:.1e}")) for size in raw)


def _fits(label: str, expected: float, why: str, **settings: Any) -> Series:
    sizes = decades(10_000, 10_000_000)
    name = label.partition(",")[0]
    return Series("training", f"{label} by interactions", "interactions (100 a user, 5,000 items)",
                  "fitting", lambda n: (name, settings, n), sizes, expected, why)  # fmt: skip


SERIES = (
    Series("ranking", "by users", "users (2,000 items, top 100)", "ranking",
           lambda n: (n, 2000, 100), decades(300, 300_000)),
    Series("ranking", "by items", "items (512 users, top 100)", "ranking",
           lambda n: (512, n, 100), decades(1000, 1_000_000)),
    Series("ranking", "by k", "k (8,192 users, 20,000 items)", "ranking",
           lambda n: (8192, 20_000, n), (1, 3, 10, 30, 100, 300, 1000), 1.0,
           "Nearly flat up to 100, where the product of factors is most of the time. The exponent "
           "is that of what comes on top: more candidates pass the threshold, and the list is "
           "sorted (k log k)."),
    Series("data", "read, filter, split", "interactions (Parquet)", "reading",
           lambda n: (n,), decades(10_000, 10_000_000)),
    Series("data", "csr", "interactions", "matrix", lambda n: (n,), decades(10_000, 10_000_000)),
    Series("metrics", "lists to 30 metrics", "users (lists of 20)", "metrics",
           lambda n: (n,), decades(1000, 1_000_000), 1.0,
           "Up to 100,000 users the arrays of a value a query stay in caches and in memory that "
           "the process holds; beyond, they are fresh memory, whose pages the system has to clear: "
           "a user costs 1.0 µs at 100,000 users and 2.8 µs at a million."),
    Series("metrics", "1,000 resamples of 8 metrics", "users", "resampling",
           lambda n: (n,), decades(1000, 1_000_000)),
    _fits("Popularity", 1.0, ""),
    _fits("IALS, 32 factors, 3 epochs", 1.0, "Memory is under 9 MiB up to 3.2 million rows; its "
          "exponent is that of one step, to 62 MiB at 10 million, and says nothing.",
          embedding_dim=32, epochs=3),
    _fits("ItemKNN", 1.0, "Linear while the history of a user keeps its length: each pair of "
          "items of a user is looked at, so that it is quadratic in the length. Memory has a floor "
          "(work arrays of a chunk, under 20 MiB up to 3.2 million rows); its exponent is that of "
          "one step, to 83 MiB at 10 million, and says nothing."),
    _fits("PureSVD", 1.0, ""),
    Series("training", "EASE by items", "items (20 interactions each)", "fitting",
           lambda n: ("EASE", {}, 20 * n, n), decades(10, 10_000), 3.0,
           "The inverse of an items × items matrix: cubic in time, quadratic in memory. That is "
           "the method (Steck 2019, algorithm 1), and it does not depend on the interactions."),
    Series("benchmark", "by models", "models in one file (1,000 users × 500 items)", "benchmark",
           lambda n: (n,), (1, 3, 10, 30, 100, 300, 1000)),
)  # fmt: skip


def measured(series: Series, sizes: tuple[int, ...]) -> Measured:
    """Each point in a fresh process."""
    seconds, gib, failures = [], [], []
    for size in sizes:
        target = f"benchmarks._growth_pieces:{series.piece}"
        found = alone(target, *series.arguments(size), limit=300, gib=20)
        if found.error:
            failures.append(f"{size:,}: {found.error}")
        point = found.value or {"seconds": float("nan"), "gib": float("nan")}
        seconds.append(point["seconds"])
        gib.append(point["gib"])
        print(f"{series.group}, {series.name}, {size:,}: {point} {found.error}", flush=True)
    return Measured(series.group, series.name, series.axis, list(sizes), seconds, gib,
                    series.expected, series.why, failures)  # fmt: skip


def fitted(sizes: list[int], values: list[float]) -> Fit | None:
    """Least squares on logarithms, the constant at least 0; None below four points that count."""
    from scipy.optimize import least_squares

    x, y = np.array(sizes, dtype=float), np.array(values)
    good = np.isfinite(y) & (y > 0)
    x, y = x[good], y[good]
    if len(x) < 4:
        return None
    best = None
    for share in (0.0, 0.5, 0.99):  # where the constant starts, as a share of the smallest value
        start = [np.log(share * y[0] + 1e-12), np.log(y[-1] / x[-1]), 1.0]

        def residuals(p: np.ndarray) -> np.ndarray:
            return np.log(np.exp(p[0]) + np.exp(p[1]) * x ** p[2]) - np.log(y)

        found = least_squares(residuals, start, bounds=([-40, -60, 0], [10, 20, 4]))
        best = found if best is None or found.cost < best.cost else best
    spread = 2 * best.cost / max(len(x) - 3, 1)
    error = float(np.sqrt(spread * np.linalg.pinv(best.jac.T @ best.jac)[2, 2]))
    return Fit(float(np.exp(best.x[0])), float(np.exp(best.x[1])), float(best.x[2]), error)


def main() -> None:
    """The command line."""
    from benchmarks._growth_page import write

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="measure, keep and draw")
    parser.add_argument("--draw", action="store_true", help="draw what was kept")
    parser.add_argument(
        "--quick", action="store_true", help="the smaller sizes, to see that it runs"
    )
    parser.add_argument("--only", nargs="*", help="groups to measure; others stay as kept")
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"machine": {}, "series": []}
    if not arguments.draw:
        wanted = [s for s in SERIES if not arguments.only or s.group in arguments.only]
        found = [measured(s, s.sizes[:4] if arguments.quick else s.sizes) for s in wanted]
        replaced = {(s.group, s.name) for s in found}
        stay = [s for s in kept["series"] if (s["group"], s["name"]) not in replaced]
        by_key = {(s["group"], s["name"]): s for s in [*stay, *map(asdict, found)]}
        order = [(s.group, s.name) for s in SERIES if (s.group, s.name) in by_key]
        machines = {**kept["machine"], **{s.group: machine() for s in found}}
        kept = {"machine": machines, "series": [by_key[key] for key in order]}
    words = {(s.group, s.name): {"expected": s.expected, "why": s.why} for s in SERIES}
    rows = [row for row in kept["series"] if (row["group"], row["name"]) in words]
    series = [Measured(**{**row, **words[row["group"], row["name"]]}) for row in rows]
    if arguments.write or arguments.draw:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        write(series, kept["machine"], ROOT / "docs")
    for one in series:
        print(f"{one.group}, {one.name}: time {one.time}, memory {one.memory}")


if __name__ == "__main__":
    main()
