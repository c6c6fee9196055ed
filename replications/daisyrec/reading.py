"""What the honest part says of the study's conclusions: fallback, orders, agreement of metrics."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import kendalltau

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


def agreement(board: Board) -> str:
    """Kendall's tau between the orders of models by two metrics, averaged over benches."""
    metrics = list(dict.fromkeys(row["metric"] for row in board))
    by_metric = {metric: values(board, metric, "all") for metric in metrics}
    taus: dict[tuple[str, str], float] = {}
    for pair in combinations(metrics, 2):
        one, two = (by_metric[metric] for metric in pair)
        taus[pair] = float(
            np.mean(
                [kendalltau(list(one[k].values()), list(two[k].values())).statistic for k in one]
            )
        )
    rows = [
        [a, *("1" if a == b else f"{taus.get((a, b), taus.get((b, a), 1.0)):.2f}" for b in metrics)]
        for a in metrics
    ]
    return markdown(["", *metrics], rows)
