"""What the honest part says of the study's conclusions: fallback, orders, agreement of metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import kendalltau

from fullrank.experiment.analyse import analyse
from fullrank.experiment.analyse.matrix import MetricMatrix
from fullrank.experiment.results import Results
from replications.daisyrec.honest import Bench
from replications.daisyrec.tables import Board, markdown

Key = tuple[str, str, str]


def values(board: Board, metric: str, users: str) -> dict[Key, dict[str, float]]:
    """Values by bench and model."""
    out: dict[Key, dict[str, float]] = {}
    for row in board:
        if (row["metric"], row["users"]) == (metric, users) and row["value"] is not None:
            out.setdefault((row["data"], row["view"], row["split"]), {})[row["model"]] = row[
                "value"
            ]
    return out


def fallback(board: Board) -> str:
    """NDCG@10 of ML-1M, 10-filter, TSBR: as each model treats cold users, and with popularity.

    A user's value depends on that user alone, so that the second is a mean of the warm users of
    the model and the cold ones of MostPop.
    """
    mine: list[dict[str, Any]] = [
        row
        for row in board
        if (row["data"], row["view"], row["split"]) == ("ML-1M", "10-filter", "TSBR")
        and row["metric"] == "NDCG@10"
    ]
    by_model: dict[str, dict[str, dict[str, Any]]] = {}
    for row in mine:
        by_model.setdefault(row["model"], {})[row["users"]] = row
    popular = by_model["MostPop"]["cold"]
    rows = []
    for model, parts in by_model.items():
        counts = [parts[users]["n_queries"] for users in ("warm", "cold")]
        mended = np.average([parts["warm"]["value"], popular["value"]], weights=counts)
        shown = [parts[users]["value"] for users in ("warm", "cold", "all")]
        rows.append([model, *(f"{x:.4f}" for x in (*shown, mended))])
    return markdown(["model", "warm", "cold", "all", "all, cold by popularity"], rows)


def orders(board: Board) -> str:
    """Order of the models by NDCG@10 of warm users, and its agreement with TSBR, 10-filter."""
    found = values(board, "NDCG@10", "warm")
    found = {**values(board, "NDCG@10", "all"), **found}  # a bench without cold users has no "warm"
    rows = []
    for key, mine in found.items():
        data = key[0]
        first = next(k for k in found if k[0] == data)
        both = [model for model in mine if model in found[first]]
        tau = kendalltau([mine[m] for m in both], [found[first][m] for m in both]).statistic
        order = " > ".join(sorted(mine, key=lambda model: -mine[model]))
        rows.append([*key, order, f"{tau:.2f}" if key != first else "-"])
    return markdown(["data", "view", "split", "order", "Kendall's tau with the first"], rows)


def of_metrics(results: dict[Bench, Results]) -> dict[str, str]:
    """Co-optimality and Kendall's tau of metrics over all benches, as ``fullrank analyse`` does."""
    found = analyse(list(results.values()), only=("co-optimality", "correlation"))
    assert found.co_optimality is not None
    return {
        "co-optimality": matrix(found.co_optimality.matrices[0]),
        "correlation": matrix(found.correlation[0]),
    }


def matrix(found: MetricMatrix) -> str:
    """A matrix with its intervals, rows to columns."""
    rows = []
    for i, name in enumerate(found.metrics):
        cells = [
            f"{found.values[i, j]:.2f} ({found.low[i, j]:.2f} … {found.high[i, j]:.2f})"
            for j in range(len(found.metrics))
        ]
        rows.append([name, *("1" if j == i else cell for j, cell in enumerate(cells))])
    return markdown(["", *found.metrics], rows)
