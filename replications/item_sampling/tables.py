"""Tables of the study: errors, items spent, and how often the true winner is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Cells = Mapping[tuple[str, str], Mapping[str, Any]]


def errors(cell: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Mean relative error over k = 1 … 50 in percent ``[repeats, 3]`` of each method."""
    true = np.array(cell["truth"])
    out = {}
    for name, values in cell["estimates"].items():
        off = np.abs(np.array(values) - true)
        share = np.divide(off, true, out=np.zeros_like(off), where=true > 0)
        out[name] = 100 * share.reshape(len(off), 3, 50).mean(axis=2)
    return out


def table_1(cells: Cells) -> str:
    """Errors at n = 100, Recall / NDCG / AP."""
    return _errors(cells, lambda name: ", " not in name or "pooled" in name)


def table_2(cells: Cells) -> str:
    """Adaptive designs against fixed sizes: items, Recall / NDCG / AP."""
    keep = lambda name: name.startswith(("MLE, ", "SH, "))  # noqa: E731
    lines = [
        "| data, model | method | items a user | Recall | NDCG | AP |",
        "|---|---|---|---|---|---|",
    ]
    for (data, model), cell in cells.items():
        found = errors(cell)
        for name in found:
            if keep(name):
                items = np.mean(cell["items"][name])
                lines.append(f"| {data}, {model} | {name} | {items:,.0f} | {_row(found[name])} |")
    return "\n".join(lines)


def table_3(cells: Cells) -> str:
    """Share of repeats in which the best model by the full metric is the best by the estimate."""
    lines = [
        "| data | method | Recall@10 | Recall@20 | NDCG@10 | NDCG@20 |",
        "|---|---|---|---|---|---|",
    ]
    places = [9, 19, 59, 69]
    for data in dict.fromkeys(d for d, _ in cells):
        mine = {m: c for (d, m), c in cells.items() if d == data}
        if len(mine) < 2:
            continue
        names = set.intersection(*(set(c["estimates"]) for c in mine.values()))
        first = next(iter(mine.values()))
        best = np.argmax([np.array(c["truth"])[places] for c in mine.values()], axis=0)
        for name in (n for n in first["estimates"] if n in names):
            values = np.array([np.array(c["estimates"][name])[:, places] for c in mine.values()])
            share = 100 * (values.argmax(axis=0) == best).mean(axis=0)
            lines.append(f"| {data} | {name} | " + " | ".join(f"{x:.0f} %" for x in share) + " |")
    return "\n".join(lines)


def _errors(cells: Cells, keep: Any) -> str:
    lines = ["| data, model | method | Recall | NDCG | AP |", "|---|---|---|---|---|"]
    for (data, model), cell in cells.items():
        for name, found in errors(cell).items():
            if keep(name):
                lines.append(f"| {data}, {model} | {name} | {_row(found)} |")
    return "\n".join(lines)


def _row(found: np.ndarray) -> str:
    mean, spread = found.mean(axis=0), found.std(axis=0)
    return " | ".join(f"{m:.1f} ± {s:.1f}" for m, s in zip(mean, spread))
