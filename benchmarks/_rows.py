"""A row of the benchmark table, and how a module offers its rows.

A module ``benchmarks/NAME.py`` has ``rows(quick: bool) -> list[Row]`` and is named in ``PARTS`` of
``benchmarks/__main__.py``; ``quick`` asks for the smallest sizes that still run every line of the
module (its figures prove nothing). ``python -m benchmarks.NAME [--quick]`` prints its rows alone:
``main(rows)`` at the end of the module does that.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

HEAD = ("what", "goal", "limit", "peers", "measured", "ratio to the limit", "met")


@dataclass(frozen=True)
class Row:
    """One figure beside what bounds it and what others need for the same.

    Attributes:
        what: what was measured, with its size.
        goal: in words, such as ``"at most 2x the sgemm"``.
        measured: the figure, in ``unit``; None where it could not be had (the note says why).
        met: whether the goal is met; None for a figure without a goal.
        unit: ``"s"``, ``"ms"``, ``"GiB"``; lower is better.
        limit: the physical or reference figure of the same run, in ``unit``.
        limit_name: what the limit is.
        peers: name of the tool -> its figure in ``unit``, or the reason why there is none.
        note: what a reader must know: scaled from a fraction, spread, peak memory.
    """

    what: str
    goal: str
    measured: float | None
    met: bool | None
    unit: str = "s"
    limit: float | None = None
    limit_name: str = ""
    peers: Mapping[str, float | str] = field(default_factory=dict)
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Measured over the limit."""
        if self.limit is None or self.measured is None:
            return None
        return self.measured / self.limit

    @property
    def fastest_peer(self) -> float | None:
        """The best figure of a peer, None if no peer has one."""
        return min((p for p in self.peers.values() if not isinstance(p, str)), default=None)

    def cells(self) -> list[str]:
        """The texts of ``HEAD``."""
        limit = "–" if self.limit is None else f"{self.limit_name} {self._figure(self.limit)}"
        ratio = "–" if self.ratio is None else f"{self.ratio:.2f}×"
        measured = "–" if self.measured is None else self._figure(self.measured)
        met = {True: "yes", False: "**no**", None: "–"}[self.met]
        what = f"{self.what} ({self.note})" if self.note else self.what
        return [what, self.goal, limit.strip(), self._peers(), measured, ratio, met]

    def _peers(self) -> str:
        parts = []
        for name, value in self.peers.items():
            if isinstance(value, str):
                parts.append(f"{name}: {value}")
            elif self.measured:
                parts.append(f"{name} {self._figure(value)} ({value / self.measured:.1f}×)")
            else:
                parts.append(f"{name} {self._figure(value)}")
        return "; ".join(parts) or "–"

    def _figure(self, value: float) -> str:
        """Three digits that count, without an exponent."""
        digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 4
        return f"{value:,.{digits}f} {self.unit}"


def table(rows: Sequence[Row]) -> str:
    """Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def as_json(part: str, quick: bool) -> list[dict[str, Any]]:
    """Rows of a part as JSON carries them, to be called in a process of its own."""
    module = importlib.import_module(f"benchmarks.{part}")
    return [asdict(row) for row in module.rows(quick)]


def main(rows: Callable[[bool], list[Row]]) -> None:
    """The command line of a module with rows."""
    from benchmarks._measure import machine

    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="smallest sizes, to see that it runs")
    quick = parser.parse_args().quick
    found = [replace(row, met=None) if quick else row for row in rows(quick)]
    note = " (quick: the figures prove nothing, and goals are not judged)" if quick else ""
    print(f"{machine()}{note}\n\n{table(found)}")
