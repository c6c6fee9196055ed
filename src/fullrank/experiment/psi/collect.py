"""From a finished Psi grid to meta-data that learners of samplers take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank.advise import Features, MetaData, taus
from fullrank.advise.meta_data import SAMPLE, SECONDS
from fullrank.advise.table import CELL, NAMES
from fullrank.core.errors import DataError
from fullrank.core.random import derive
from fullrank.experiment.bench import Fold
from fullrank.experiment.psi.costs import sample_costs
from fullrank.experiment.psi.grid import _draw, reference
from fullrank.experiment.psi.run import PsiResults
from fullrank.experiment.psi.samples import draw
from fullrank.experiment.psi.shapes import PsiSpec, SamplerSpec
from fullrank.experiment.store import Store
from fullrank.split._base import TRAIN
from fullrank.subsample import Subsample, parse_sampler

if TYPE_CHECKING:
    import polars as pl


def collect(
    data: str,
    found: PsiResults,
    store: str | Path,
    *,
    base: Path | None = None,
    source: str = "",
    features: Features | None = None,
) -> MetaData:
    """Taus, features and costs of a finished grid of one data set.

    Call it right after ``fullrank.psi``, with the same store and base, and save what comes:
    ``collect("coat", found, "runs/coat").save("meta/coat")``. Nothing is fitted: samples are read
    from the store, and measured (about a second a sample and million rows). Scenarios, metrics and
    samplers should be named alike in the files of all data sets, since learners know them by name:
    scenarios ``explicit``, ``implicit``, ``sequential``, and samplers by their own names and
    settings, whatever their labels (the strategy in the tables is ``SVPCF(unit=user)``).

    Where every seed has a grid of its own, collect each, and average them by
    ``MetaData.repeated(parts).save(folder)``.

    Taus are means over the repeats. Features are those of one sample, of the first split and draw
    that are of use, as there will be one sample of data that are advised on. Costs are means over
    splits and draws.

    Args:
        data: name of the data set in the tables.
        found: what the grid gave.
        store: its folder.
        base: folder that paths of the spec are relative to; the current one by default.
        source: where the data are from, and their terms, for ``about.json``.
        features: what is measured; ``Features()`` by default.

    Raises:
        DataError: no sample of use at all; two samplers of the same settings.
    """
    import polars as pl

    spec, place = found.spec, base or Path.cwd()
    names = _strategies(spec)
    table = taus(data, [*found.terms.terms, *found.terms.missing]).with_columns(
        pl.col("strategy").replace_strict(names), pl.col("tau", "tau_sd").round(6)
    )
    how, where = features or Features(), Store.open(store)
    rows: list[dict[str, Any]] = []
    sizes: dict[str, Any] = {}
    for number, scenario in enumerate(spec.scenario):
        measured = _Measured(spec, number, place, where, how)
        sizes = sizes or measured.sizes
        for key, values in measured.rows(names):
            rows.append({"data": data, "scenario": scenario.name, **key, **values})
    if not rows:
        raise DataError(f"no sample of {data!r} is of use; there is nothing to learn of it")
    text = [name for name in SAMPLE if name in NAMES]
    exact = [*text, "keep"]
    frame = pl.DataFrame(rows).with_columns(pl.all().exclude(exact).cast(pl.Float32))
    about = {**sizes, "source": source, **_about(spec)}
    costs = _costs(data, found, where, names)
    return MetaData(table.sort(CELL), frame.sort(SAMPLE), costs.sort(SAMPLE), {data: about})


def _strategies(spec: PsiSpec) -> dict[str, str]:
    """By label the text of each sampler."""
    out = {one.title: strategy_text(one) for one in spec.sampler}
    for label, text in out.items():
        same = [other for other in out if out[other] == text]
        if len(same) > 1:
            raise DataError(
                f"the samplers {same[0]!r} and {same[1]!r} are both {text}, of the same settings; "
                f"leave {label!r} out"
            )
    return out


def strategy_text(sampler: SamplerSpec) -> str:
    """A sampler as learners know it: without the scenario and the file of importances."""
    how = parse_sampler(sampler.name, sampler.settings)
    if hasattr(how, "importance"):
        how = replace(how, importance="")  # type: ignore[call-arg]
    return str(how)


class _Measured:
    """Features of the samples of one scenario."""

    def __init__(self, spec: PsiSpec, number: int, base: Path, store: Store, how: Features) -> None:
        self.spec, self.number, self.base, self.store, self.how = spec, number, base, store, how
        self.folds: dict[int, tuple[Fold, dict[str, float]]] = {}

    @property
    def sizes(self) -> dict[str, int]:
        """Of the data after the filters before the split."""
        rows = self._full(self.spec.seeds.split[0])[0].split.data
        users, items = (int(np.count_nonzero(n)) for n in (rows.user_counts, rows.item_counts))
        return {"rows": len(rows), "users": users, "items": items}

    def rows(self, names: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
        """Keys and features of each sample."""
        for j, sampler in enumerate(self.spec.sampler):
            for keep in self.spec.keep:
                values = self._first(j, sampler.title, keep)
                if values is not None:
                    yield {"keep": keep, "strategy": names[sampler.title]}, values

    def _full(self, seed: int) -> tuple[Fold, dict[str, float]]:
        """The full data under one seed of the split, and its features."""
        if seed not in self.folds:
            fold = reference(self.spec, self.number, seed, self.base)
            draws = derive(seed, "features")
            self.folds[seed] = fold, self.how.of(fold.split.train, draws)
        return self.folds[seed]

    def _first(self, sampler: int, label: str, keep: float) -> dict[str, float] | None:
        """Features of the first sample that is of use."""
        for seed in self.spec.seeds.split:
            fold, whole = self._full(seed)
            for drawn in self.spec.seeds.sampler:
                how = _draw(self.spec, self.number, sampler, drawn, self.base)
                samples = draw(self.store, fold, how, label)
                if keep not in samples.folds:
                    continue
                kept = samples.folds[keep].split.part[fold.split.part == TRAIN] == TRAIN
                rows = np.flatnonzero(kept).astype(np.int64)
                sample = Subsample(fold.split.train, rows, samples.manifests[keep])
                return self.how.of_sample(sample, whole, derive(seed, "features"))
        return None


def _costs(data: str, found: PsiResults, store: Store, names: Mapping[str, str]) -> pl.DataFrame:
    """Seconds of each scenario alone, rounded to milliseconds."""
    import polars as pl

    out = []
    for scenario in found.spec.scenario:
        grid = [done for done in found.grid if done.which.scenario == scenario.name]
        full, *samples = sample_costs(found.spec, store, grid)
        for cost in samples:
            key = (data, scenario.name, cost.keep, names[cost.sampler])
            out.append((*key, cost.draw_seconds, cost.study_seconds, full.study_seconds))
    text, number = pl.String, pl.Float64
    shape = {name: text if name in NAMES else number for name in (*SAMPLE, *SECONDS)}
    return pl.DataFrame(out, shape, orient="row").with_columns(pl.col(*SECONDS).round(4))


def _about(spec: PsiSpec) -> dict[str, Any]:
    """What of the file a reader must know."""
    policies = ("size", "catalogue", "dropped", "cold_users", "ties")
    return {
        "filters": spec.filters.model_dump(mode="json"),
        "policies": {name: getattr(spec, name) for name in policies},
        "floor": spec.floor.model_dump(mode="json"),
        "seeds": spec.seeds.model_dump(mode="json"),
        "scenarios": {
            one.name: {
                "split": one.split.model_dump(mode="json", exclude={"seed"}),
                "metrics": list(one.metrics),
                "models": [model.title for model in one.model],
                "tune": None if one.tune is None else one.tune.model_dump(mode="json"),
                **({"filters": one.filters.model_dump(mode="json")} if one.filters else {}),
            }
            for one in spec.scenario
        },
    }
