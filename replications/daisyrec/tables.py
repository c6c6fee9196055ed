"""Tables of the study, in Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.leaderboard import leaderboard
from fullrank.experiment.results import Results
from replications.daisyrec.compatible import PARTS, Cells
from replications.daisyrec.honest import METRICS as HONEST_METRICS
from replications.daisyrec.honest import Bench
from replications.daisyrec.published import METRICS, numbers

HEADS = ("Pre", "Rec", "HR", "MAP", "MRR", "NDCG")
LAST_DIGIT = 0.0001
FEWEST = 30
"""Users of a segment that is shown."""
FAR = 3.0
"""Standard deviations of one draw, beyond which a published number is not explained by chance."""


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def far(value: float, mean: float, spread: float, n: int) -> bool:
    """Whether a published value lies outside what one more draw could give.

    Args:
        value: published, rounded to four digits.
        mean: of our draws.
        spread: standard deviation of a draw.
        n: how many they are.
    """
    return bool(abs(value - mean) > FAR * spread * np.sqrt(1 + 1 / n) + LAST_DIGIT)


def pooled(cells: Cells, data: str) -> NDArray[np.float64]:
    """Standard deviation of a draw by metric ``[6]``, pooled over the lines of a data set."""
    squares = [v[:, 0].var(axis=0, ddof=1) for key, v in cells.items() if key[0] == data]
    moving = [s for s in squares if s.any()]
    return np.sqrt(np.mean(moving, axis=0)) if moving else np.zeros(len(METRICS))


def compatible(cells: Cells, labels: dict[str, str]) -> str:
    """Published values, and ours by their protocol with the spread over draws.

    Args:
        cells: of the compatible part.
        labels: by label of a line the published model.
    """
    out, shown = [], set()
    for (data, view, label), values in cells.items():
        model = labels[label]
        given = numbers(data, view)[model]
        if (data, view, model) not in shown:
            shown.add((data, view, model))
            out.append([data, view, f"**{model}**", *(f"**{x:.4f}**" for x in given), "published"])
        mean, spread = values[:, 0].mean(axis=0), values[:, 0].std(axis=0, ddof=1)
        common = np.maximum(spread, pooled(cells, data)) if spread.any() else spread
        off = [far(*row, len(values)) for row in zip(given, mean, common)]
        mine = [
            f"{m:.4f} ± {round(s * 1e4)}{'*' if o else ''}" for m, s, o in zip(mean, spread, off)
        ]
        out.append([data, view, label, *mine, "" if any(off) else "all six"])
    return markdown(["data", "view", "line", *HEADS, "explained"], out)


def popularity(cells: Cells) -> str:
    """Published values of four models beside popularity on the 1,000 candidates."""
    rows = []
    for (data, view, label), values in cells.items():
        if label != "MostPop, 1,000 candidates":
            continue
        mean = values[:, 0].mean(axis=0)
        rows.append([data, view, "MostPop, measured here", *(f"{x:.4f}" for x in mean)])
        for model in ("NFM", "Multi-VAE", "NeuMF", "BPRFM"):
            given = numbers(data, view)[model]
            rows.append([data, view, f"{model}, published", *(f"{x:.4f}" for x in given)])
    return markdown(["data", "view", "line", *HEADS], rows)


def cold(cells: Cells) -> str:
    """Warm and cold users apart, by the dialect's metrics: ML-1M, 10-filter."""
    rows = []
    for (data, view, label), values in cells.items():
        if (data, view) == ("ML-1M", "10-filter"):
            mean = values.mean(axis=0)
            picked = [
                mean[part, METRICS.index(m)] for m in ("Precision", "NDCG") for part in (1, 2)
            ]
            rows.append([label, *(f"{x:.4f}" for x in picked)])
    return markdown(["line", "Pre warm", "Pre cold", "NDCG warm", "NDCG cold"], rows)


def compatible_rows(cells: Cells) -> list[dict[str, Any]]:
    """Every value of the compatible part, for the CSV."""
    out = []
    for (data, view, label), values in cells.items():
        for part, users in enumerate(PARTS):
            for place, metric in enumerate(METRICS):
                column = values[:, part, place]
                if np.isfinite(column).all():
                    found = {"mean": round(float(column.mean()), 6), "draws": len(column)}
                    spread = round(float(column.std(ddof=1)), 6)
                    row = {"data": data, "view": view, "line": label, "users": users}
                    out.append({**row, "metric": metric, **found, "sd": spread})
    return out


Board = list[dict[str, Any]]


def boards(results: dict[Bench, Results]) -> Board:
    """Rows of all leaderboards, with view and split."""
    out = []
    for (data, view, split), found in results.items():
        costs = {cell.about["model"]: cell.about for cell in found.cells}
        for row in leaderboard(found):
            if row["seed"] is None:
                about = costs[row["model"]]
                trials = (about["tuning"] or {}).get("trials", 0)
                settings = " ".join(f"{k}={v}" for k, v in about["settings"].items())
                more = {"view": view, "split": split, "trials": trials, "settings": settings}
                out.append({**row, **more, "data": data})
    return out


def honest_rows(board: Board) -> list[dict[str, Any]]:
    """The leaderboards, for the CSV."""
    names = ("data", "view", "split", "model", "users", "metric", "value", "low", "high")
    more = ("n_queries", "trials", "settings")
    return [{name: _rounded(row[name]) for name in (*names, *more)} for row in board]


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def honest(board: Board, metric: str = HONEST_METRICS[0]) -> str:
    """NDCG@10 with its interval, models by benches."""
    names = {"ndcg@10": "NDCG@10", "hr@10": "HitRate@10"}
    mine = [r for r in board if r["metric"] == names[metric] and r["n_queries"] >= FEWEST]
    keys = list(dict.fromkeys((r["data"], r["view"], r["split"], r["users"]) for r in mine))
    models = list(dict.fromkeys(row["model"] for row in mine))
    split = {key[:3] for key in keys if key[3] == "cold"}
    lines = []
    for key in keys:
        if key[3] == "warm" and key[:3] not in split:
            continue  # next to all are warm
        by_model = {
            r["model"]: r for r in mine if (r["data"], r["view"], r["split"], r["users"]) == key
        }
        best = max(row["value"] for row in by_model.values())
        some = next(iter(by_model.values()))
        cells = [_cell(by_model.get(model), best) for model in models]
        lines.append([*key, f"{some['n_queries']:,}", *cells])
    return markdown(["data", "view", "split", "users", "n", *models], lines)


def _cell(row: dict[str, Any] | None, best: float) -> str:
    if row is None:
        return ""
    half = (row["high"] - row["low"]) / 2
    text = f"{row['value']:.3f} ± {half * 1000:.0f}"
    return f"**{text}**" if row["value"] == best else text
