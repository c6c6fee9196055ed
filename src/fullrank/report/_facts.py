"""What the metrics mean, and which versions and machines made the numbers."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime

from fullrank.experiment.results import Results

_CONVENTION = re.compile(r"\*\*Convention\*\*:\s*(.+?)(?:\n\s*\n|\Z)", re.DOTALL)


def conventions(results: Results) -> list[tuple[str, str, str]]:
    """Name, sentence and convention of each metric, from the docstring of its class."""
    out: dict[str, tuple[str, str, str]] = {}
    for metric in results.metrics:
        doc = inspect.getdoc(type(metric)) or ""
        found = _CONVENTION.search(doc)
        text = _plain(found.group(1)) if found else "not stated"
        name = ", ".join(str(m) for m in results.metrics if type(m) is type(metric))
        out.setdefault(name, (name, _plain(doc.split("\n\n")[0]), text))
    return list(out.values())


def provenance_terms(results: Results) -> list[tuple[str, str]]:
    """Versions, machines and times of all cells; several where cells differ."""
    found = [cell.about["provenance"] for cell in results.cells]
    versions = [
        ", ".join(f"{name} {version}" for name, version in p["versions"].items() if version)
        for p in found
    ]
    times = sorted(_moment(p["time"]) for p in found)
    return [
        ("Made", times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1]}"),
        ("Versions", _distinct(versions)),
        ("Python", _distinct([p["python"] for p in found])),
        ("System", _distinct([f"{p['system']}, {p['cores']} cores" for p in found])),
        ("BLAS", _distinct([", ".join(p["blas"]) or "unknown" for p in found])),
        ("Cells", f"{len(found):,} (data × folds × models × seeds)"),
    ]


def _moment(time: str) -> str:
    """To the minute, in UTC."""
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _plain(text: str) -> str:
    """One line, without the marks of the docstring."""
    return re.sub(r"\s+", " ", text).replace("``", "").strip()


def _distinct(texts: list[str]) -> str:
    return " | ".join(dict.fromkeys(texts))
