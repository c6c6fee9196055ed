"""Runs grids and leaves their numbers beside the page, so that a lost store loses nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import fullrank as fr
from fullrank.advise import MetaData
from fullrank.experiment.psi import PsiResults, PsiSpec, collect, psi
from fullrank.experiment.results import read_cell
from fullrank.experiment.run import Step
from fullrank.experiment.spec import parse_spec
from fullrank.experiment.store import Store
from fullrank.metrics import parse_many, per_query_many
from replications.svpcf.grids import Settings, choice
from replications.svpcf.sets import Source

HERE = Path(__file__).parent
RESULTS, META = HERE / "results", HERE / "meta"
DIGITS = 6


def chosen(source: Source, store: Path, trials: int) -> Settings:
    """Settings of the models that rank, chosen on validation rows of the full data.

    Args:
        source: the data set.
        store: folder of the searches.
        trials: of each model and scenario.
    """
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for scenario in source.scenarios:
        if scenario == "explicit":
            continue
        spec = parse_spec(choice(source, scenario, trials))
        found = fr.run(spec, store / scenario, progress=told(f"{source.name}, settings"))
        out[scenario] = {cell.about["model"]: cell.about["settings"] for cell in found.cells}
    return out


def told(title: str, every: float = 60.0) -> Callable[[Step], None]:
    """Say now and then what is at work."""
    last = [0.0]

    def tell(step: Step) -> None:
        now = time.monotonic()
        if now - last[0] >= every:
            last[0] = now
            print(f"{title}: {step.done} of {step.total}: {step.text}", flush=True)

    return tell


def write(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """A table of numbers, rounded to what they can tell."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    number = [column for column in frame.columns if frame[column].dtype == pl.Float64]
    frame.with_columns(pl.col(number).round_sig_figs(DIGITS)).write_csv(folder / f"{name}.csv")


def measure(spec: PsiSpec, store: Path, results: Path, seed: int) -> MetaData:
    """Run a grid, or go on with it; leave its numbers, and return what learners take.

    Args:
        spec: the grid.
        store: of its cells.
        results: folder for the tables.
        seed: of the repeat.
    """
    found = psi(spec, store, progress=told(spec.name))
    save(found, store, results, seed)
    print(f"{found!r}, {found.fresh} fresh: {results}", flush=True)
    return collect(spec.data.name, found, store, source=spec.data.name)


def save(found: PsiResults, store: Path, folder: Path, seed: int) -> None:
    """Write the terms, values, costs and samples of one repeat.

    Args:
        found: results.
        store: they come from.
        folder: for the tables.
        seed: of the repeat.
    """
    write(folder, f"terms-{seed}", [*terms(found)])
    write(folder, f"values-{seed}", [*values(found, Store.open(store))])
    costs = [{k: v for k, v in row.to_dict().items() if "joules" not in k} for row in found.costs]
    write(folder, f"costs-{seed}", costs)
    write(folder, f"samples-{seed}", [*samples(found)])


def terms(found: PsiResults) -> Iterator[dict[str, Any]]:
    """One row a term; those that are missing have no values but a reason."""
    for term in found.terms.terms:
        drawn = term.drawn.get("tau")
        sd = None if drawn is None else float(np.nanstd(drawn, ddof=1))
        yield {**_place(term), **term.values, "warm": term.warm, "sd_users": sd, "missing": None}
    for gone in found.terms.missing:
        yield {**_place(gone), "missing": gone.reason}


def _place(term: Any) -> dict[str, Any]:
    place = term.place
    return {
        "scenario": place.scenario,
        "metric": place.metric,
        "keep": place.keep,
        "sampler": term.sampler,
    }


def values(found: PsiResults, store: Store) -> Iterator[dict[str, Any]]:
    """Values of all models, a row for each sample and metric; the full data have no sampler."""
    metrics = {s.name: parse_many(s.metrics) for s in found.spec.scenario}
    for done in found.grid:
        which = done.which
        rows = {
            str(metric): {
                "scenario": which.scenario,
                "metric": str(metric),
                "keep": which.keep,
                "sampler": which.sampler,
            }
            for metric in metrics[which.scenario]
        }
        for (model, _), key in done.keys.items():
            cell = read_cell(store, key, done.tuning[key])
            for metric, value in _means(cell, metrics[which.scenario]):
                rows[metric][model] = value
        yield from rows.values()


def _means(cell: Any, metrics: Sequence[Any]) -> Iterator[tuple[str, float]]:
    lists = [metric for metric in metrics if metric.source == "ranks"]
    for metric, per_query in per_query_many(cell.ranked, lists).items() if lists else ():
        yield str(metric), float(np.nanmean(per_query))
    for metric in metrics:
        if metric.source == "predictions":
            yield str(metric), float(metric.state(cell.predictions).value)


def samples(found: PsiResults) -> Iterator[dict[str, Any]]:
    """What each sample kept, one row a sample; its notes are those of the manifest."""
    for done in found.grid:
        if not done.manifest:
            continue
        told, which = done.manifest, done.which
        kept = {name: part["kept"] for name, part in told["realised"].items()}
        cold = {"cold_users": told["cold_users"]["count"]}
        cold["cold_items"] = told["catalogue"]["cold_items"]
        about = {"scenario": which.scenario, "keep": which.keep, "sampler": which.sampler}
        yield {**about, **kept, **cold, "notes": "; ".join(told["notes"])}


def write_settings(folder: Path, settings: Settings) -> None:
    """What was chosen for each model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
