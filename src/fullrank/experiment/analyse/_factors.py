"""What a result was made under, as factors with levels in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fullrank.core.errors import StoreError
from fullrank.experiment.results import CellResult, Results
from fullrank.experiment.store import Store, read_json

TUNED = "tuned"
"""Level of a setting that a search chose: what it chose is an outcome, no factor."""

NONE = "none"


def condition_factors(cell: CellResult) -> dict[str, str]:
    """Factors that all models of a data set of a benchmark share, those of its protocol."""
    protocol = cell.about["protocol"]
    split, ranking = protocol.get("split", {}), protocol.get("ranking", {})
    recipe = dict(split.get("recipe", {}))
    repeats = recipe.pop("repeats", None)
    queries = protocol.get("queries", {})
    strategy = recipe.pop("strategy", NONE)
    return {
        "data": str(cell.about["data"]),
        "filters": _filters(protocol.get("filters", {})),
        "split": call_text(str(strategy), recipe),
        "repeats": value_text(queries.get("repeats", repeats)),
        "fitted on": value_text(queries.get("history")),
        "grade": value_text(protocol.get("data", {}).get("grade")),
        "catalogue": value_text(ranking.get("catalogue")),
        "eligible": value_text(ranking.get("eligible")),
        "candidates": value_text(ranking.get("candidates")),
        "cold users": value_text(ranking.get("cold_users")),
    }


def _filters(filters: Mapping[str, Any]) -> str:
    """``core(items=5, users=5)``; filters of training rows alone say so."""
    parts = [
        f"{stage}{call_text(name, settings)}"
        for stage, steps in (("", filters.get("before")), ("train: ", filters.get("train")))
        for step in steps or ()
        for name, settings in step.items()
    ]
    return "; ".join(parts) or NONE


def fixed_settings(results: Results, cell: CellResult) -> dict[str, str]:
    """Settings of a model by name; those that a search chose are ``"tuned"``, with its rules.

    Args:
        results: of the benchmark.
        cell: of the model.
    """
    settings: Mapping[str, Any] = cell.about["settings"]
    chosen = _searched(cell)
    rules = {} if cell.about["tuning"] is None else {"search": _search(results, cell)}
    return {
        **{name: TUNED if name in chosen else value_text(v) for name, v in settings.items()},
        **rules,
    }


def _search(results: Results, cell: CellResult) -> str:
    """The budget and rules of a search, without its seed and what it refits on."""
    tune = results.spec.tune
    if tune is None:
        return NONE
    content = tune.model_dump(exclude_defaults=True, exclude={"seed", "refit"}, mode="json")
    for model in results.spec.model:
        if model.title == cell.about["model"] and model.trials is not None:
            content |= {"trials": model.trials}
            content.pop("seconds", None)
    return call_text("by " + str(content.pop("metric")), content)


def _searched(cell: CellResult) -> set[str]:
    """Names of the settings that the search of a cell chose."""
    tuning = cell.about["tuning"]
    if tuning is None:
        return set()
    store = Store(cell.folder.parents[1])
    about = store.folder / "tune" / tuning["key"] / "search.json"
    found = read_json(about) if about.exists() else {}
    if not isinstance(found, dict) or not isinstance(found.get("space", {}), dict):
        raise StoreError(f"{about} is damaged; delete it: its trials say what was searched")
    names = set(found.get("space", {}))
    for trial in store.trials(tuning["key"]):
        names |= set(trial["settings"])
        if trial.get("epochs"):  # early stopping settled the length of the training
            names.add("epochs")
    return names


def call_text(name: str, settings: Mapping[str, Any]) -> str:
    """``GlobalTime(test=0.2, valid=0.1)``, settings in the order of their names."""
    inside = ", ".join(f"{key}={value_text(settings[key])}" for key in sorted(settings))
    return f"{name}({inside})" if inside else name


def value_text(value: Any) -> str:
    """A setting as people write it; equal settings give equal texts."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}={value_text(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return str(value)


def shortened(levels: Iterable[str]) -> dict[str, str]:
    """Levels without their settings, where they are told apart without them."""
    full = list(dict.fromkeys(levels))
    heads = {level: level.partition("(")[0] if "; " not in level else level for level in full}
    return heads if len(set(heads.values())) == len(full) else {level: level for level in full}


def varying(tables: Iterable[Mapping[str, str]]) -> list[str]:
    """Factors with more than one level, in the order of their first appearance."""
    rows = list(tables)
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if len({row.get(name) for row in rows}) > 1]
