"""The grid of Psi: every scenario, split, sample and model, run by the benchmark runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from fullrank.core.errors import SpecError, told
from fullrank.experiment.bench import Fold, Sampled, make_folds
from fullrank.experiment.check import check
from fullrank.experiment.psi.samples import Draw, Samples, check_rows, draw
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.psi.spec import bench_of, floor_of, is_explicit, sampler_of, within
from fullrank.experiment.ready import check_fold
from fullrank.experiment.run import Runner, count_of, place_of, seeds_of
from fullrank.experiment.spec import Locate, nowhere
from fullrank.experiment.store import Store
from fullrank.metrics import parse_many


class Which(NamedTuple):
    """A fold of the grid.

    Attributes:
        scenario: label.
        split: seed of the split.
        sampler: label; empty for the full data.
        draw: seed of the sample; 0 for the full data.
        keep: share kept; 1 for the full data.
    """

    scenario: str
    split: int
    sampler: str = ""
    draw: int = 0
    keep: float = 1.0


@dataclass(frozen=True, eq=False)
class Done:
    """What is left of a fold: keys of cells, or why there are none.

    Attributes:
        which: place in the grid.
        keys: of cells by label and seed of the fit; every training seed has an entry.
        tuning: summaries of searches, by key of the cell.
        failures: by label why a model has no cell.
        unusable: why the whole sample is of no use; empty if it is of use.
        samples: key of the samples in the store; empty for the full data.
        manifest: of the sample; empty for the full data.
        resources: of drawing the samples of all sizes.
    """

    which: Which
    keys: Mapping[tuple[str, int], str] = field(default_factory=dict)
    tuning: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    unusable: str = ""
    samples: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, float | None] = field(default_factory=dict)


def check_grid(spec: PsiSpec, base: Path, locate: Locate) -> None:
    """Load the data and make the first split of every scenario, so that a fault is said early.

    Args:
        spec: checked by ``check_psi``.
        base: folder that paths are relative to.
        locate: names file and line of a place.

    Raises:
        FullrankError: data, split, queries or strategies that don't go together.
    """
    for number, scenario in enumerate(spec.scenario):
        here = within(spec, number, locate)
        fold = reference(spec, number, spec.seeds.split[0], base, locate)
        tuned = any(model.search is not None for model in scenario.model)
        check_fold(fold, parse_many(scenario.metrics), tuned=tuned, locate=here)
        check_rows(fold, [], is_explicit(spec, number))
        for j, sampler in enumerate(spec.sampler):
            with told(locate(("sampler", j))):
                check_rows(fold, [sampler_of(spec, sampler, number, base)], explicit=False)


def reference(spec: PsiSpec, number: int, seed: int, base: Path, locate: Locate = nowhere) -> Fold:
    """The full data of a scenario under one seed of its split.

    Raises:
        SpecError: the strategy gives several folds.
    """
    scenario = spec.scenario[number]
    bench = bench_of(spec, number, seed, locate)
    folds = make_folds(bench, base, within(spec, number, locate))
    if len(folds) > 1:
        raise SpecError(
            f"{locate(('scenario', number, 'split'))}{scenario.split.strategy} gives {len(folds)} "
            "folds and Psi takes one split at a time; take a strategy with one, and several seeds "
            "under [seeds]"
        )
    seeded = f" (split {seed})" if len(spec.seeds.split) > 1 else ""
    return replace(folds[0], sampled=Sampled(folds[0].split, f"{scenario.name}{seeded}"))


def work(spec: PsiSpec, base: Path, store: Store, runner: Runner) -> Iterator[Done]:
    """Draw, fit and rank all that is not in the store yet.

    Folds are made one strategy at a time, so that memory holds the samples of one.

    Args:
        spec: the file.
        base: folder that paths are relative to.
        store: of the run.
        runner: that keeps failures.
    """
    for number, scenario in enumerate(spec.scenario):
        for seed in spec.seeds.split:
            full = reference(spec, number, seed, base)
            runner.work([full])
            yield done_of(full, Which(scenario.name, seed), runner)
            for j, seeds in [(j, s) for j in range(len(spec.sampler)) for s in spec.seeds.sampler]:
                label = spec.sampler[j].title
                which = Which(scenario.name, seed, label, seeds)
                found = draw(store, full, _draw(spec, number, j, seeds, base), label)
                runner.work(list(found.folds.values()))
                yield from _done(found, which, spec, runner)


def _draw(spec: PsiSpec, number: int, sampler: int, seed: int, base: Path) -> Draw:
    how = sampler_of(spec, spec.sampler[sampler], number, base)
    policies = spec.catalogue, spec.dropped
    return Draw(how, spec.keep, seed, spec.size, floor_of(spec), *policies)


def _done(found: Samples, which: Which, spec: PsiSpec, runner: Runner) -> Iterator[Done]:
    for keep in spec.keep:
        here = which._replace(keep=keep)
        if keep in found.unusable:
            done = Done(here, unusable=found.unusable[keep])
        else:
            done = done_of(found.folds[keep], here, runner)
            done = replace(done, manifest=found.manifests[keep])
        yield replace(done, samples=found.key, resources=found.resources)


def done_of(fold: Fold, which: Which, runner: Runner) -> Done:
    """What the runner has of a fold."""
    keys: dict[tuple[str, int], str] = {}
    failures: dict[str, str] = {}
    for model in fold.spec.model:
        failed = runner.failures.get(place_of(fold, model, None)[:3])
        if failed is not None:
            failures[model.title] = failed
            continue
        fits = {seed: runner.keys[place_of(fold, model, seed)] for seed in seeds_of(fold, model)}
        for seed in fold.spec.seeds:
            keys[model.title, seed] = fits[None] if None in fits else fits[seed]
    tuning = {key: runner.tuning[key] for key in keys.values()}
    return Done(which, keys, tuning, failures)


def total(spec: PsiSpec) -> int | None:
    """Trials and cells of the whole grid; None while a budget in seconds leaves it open."""
    out = 0
    samples = len(spec.sampler) * len(spec.seeds.sampler) * len(spec.keep)
    for number in range(len(spec.scenario)):
        found = count_of(bench_of(spec, number, spec.seeds.split[0]))
        if found is None:
            return None
        out += found * len(spec.seeds.split) * (1 + samples)
    return out


def share(spec: PsiSpec, base: Path, store: Store, of: tuple[int, int]) -> None:
    """Work on a share of the grid in a process of its own."""
    for number in range(len(spec.scenario)):
        check(bench_of(spec, number, spec.seeds.split[0]), base)  # imports models of one's own
    runner = Runner(store, lambda _: None, of, keep_failures=True)
    for _ in work(spec, base, store, runner):
        pass
