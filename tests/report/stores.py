"""Stores with results made by hand: known ranks, any labels, seeds and data sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fullrank.core.ranked import TargetRanks
from fullrank.experiment.cell import items_table, queries_table, ranks_table
from fullrank.experiment.results import Results
from fullrank.experiment.spec import BenchSpec
from fullrank.experiment.store import Store, key_of, write_json

N_ITEMS = 50

CARD: dict[str, Any] = {
    "recipe": {"strategy": "GlobalTime", "test": 0.1, "valid": 0.1, "repeats": "drop"},
    "data_recipe": [{"step": "read", "source": "hand", "notes": ["no header"]}],
    "fingerprint": "f00d",
    "data_fingerprint": "beef",
    "repeats": "drop",
    "parts": {
        "train": {"rows": 90, "users": 30, "items": 50, "first": "2020-01-01", "last": None},
        "test": {"rows": 10, "users": 5, "items": 9},
    },
    "test": {
        "targets": {
            "queries": 5,
            "without_targets": 0,
            "total": 10,
            "mean": 2.0,
            "median": 2.0,
            "max": 3,
            "repeated": 0,
            "duplicates": 0,
        },
        "fit": {
            "train": {
                "cold_users": 1,
                "users_not_fitted": 0,
                "cold_items": 2,
                "rows_of_cold_users": 3,
                "rows_of_cold_items": 4,
                "leaks": {"own_future": 0.0, "global_future": 0.25, "mean_future": 0.1},
            }
        },
    },
    "ties_at_cut": {"test": 2},
    "notes": [],
}


def ranks_of(strength: float, n: int, seed: int, targets: int = 2) -> TargetRanks:
    """Ranks of ``targets`` targets for ``n`` users, low for a strong model (0 to 1)."""
    rng = np.random.default_rng(seed)
    first = 1 + np.floor(rng.random((n, targets)) ** (1 + 6 * strength) * (N_ITEMS - targets))
    rows = [sorted(set(row.astype(int).tolist())) for row in first]
    return TargetRanks.of(rows, n_candidates=[N_ITEMS] * n)


def make_results(folder: Path, models: dict[str, Any], **options: Any) -> Results:
    """A finished store.

    Args:
        folder: for the store.
        models: by label, ranks (or a list of ranks, one a seed).
        options: ``data`` names, ``metrics``, ``baseline``, ``cold`` share, ``predictions`` by
            label, ``folds``, ``counts``, ``tune``, ``tuning`` by label, ``name``.
    """
    data = options.get("data", ("hand",))
    spec = BenchSpec.model_validate(
        {
            "name": options.get("name", "by hand"),
            "metrics": options.get("metrics", ["ndcg@10", "recall@10"]),
            "baseline": options.get("baseline"),
            "data": [{"name": name} for name in data],
            "split": {"strategy": "GlobalTime"},
            "model": [{"name": "Random", "label": label} for label in models],
            "tune": options.get("tune"),
        }
    )
    store = Store.open(folder, create=True)
    keys = []
    for name in data:
        for label, ranks in models.items():
            seeds = ranks if isinstance(ranks, list) else [ranks]
            for fold, (seed, ranked) in product(range(options.get("folds", 1)), enumerate(seeds)):
                about = _about(name, label, seed if len(seeds) > 1 else None, options)
                key = key_of({"data": name, "model": label, "seed": seed, "fold": fold})
                store.put_cell(key, {**about, "fold": fold}, _tables(ranked, label, options))
                keys.append(key)
    for key, trials in options.get("trials", {}).items():
        for trial in trials:
            store.put_trial(key, trial["number"], trial)
    content = {"spec": spec.model_dump(mode="json"), "cells": keys}
    write_json(store.folder / "bench.json", content)
    return Results.load(store)


def _tables(ranked: TargetRanks, label: str, options: dict[str, Any]) -> dict[str, pl.DataFrame]:
    n_cold = round(len(ranked) * options.get("cold", 0.0))
    history = np.arange(len(ranked)) + 1
    history[:n_cold] = 0
    ranked = replace(ranked, counts={})
    tables = {
        "queries": queries_table(ranked, history),
        "ranks": ranks_table(ranked),
        "items": items_table(ranked, np.arange(len(ranked.item_vocab)) * 10),
    }
    if label in options.get("predictions", {}):
        tables["predictions"] = options["predictions"][label]
    return tables


def _about(data: str, label: str, seed: int | None, options: dict[str, Any]) -> dict[str, Any]:
    protocol = {
        "data": {"name": data, "fingerprint": "beef", "grade": None},
        "filters": {"before": [], "train": [{"core": {"users": 5}}]},
        "split": {"recipe": CARD["recipe"], "fold": 0, "fingerprint": "f00d"},
        "queries": {"repeats": "drop", "history": "train"},
        "ranking": {
            "catalogue": "fit",
            "eligible": None,
            "candidates": "full",
            "cold_users": "apart",
        },
        "ties": "expectation over the orders that equal scores leave open",
    }
    return {
        "data": data,
        "fold": 0,
        "protocol_id": f"protocol-{data}",
        "protocol": protocol,
        "card": CARD,
        "source": {
            "name": data,
            "licence": "CC BY 4.0",
            "citation": "Hand 2020 <i>",
            "url": "https://example.org/data",
            "notes": "",
        },
        "model": label,
        "class": "Random",
        "version": 1,
        "settings": {"reg": 0.123456},
        "seed": seed,
        "tuning": options.get("tuning", {}).get(label),
        "counts": options.get("counts", {}).get(label, {"unranked_targets": 3}),
        "design": {"candidates": "full"},
        "depth": None,
        "fitted_rows": 90,
        "resources": options.get(
            "resources", {"fit_seconds": 0.5, "rank_seconds": 0.25, "fit_peak_mib": 2048.0}
        ),
        "provenance": {
            "time": "2026-01-02T03:04:05+00:00",
            "python": "3.11.7",
            "versions": {"fullrank": "0.1.0", "numpy": "2.4.6", "optuna": None},
            "system": "Linux x86_64",
            "cores": 2,
            "blas": ["openblas 0.3 Haswell"],
        },
    }
