"""Tables of the study: errors, items spent, coverage, spot checks, and who is found to win."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from replications.item_sampling.study import FLAG, METRICS, Kept

Cells = Mapping[tuple[str, str], Kept]

LAWS = ("law", "fresh law")

FIXED = (
    "raw", "rank estimate", "CLS", "BV(.1) uniform", "BV(.01) uniform", "MLE", "MES", "BV_MLE",
    "BV_MLE pooled", "BV_MES", "BV_MES pooled", "MN_MLE", "MN_MLE pooled", "MN_MES",
    "MN_MES pooled", "monotone MLE", "SH", "SH, spot check",
)  # fmt: skip
SHOWN = (
    "CLS", "BV(.01) uniform", "MLE", "MES", "BV_MES", "BV_MES pooled", "MN_MES", "MN_MES pooled",
    "SH",
)  # fmt: skip
LARGE = tuple(f"{m}, n=500" for m in (
    "BV(.01) uniform", "MLE", "MES", "BV_MLE", "BV_MES", "MN_MLE", "MN_MES", "SH",
))  # fmt: skip
DESIGNS = ("published doubling", "screened", "thinned", "unthinned")
ADAPTIVE = tuple(f"{fit}, {design}" for design in DESIGNS for fit in ("EM 50", "SH"))
COVERED = ("SH", "SH, n=500", "SH, spot check", *(f"SH, {design}" for design in DESIGNS))

WINNER_AT = {"Recall@10": 9, "Recall@20": 19, "NDCG@10": 59, "NDCG@20": 69}


def errors(values: NDArray[np.float64], true: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean relative error over k = 1 … 50 in percent; a truth of 0 counts as 0.

    Args:
        values: float64 ``[repeats, metrics * 50]``.
        true: float64 ``[metrics * 50]``.

    Returns:
        float64 ``[repeats, metrics]``.
    """
    off = np.abs(values - true)
    share = np.divide(off, true, out=np.zeros_like(off), where=true > 0)
    return 100 * share.reshape(len(off), -1, 50).mean(axis=2)


def found(cell: Kept, method: str) -> NDArray[np.float64] | None:
    """Errors ``[repeats, 3]`` of a method in a world; None where it wasn't run."""
    key = f"values/{method}"
    return errors(cell[key], cell["truth"]) if key in cell else None


def items(cell: Kept, method: str) -> float:
    return float(cell[f"items/{method}"].mean())


def coverage(cell: Kept, method: str) -> float | None:
    """Share of nominal 95 % intervals for Recall and NDCG at 1 to 50 that cover, in percent."""
    key = f"covered/{method}"
    return 100 * float(cell[key][:, :100].mean()) if key in cell else None


def real(cells: Cells) -> Cells:
    return {key: cell for key, cell in cells.items() if key[0] not in LAWS}


def summary(cells: Cells) -> str:
    """Mean error of each method over real worlds, laws and fresh laws."""
    kinds = [real(cells), *({k: c for k, c in cells.items() if k[0] == law} for law in LAWS)]
    heads = ["method", "items", *(f"real {m}" for m in METRICS), "worst", "best in"]
    rows = []
    for method in (*FIXED, *LARGE, *ADAPTIVE):
        mine = [found(c, method) for c in kinds[0].values()]
        means = np.array([f.mean(axis=0) for f in mine if f is not None])
        spent = np.mean([items(c, method) for c in kinds[0].values() if f"items/{method}" in c])
        row = [method, f"{spent:,.0f}", *(_short(x) for x in means.mean(axis=0))]
        row += [_short(means[:, 0].max()), f"{_best(kinds[0], method)} of {len(means)}"]
        for kind in kinds[1:]:
            laws = [f.mean(axis=0) for f in (found(c, method) for c in kind.values())
                    if f is not None]  # fmt: skip
            recall, ndcg, _ = np.mean(laws, axis=0)
            row.append(f"{_short(recall)} / {_short(ndcg)}")
        rows.append(row)
    return _table([*heads, "laws", "fresh laws"], rows)


def _best(cells: Cells, method: str) -> int:
    """Worlds in which the method has the least error of NDCG among its kind."""
    rivals = next(kind for kind in (FIXED[:-1], FIXED, LARGE, ADAPTIVE) if method in kind)
    count = 0
    for cell in cells.values():
        all_ = {m: f[:, 1].mean() for m in rivals if (f := found(cell, m)) is not None}
        count += bool(all_) and min(all_, key=lambda m: all_[m]) == method
    return count


def table_1(cells: Cells) -> str:
    """Errors at n = 100 by world: Recall / NDCG / AP."""
    rows = []
    for key, cell in cells.items():
        rows.append([*_head(key, cell), *(_three(found(cell, m)) for m in SHOWN)])
    return _table(["world", "N", "targets", "Recall@10", *SHOWN], rows)


def table_1_large(cells: Cells) -> str:
    """Errors at n = 500 by world."""
    some = {key: c for key, c in cells.items() if "values/SH, n=500" in c}
    rows = [[*_head(k, c)[:1], *(_three(found(c, m)) for m in LARGE)] for k, c in some.items()]
    return _table(["world", *(m.removesuffix(", n=500") for m in LARGE)], rows)


def table_2(cells: Cells) -> str:
    """Adaptive designs: items, and Recall / NDCG / AP."""
    rows = []
    for key, cell in cells.items():
        row = [_head(key, cell)[0]]
        for design in DESIGNS:
            em, smooth = found(cell, f"EM 50, {design}"), found(cell, f"SH, {design}")
            row += [f"{items(cell, f'SH, {design}'):,.0f}", _three(em), _three(smooth)]
        rows.append(row)
    heads = [h for d in DESIGNS for h in (f"{d}: items", "EM 50", "SH")]
    return _table(["world", *heads], rows)


def table_3(cells: Cells) -> str:
    """Share of repeats in which the model that is best by the full metric is found best."""
    methods = (*FIXED[:-1], "SH, n=500", "MN_MES, n=500", *ADAPTIVE)
    places = list(WINNER_AT.values())
    rows = []
    data = [d for d in dict.fromkeys(d for d, _ in cells) if d not in LAWS]
    for method in methods:
        row = [method]
        for name in data:
            mine = [c for (d, _), c in cells.items() if d == name]
            if any(f"values/{method}" not in c for c in mine):
                row.append("")
                continue
            best = np.argmax([c["truth"][places] for c in mine], axis=0)
            values = np.array([c[f"values/{method}"][:, places] for c in mine])
            share = 100 * (values.argmax(axis=0) == best).mean(axis=0)
            row.append(" / ".join(f"{x:.0f}" for x in share))
        if any(row[1:]):
            rows.append(row)
    return _table(["method", *data], rows)


def covers(cells: Cells) -> str:
    """Coverage of nominal 95 % intervals by world and design, pooled and lowest."""
    rows, all_ = [], []
    for key, cell in cells.items():
        shares = [coverage(cell, m) for m in COVERED]
        all_.append([np.nan if x is None else x for x in shares])
        rows.append([_head(key, cell)[0], *("" if x is None else f"{x:.0f}" for x in shares)])
    kinds = {"**real**": [k[0] not in LAWS for k in cells], "**all**": [True] * len(cells)}
    for name, kind in kinds.items():
        some = np.array(all_)[np.array(kind)]
        with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):
            mean, low = np.nanmean(some, axis=0), np.nanmin(some, axis=0)  # none: NaN
        rows.append([name, *(f"**{m:.1f}** ({w:.0f})" for m, w in zip(mean, low))])
    heads = ["world", "n = 100", "n = 500", "n = 100 + spot check", *DESIGNS]
    run = [0, *(j + 1 for j, m in enumerate(COVERED) if not np.isnan(np.array(all_)[:, j]).all())]
    return _table([heads[j] for j in run], [[row[j] for j in run] for row in rows])


def checks(cells: Cells) -> str:
    """How often the spot check flags, and errors without and with its exact ranks."""
    rows = []
    for key, cell in cells.items():
        flagged = 100 * float((cell["p_values"] < FLAG).mean())
        before, after = found(cell, "SH"), found(cell, "SH, spot check")
        share = [coverage(cell, m) or 0.0 for m in ("SH", "SH, spot check")]
        rows.append(
            [_head(key, cell)[0], f"{flagged:.0f} %", _three(before), _three(after),
             f"{items(cell, 'SH, spot check'):,.0f}", f"{share[0]:.0f} → {share[1]:.0f}"]
        )  # fmt: skip
    return _table(["world", "flagged", "n = 100", "with 200 exact", "items", "coverage"], rows)


def detail(cells: Cells) -> list[dict[str, object]]:
    """Every number: one row a world and method."""
    rows: list[dict[str, object]] = []
    for (data, model), cell in cells.items():
        for method in (*FIXED, *LARGE, *ADAPTIVE):
            if (mine := found(cell, method)) is None:
                continue
            row: dict[str, object] = {"data": data, "model": model, "method": method}
            row |= {"n_items": int(cell["n"]), "targets": int(cell["users"])}
            row["items_a_target"] = round(items(cell, method), 1)
            for j, metric in enumerate(METRICS):
                row[f"{metric}_error_mean"] = round(float(mine[:, j].mean()), 3)
                row[f"{metric}_error_sd"] = round(float(mine[:, j].std()), 3)
            share = coverage(cell, method)
            row["coverage_95"] = None if share is None else round(share, 1)
            rows.append(row)
    return rows


def _head(key: tuple[str, str], cell: Kept) -> list[str]:
    name = ", ".join(key)
    return [name, f"{int(cell['n']):,}", f"{int(cell['users']):,}", f"{cell['truth'][9]:.3f}"]


def _three(errors: NDArray[np.float64] | None) -> str:
    if errors is None:
        return ""
    return " / ".join(_short(x) for x in errors.mean(axis=0))


def _short(x: float) -> str:
    return f"{x:.1f}" if x < 100 else f"{x:,.0f}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
