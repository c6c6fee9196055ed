"""The protocol card: what a reader must know before believing a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullrank.experiment.results import CellResult, Results
from fullrank.metrics import parse
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import UNDEFINED, percent_text, plain_text
from fullrank.report._series import folds_of
from fullrank.split._card import tied_at_cut

Terms = list[tuple[str, str]]

ORDER = ("train", "valid_history", "valid", "test_history", "test", "left_out")

COLD = {
    "apart": "as each model ranks them; shown apart from warm users",
    "fallback": "the popularity ranking for every model; shown apart from warm users",
    "out": "left out for every model",
}
LEAKS = {
    "own_future": "held-out rows earlier than a row of the same user that models may use",
    "global_future": "fitted rows later than the earliest held-out row",
    "mean_future": "fitted rows later than a held-out row, on average over held-out rows",
}
COUNTS = {
    "unranked_targets": "targets without a rank (outside the catalogue, or never recommended)",
    "repeated_targets": "targets already in the history, dropped unless repeats are kept",
    "duplicate_targets": "second rows of the same target, merged",
    "queries_without_targets": "queries without a target, left out of the means",
    "cold_queries_left_out": "queries of cold users, left out",
    "cold_by_popularity": "queries of cold users, ranked by popularity",
    "catalogue_items": "items in the catalogue",
}


def data_terms(results: Results, data: str) -> Terms:
    """Where the rows come from and what was done to them before the split."""
    about = folds_of(results, data)[0].about
    source, protocol = about["source"], about["protocol"]
    grade = protocol["data"]["grade"]
    out = [
        ("Data set", source["name"]),
        ("Licence", source["licence"]),
        ("Citation", source["citation"] or "none asked for"),
        ("Home page", source["url"]),
        ("Notes", source["notes"]),
        ("Fingerprint of the rows", about["card"]["data_fingerprint"]),
        ("Gain of a target", f"column {grade!r}" if grade else "1 for every row (no grade named)"),
    ]
    out += [(f"Step {n}", _step(s)) for n, s in enumerate(about["card"]["data_recipe"], start=1)]
    out.append(("Filters before the split", _steps(protocol["filters"]["before"])))
    out.append(("Filters on training rows", _steps(protocol["filters"]["train"])))
    return [(term, text) for term, text in out if text]


def split_terms(results: Results, data: str) -> Terms:
    """The split, what is cold in it, and what leaks."""
    cells = folds_of(results, data)
    out: Terms = []
    for cell in cells:
        prefix = f"Fold {cell.about['fold']}: " if len(cells) > 1 else ""
        out += [(prefix + term, text) for term, text in _fold_terms(cell) if text]
    return out


def _fold_terms(cell: CellResult) -> Terms:
    card, fitted = cell.about["card"], cell.about["protocol"]["queries"]["history"]
    targets, cold = card["test"]["targets"], card["test"]["fit"][fitted]
    recipe = {k: v for k, v in card["recipe"].items() if k != "strategy"}
    out = [
        ("Strategy", f"{card['recipe'].get('strategy', 'given')} ({plain_text(recipe)})"),
        ("Fingerprint of the split", card["fingerprint"]),
        ("Models are fitted on", fitted),
        (
            "Test queries",
            f"{targets['queries']:,}, targets per query: mean {plain_text(targets['mean'])}, "
            f"median {plain_text(targets['median'])}, most {targets['max']:,}",
        ),
        (
            "Cold in the test",
            f"{cold['cold_users']:,} users ({cold['rows_of_cold_users']:,} rows) without a history "
            f"that models may use, and {cold['cold_items']:,} items "
            f"({cold['rows_of_cold_items']:,} rows) without a fitted row",
        ),
        ("Folded in", _folded_in(cold)),
        ("Ties at the cut", "; ".join(tied_at_cut(card)) or "none"),
    ]
    return [*out, *_leaks(cold["leaks"]), ("Notes on the split", "; ".join(card["notes"]))]


def _folded_in(cold: Mapping[str, Any]) -> str:
    n = cold.get("users_not_fitted", 0)
    return f"{n:,} users whose rows were not fitted and whose history models see" if n else ""


def _leaks(leaks: Mapping[str, Any] | None) -> Terms:
    if leaks is None:
        return [("Leaks in time", "can't be told: the data have no times")]
    found = [(LEAKS[name], share) for name, share in leaks.items() if name in LEAKS]
    return [("Leaks in time", "; ".join(f"{percent_text(s)} of {text}" for text, s in found))]


def ranking_terms(results: Results, data: str) -> Terms:
    """Queries, catalogue, candidates, ties, repeats and the policy for cold users."""
    cells = folds_of(results, data)
    protocol = cells[0].about["protocol"]
    ranking = protocol["ranking"]
    repeats = {"drop": "targets in the history are dropped", "keep": "repeats count as targets"}
    keeps = protocol["queries"]["repeats"] == "keep"
    masked = "the user's history included" if keeps else "less the user's history"
    catalogue = {"fit": "items with a fitted row", "all": "items of the whole data"}
    out = [
        ("Catalogue", catalogue.get(ranking["catalogue"], f"file {ranking['catalogue']}")),
        ("Candidates", f"{ranking['candidates']}, {masked}; the same for all"),
        ("Eligible items", f"file {ranking['eligible']}" if ranking["eligible"] else ""),
        ("Cold users", COLD[ranking["cold_users"]]),
        ("Repeats", repeats[protocol["queries"]["repeats"]]),
        ("Ties", protocol["ties"]),
        ("Protocol id", ", ".join(cell.about["protocol_id"] for cell in cells)),
    ]
    return [(term, text) for term, text in out if text]


_FIRST = {
    "defaults": "each model's default settings, where its space has them",
    "drawn": "drawn as the others",
}


def tuning_terms(results: Results) -> Terms:
    """How settings were chosen."""
    tune = results.spec.tune
    if tune is None:
        return [("Search", "none: all settings are fixed in the benchmark file")]
    budget = f"{tune.trials:,} trials" if tune.trials else f"{tune.seconds:g} seconds"
    own = [f"{m.title}: {m.trials:,} trials" for m in results.spec.model if m.trials]
    out = [
        ("Chosen by", f"{parse(tune.metric)} on validation queries only ({tune.users} users)"),
        ("Budget per model", budget + (f"; by exception {', '.join(own)}" if own else "")),
        ("Sampler", f"{tune.sampler}, seed {tune.seed}"),
        ("First trial", _FIRST[tune.first] if tune.sampler != "grid" else ""),
        ("Then fitted on", tune.refit),
        ("Seeds of the final fits", plain_text(list(results.spec.seeds))),
    ]
    return [(term, text) for term, text in out if text]


def parts_grid(results: Results, data: str) -> Grid:
    """Rows, users, items and span of time of each part of the split."""
    cells = folds_of(results, data)
    rows = []
    for cell in cells:
        fold = f", fold {cell.about['fold']}" if len(cells) > 1 else ""
        found = cell.about["card"]["parts"]
        for name in sorted(found, key=ORDER.index):
            part = found[name]
            counts = [f"{part[what]:,}" for what in ("rows", "users", "items")]
            span = [str(part.get(end) or UNDEFINED) for end in ("first", "last")]
            rows.append(tuple(Cell(text) for text in [name + fold, *counts, *span]))
    return Grid("", ("part", "rows", "users", "items", "first", "last"), tuple(rows))


def counts_grid(results: Results, data: str) -> Grid:
    """Policies that were applied while ranking, summed over folds (first seed)."""
    models = [model for model in results.models if results.of(data, model)]
    summed = {model: _summed(folds_of(results, data, model)) for model in models}
    names = [name for name in COUNTS if any(name in counts for counts in summed.values())]
    names += sorted({name for counts in summed.values() for name in counts} - set(names))
    rows = [
        (Cell(COUNTS.get(name, name.replace("_", " "))), *_counts(summed, name, models))
        for name in names
    ]
    if len({tuple(counts.items()) for counts in summed.values()}) == 1:
        return Grid("", ("count", "all models"), tuple(row[:2] for row in rows))
    return Grid("", ("count", *models), tuple(rows))


def _counts(summed: Mapping[str, dict[str, int]], name: str, models: Sequence[str]) -> list[Cell]:
    return [Cell(f"{summed[m][name]:,}" if name in summed[m] else UNDEFINED) for m in models]


def _summed(cells: Sequence[CellResult]) -> dict[str, int]:
    out: dict[str, int] = {}
    for cell in cells:
        for name, count in cell.about["counts"].items():
            out[name] = out.get(name, 0) + count
    return dict(sorted(out.items()))


def _step(step: Mapping[str, Any]) -> str:
    """``name: settings; note; note``."""
    rest = {name: value for name, value in step.items() if name not in ("step", "notes")}
    parts = [plain_text(rest)] if rest else []
    return f"{step.get('step', 'step')}: {'; '.join([*parts, *step.get('notes', ())])}"


def _steps(steps: Sequence[Mapping[str, Any]]) -> str:
    """Filters as they were written in the benchmark file."""
    return "; ".join(plain_text(step) for step in steps) or "none"
