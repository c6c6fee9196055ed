"""Samplers, models and scenarios of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KEEP = (0.8, 0.6, 0.4, 0.2, 0.1, 0.01)
"""Shares of the training rows that the paper keeps."""

BASELINE = "users, random"

SAMPLERS: tuple[dict[str, Any], ...] = (
    {"label": "rows, random", "name": "RandomInteractions"},
    {"label": "rows, stratified", "name": "Stratified"},
    {"label": "rows, temporal", "name": "Temporal"},
    *(
        {
            "label": f"{unit}s, {kind} {proxy}",
            "name": name,
            "settings": {"unit": "interaction" if unit == "row" else "user", "proxy": proxy},
        }
        for unit in ("row", "user")
        for kind, name in (("SVP", "SVPCF"), ("SVP-Prop", "SVPCFProp"))
        for proxy in ("mf", "bias_only")
    ),
    {"label": "users, random", "name": "RandomUsers"},
    {"label": "users, head", "name": "HeadUsers"},
    {"label": "graph, centrality", "name": "PageRank"},
    {"label": "graph, random walk", "name": "RandomWalk"},
    {"label": "graph, forest fire", "name": "ForestFire"},
)
"""The sixteen of the paper."""

RANKING = ("ndcg@10", "recall@100", "auc")
"""Metrics of implicit and sequential data."""

RATING = ("rmse",)
"""Orders algorithms as the paper's MSE does."""

EXPLICIT: tuple[dict[str, Any], ...] = (
    {"label": "user bias", "name": "BiasOnly", "settings": {"reg_item": 1e9}},
    {"label": "item bias", "name": "BiasOnly", "settings": {"reg_user": 1e9}},
    {"label": "BiasOnly", "name": "BiasOnly"},
    {"label": "MF 4", "name": "MF", "settings": {"embedding_dim": 4}},
    {"label": "MF 16", "name": "MF", "settings": {"embedding_dim": 16}},
    {
        "label": "MF 16 SGD",
        "name": "MF",
        "settings": {"embedding_dim": 16, "solver": "sgd", "reg": 0.1, "epochs": 40},
    },
)
"""Models that predict ratings: few kinds of them are cheap, so that some differ in a setting."""

TEN = (
    "Popularity", "ItemKNN", "UserKNN", "RP3beta", "EASE", "SLIM", "PureSVD", "IALS", "BPRMF",
)  # fmt: skip
"""Nine that both scenarios have; the tenth is ``LAST``'s."""

LAST = {"implicit": "NMF", "sequential": "Markov"}
"""Only a sequence has an order to use."""

SMALL: Mapping[str, dict[str, Any]] = {
    "BPRMF": {
        "settings": {"embedding_dim": 32},
        "search": {
            "learning_rate": {"low": 0.005, "high": 0.2, "log": True},
            "reg": {"low": 1e-4, "high": 0.1, "log": True},
        },
    },
    "IALS": {
        "settings": {"embedding_dim": 32},
        "search": {
            "reg": {"low": 1e-4, "high": 0.1, "log": True},
            "unobserved_weight": {"low": 0.01, "high": 2.0, "log": True},
        },
    },
    "NMF": {
        "search": {
            "embedding_dim": {"low": 8, "high": 32, "log": True},
            "l1_reg": {"low": 1e-3, "high": 10.0, "log": True},
            "l2_reg": {"low": 1e-2, "high": 100.0, "log": True},
        }
    },
}
"""Spaces of the dear models: the shipped ones without what makes thousands of fits take hours."""

SPLITS: Mapping[str, dict[str, Any]] = {
    "explicit": {"strategy": "RandomRows", "test": 0.1, "valid": 0.1, "per_user": True},
    "implicit": {"strategy": "RandomRows", "test": 0.1, "valid": 0.1, "per_user": True},
    "sequential": {"strategy": "LeaveLast", "n": 1, "valid": 1},
}
"""As the paper has them: 80/10/10 of each user at random; the last row, and the one before."""

FLOOR = {"rows": 50, "users": 1, "items": 10}
"""The published code counts users and items that have test rows, so that only rows bind there."""


def names_of(scenario: str) -> tuple[str, ...]:
    """Models of a scenario with lists."""
    return (*TEN, LAST[scenario])


def models_of(scenario: str, settings: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Models of a scenario with what was chosen for them.

    Args:
        scenario: one of ``SPLITS``.
        settings: by name of the model; defaults for one that is not there.
    """
    if scenario == "explicit":
        return [dict(model) for model in EXPLICIT]
    return [{"name": name, "settings": dict(settings.get(name, {}))} for name in names_of(scenario)]


def scenario_of(name: str, models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A scenario of a Psi file."""
    metrics = RATING if name == "explicit" else RANKING
    return {
        "name": name,
        "metrics": list(metrics),
        "split": dict(SPLITS[name]),
        "model": list(models),
    }
