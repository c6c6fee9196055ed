"""What a study on a sample costs, drawing it included, against the study on the full data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fullrank.experiment.psi.grid import Done
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.results import CellResult, read_cell
from fullrank.experiment.store import Store


@dataclass(frozen=True)
class SampleCost:
    """One sampler at one size: all scenarios together, mean over splits and draws.

    Attributes:
        sampler: label; empty for the full data.
        keep: share kept; 1 for the full data.
        draw_seconds: drawing the sample, a proxy's training included.
        study_seconds: searches, final fits and ranking of all models (mean over training seeds).
        seconds: both together.
        share: of the seconds of the full data; None if anything is missing.
        joules: of the machine for both, where it has a counter.
        joules_share: of those of the full data.
    """

    sampler: str
    keep: float
    draw_seconds: float | None
    study_seconds: float | None
    seconds: float | None
    share: float | None
    joules: float | None
    joules_share: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Spent:
    """Seconds and joules; None where unknown."""

    seconds: float | None
    joules: float | None


def sample_costs(spec: PsiSpec, store: Store, grid: Sequence[Done]) -> tuple[SampleCost, ...]:
    """Costs of the full data, then of every sampler and size.

    Wall times on the machine that each cell was made on; a sample that several scenarios share is
    paid for once. Energy of samples is that of drawing all sizes, which share their order.

    Args:
        spec: the file.
        store: with the cells.
        grid: what was done.
    """
    full = _row(spec, store, "", 1.0, [done for done in grid if not done.which.sampler], None)
    out = [full]
    for sampler in spec.sampler:
        for keep in spec.keep:
            mine = [
                done for done in grid if done.which[2] == sampler.title and done.which.keep == keep
            ]
            out.append(_row(spec, store, sampler.title, keep, mine, full))
    return tuple(out)


def _row(
    spec: PsiSpec,
    store: Store,
    sampler: str,
    keep: float,
    grid: Sequence[Done],
    full: SampleCost | None,
) -> SampleCost:
    repeats = len(spec.seeds.split) * (len(spec.seeds.sampler) if sampler else 1)
    study = [_study(spec, store, done) for done in grid]
    drawn = [_drawn(done) for done in {done.samples: done for done in grid}.values()]
    if not sampler:
        drawn = []
    draw_seconds = _sum([one.seconds for one in drawn], repeats)
    study_seconds = _sum([one.seconds for one in study], repeats)
    joules = _sum([one.joules for one in (*study, *drawn)], repeats)
    seconds = _sum([draw_seconds, study_seconds], 1)
    return SampleCost(
        sampler,
        keep,
        draw_seconds,
        study_seconds,
        seconds,
        _share(seconds, seconds if full is None else full.seconds),
        joules,
        _share(joules, joules if full is None else full.joules),
    )


def _sum(values: Sequence[float | None], over: int) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / over if len(known) == len(values) else None


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _drawn(done: Done) -> _Spent:
    seconds = done.manifest.get("seconds") if done.manifest else None
    return _Spent(
        None if seconds is None else float(sum(seconds.values())),
        done.resources.get("sample_joules"),
    )


def _study(spec: PsiSpec, store: Store, done: Done) -> _Spent:
    """Searches of all models, and their fits and ranking, mean over training seeds."""
    if done.unusable or done.failures:
        return _Spent(None, None)
    fits = len(spec.seeds.training)
    cells = [read_cell(store, key, done.tuning[key]) for key in done.keys.values()]
    parts = [_fit(cell, fits) for cell in cells]
    searches = {about["key"]: about for about in done.tuning.values() if about}
    for key, about in searches.items():
        trials = [t["resources"].get("trial_joules") for t in store.trials(key)[: about["trials"]]]
        parts.append(_Spent(about["seconds"], _sum(trials, 1)))
    return _Spent(_sum([p.seconds for p in parts], 1), _sum([p.joules for p in parts], 1))


def _fit(cell: CellResult, fits: int) -> _Spent:
    resources = cell.about["resources"]
    return _Spent(
        _sum([resources.get("fit_seconds"), resources.get("rank_seconds")], fits),
        _sum([resources.get("fit_joules"), resources.get("rank_joules")], fits),
    )
