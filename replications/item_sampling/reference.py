"""Figures of another implementation, made before this one was written, on the same laws.

Mean errors of Recall / NDCG over k = 1 … 50 in percent, 20 repeats, own priors; items a user for
adaptive designs. Each law was drawn once (20,000 targets of 10,000 items), as it is here, but not
the same targets: laws with few targets near the top (unif) differ by that draw. Their hump has
another formula, and their published doubling went up to 1,600 items where ours stops at 800, the
last size within an eighth of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping

from replications.item_sampling.study import Kept
from replications.item_sampling.tables import errors, items

_FIXED = ("CLS", "BV(.01) uniform", "MLE", "BV_MLE", "MN_MLE", "MN_MES", "SH")
_LARGE = ("MLE, n=500", "BV_MLE, n=500", "BV(.01) uniform, n=500", "SH, n=500")
_ADAPTIVE = (
    "EM 50, published doubling", "SH, published doubling", "SH, screened", "SH, thinned",
    "SH, unthinned",
)  # fmt: skip

_100 = """
mass    43.9/75.0 25.4/64.1 15.6/48.2 15.0/46.1 15.6/47.5 15.3/47.7 6.3/30.2
unif    91.8/96.9 38.0/42.4 44.2/50.4 54.6/63.6 44.8/51.1 28.9/31.9 20.2/25.3
pow.6   30.4/46.2 21.6/37.9 12.8/24.5 12.2/22.6 12.7/24.1 12.9/25.1 2.3/2.7
pow1.2  52.6/74.3 27.6/57.2 9.7/27.3 8.9/25.0 9.7/26.6 9.8/27.5 0.3/0.4
pin     4.4/4.4 7.7/11.2 5.9/7.7 7.1/9.2 6.3/8.1 6.4/8.4 3.7/3.0
sharp   42.9/57.0 23.2/39.8 8.7/17.5 8.0/15.8 8.6/16.8 8.3/16.6 2.0/4.0
"""
_500 = """
mass    5.5/17.6 5.0/15.4 12.0/34.9 2.1/8.6
unif    17.6/18.5 20.2/21.6 16.3/18.0 7.3/8.7
pow.6   4.5/7.8 5.0/8.5 5.4/11.0 1.1/1.4
pow1.2  1.9/6.2 1.7/5.0 8.5/22.4 0.2/0.3
pin     5.4/6.1 6.5/7.3 4.1/4.5 2.1/2.6
sharp   1.5/2.2 1.9/2.4 3.8/8.9 0.8/1.5
"""
_GROWN = """
mass    2.1/4.6 1.1/2.2 1.4/3.3 1.1/1.0 0.6/0.2
unif    17.2/19.2 6.9/7.2 7.8/8.6 6.9/8.9 6.8/6.1
pow.6   2.4/2.5 1.0/1.0 1.0/1.0 1.3/1.4 1.0/0.8
pow1.2  0.8/1.7 0.2/0.2 0.2/0.3 0.2/0.3 0.2/0.1
pin     3.3/2.9 2.1/1.9 2.6/2.2 3.0/2.5 1.7/1.3
sharp   1.4/1.4 0.6/0.9 0.6/1.0 1.0/1.7 0.6/0.5
"""
_ITEMS = {
    "mass": (439, 334, 345, 1793), "unif": (108, 40, 37, 45), "pow.6": (193, 122, 101, 305),
    "pow1.2": (897, 718, 673, 3462), "pin": (199, 142, 108, 251), "sharp": (449, 356, 283, 1102),
}  # fmt: skip
_SPENT = ("SH, published doubling", "SH, screened", "SH, thinned", "SH, unthinned")


def beside(cells: Mapping[tuple[str, str], Kept]) -> str:
    """Ours, and theirs in brackets: Recall / NDCG by law and method."""
    parts = []
    for methods, text in ((_FIXED, _100), (_LARGE, _500), (_ADAPTIVE, _GROWN)):
        lines = ["| law | " + " | ".join(methods) + " |", "|" + "---|" * (len(methods) + 1)]
        for line in text.strip().splitlines():
            law, *theirs = line.split()
            if (cell := cells.get(("law", law))) is not None:
                pairs = zip(methods, theirs, strict=True)
                lines.append(f"| {law} | " + " | ".join(_both(cell, *p) for p in pairs) + " |")
        parts.append("\n".join(lines))
    lines = ["| law | " + " | ".join(_SPENT) + " |", "|" + "---|" * (len(_SPENT) + 1)]
    for law, theirs in _ITEMS.items():
        if (cell := cells.get(("law", law))) is not None:
            shown = [f"{items(cell, m):,.0f} ({n:,})" for m, n in zip(_SPENT, theirs)]
            lines.append(f"| {law} | " + " | ".join(shown) + " |")
    return "\n\n".join([*parts, "Items a target:", "\n".join(lines)])


def _both(cell: Kept, method: str, theirs: str) -> str:
    recall, ndcg, _ = errors(cell[f"values/{method}"], cell["truth"]).mean(axis=0)
    return f"{recall:.1f} / {ndcg:.1f} ({theirs.replace('/', ' / ')})"
