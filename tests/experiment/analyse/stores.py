"""Stores with results made by hand: one target a user, ranks, settings and trials as given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fullrank.core.ranked import TargetRanks
from fullrank.experiment.analyse import Study
from fullrank.experiment.analyse.study import load_study
from fullrank.experiment.cell import items_table, queries_table, ranks_table
from fullrank.experiment.spec import BenchSpec
from fullrank.experiment.store import Store, key_of, write_json

N_ITEMS = 50


def make_store(folder: Path, models: Mapping[str, Sequence[int]], **options: Any) -> Path:
    """A finished store.

    Args:
        folder: for the store.
        models: by label the rank of each user's only target.
        options: ``data`` name, ``split`` recipe, ``filters`` before the split, ``metrics``,
            ``settings`` and ``classes`` by label, ``trials`` and ``space`` by label, ``users``
            ids, ``items`` ids of the targets, ``resources`` by label, ``tag`` that changes the
            protocol's id, ``history``, ``candidates``.
    """
    spec = BenchSpec.model_validate(
        {
            "metrics": options.get("metrics", ["mrr@10", "hitrate@2"]),
            "data": [{"name": options.get("data", "d")}],
            "split": {"strategy": "GlobalTime"},
            "model": [{"name": "Random", "label": label} for label in models],
            "tune": {"metric": "mrr@10", "trials": 9} if "trials" in options else None,
        }
    )
    store = Store.open(folder, create=True)
    keys = []
    for label, ranks in models.items():
        about = _about(label, options)
        key = key_of({**about, "ranks": list(ranks)})
        store.put_cell(key, about, _tables(ranks, options))
        keys.append(key)
        for trial in options.get("trials", {}).get(label, ()):
            store.put_trial(about["tuning"]["key"], trial["number"], trial)
        if about["tuning"]:
            space = {name: {} for name in options.get("space", {}).get(label, ("reg",))}
            store.put_search(about["tuning"]["key"], {"space": space})
    write_json(folder / "bench.json", {"spec": spec.model_dump(mode="json"), "cells": keys})
    return folder


def study_of(*folders: Path, metrics: Sequence[str] = (), **options: Any) -> Study:
    """A study with few resamples."""
    return load_study(folders, metrics, **{"resamples": 200, **options})


def trial(number: int, **values: float | None) -> dict[str, Any]:
    """A finished trial; metrics ``mrr`` and ``hit``, others by their names."""
    names = {"mrr": "MRR@10", "hit": "HitRate@2", "rank": "MeanRank"}
    kept = {names.get(name, name): value for name, value in values.items()}
    return {
        "number": number,
        "value": kept.get("MRR@10"),
        "values": kept,
        "error": None,
        "settings": {"reg": float(number)},
        "resources": {"trial_seconds": 2.0},
    }


def _tables(ranks: Sequence[int], options: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    ranked = TargetRanks.of([[rank] for rank in ranks], n_candidates=[N_ITEMS] * len(ranks))
    users = options.get("users", [f"u{j}" for j in range(len(ranks))])
    queries = queries_table(ranked, np.ones(len(ranks), dtype=int))
    items = options.get("items", [0] * len(ranks))
    return {
        "queries": queries.with_columns(user_id=pl.Series(list(users))),
        "ranks": ranks_table(ranked).with_columns(item_id=pl.Series(list(items))),
        "items": items_table(ranked, np.ones(len(ranked.item_vocab), dtype=int)),
    }


def _about(label: str, options: Mapping[str, Any]) -> dict[str, Any]:
    data = options.get("data", "d")
    recipe = {"repeats": "drop", **options.get("split", {"strategy": "GlobalTime", "test": 0.2})}
    protocol = {
        "data": {"fingerprint": f"{data}{options.get('tag', '')}", "grade": None},
        "filters": {"before": list(options.get("filters", ())), "train": [], "seed": 0},
        "split": {"recipe": recipe, "fold": 0, "fingerprint": "f00d"},
        "queries": {"repeats": "drop", "history": options.get("history", "train")},
        "ranking": {
            "catalogue": "fit", "eligible": None, "cold_users": "apart",
            "candidates": options.get("candidates", "full"),
        },
    }  # fmt: skip
    trials = options.get("trials", {}).get(label)
    tuning = {
        "key": key_of({"search": label, **protocol}), "trials": len(trials), "failed": 0,
        "pruned": 0, "best": 0, "value": 0.5, "seconds": 2.0 * len(trials),
    } if trials else None  # fmt: skip
    return {
        "data": data,
        "fold": 0,
        "protocol_id": key_of(protocol),
        "protocol": protocol,
        "card": {},
        "source": {},
        "model": label,
        "class": options.get("classes", {}).get(label, "EASE"),
        "version": 1,
        "settings": options.get("settings", {}).get(label, {"reg": 1.0}),
        "seed": None,
        "tuning": tuning,
        "counts": {},
        "design": {"candidates": "full"},
        "depth": None,
        "fitted_rows": 90,
        "resources": options.get("resources", {}).get(label, {"fit_seconds": 0.5}),
        "provenance": {},
    }
