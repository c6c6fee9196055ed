"""``psi``: how well samplers of data keep the ranking of algorithms, from a file to intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fullrank.core.brief import brief, count
from fullrank.experiment.measure import number
from fullrank.experiment.provenance import provenance
from fullrank.experiment.psi.costs import SampleCost, sample_costs
from fullrank.experiment.psi.grid import Done, check_grid, share, total, work
from fullrank.experiment.psi.scores import make_terms
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.psi.spec import check_psi, read_psi
from fullrank.experiment.run import Runner, Step, helpers
from fullrank.experiment.spec import Locate, nowhere
from fullrank.experiment.store import Store
from fullrank.metrics import parse_many
from fullrank.subsample.psi import (
    Comparison,
    Null,
    PairShare,
    Standing,
    Terms,
    compare_samplers,
    pair_shares,
    psi_null,
    standings,
)


@dataclass(frozen=True, eq=False)
class PsiResults:
    """What a grid found.

    Attributes:
        spec: the file.
        terms: all agreements, and those that are missing.
        costs: of the full data, then of every sampler and size.
        grid: what was done, fold by fold.
        fresh: trials and cells finished since the run that returned this began.
    """

    spec: PsiSpec
    terms: Terms
    costs: tuple[SampleCost, ...]
    grid: tuple[Done, ...]
    fresh: int

    def __repr__(self) -> str:
        return brief(
            self,
            repr(self.spec.name),
            count(len(self.terms.samplers), "sampler"),
            f"{len(self.terms.common)} of {count(len(self.terms.places), 'term')}",
            count(len(self.terms.repeats), "repeat"),
        )

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Psi of every sampler."""
        return standings(self.terms)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Samplers against each other, or against the baseline of the file."""
        return compare_samplers(self.terms, baseline=self.spec.baseline)

    @cached_property
    def pairs(self) -> tuple[PairShare, ...]:
        """How often the order of two algorithms was kept."""
        return pair_shares(self.terms)

    @cached_property
    def nulls(self) -> Mapping[str, Null]:
        """By sampler what permuted labels give; empty without terms in common."""
        samplers = self.terms.samplers if self.terms.common else ()
        return {sampler: psi_null(self.terms.of(sampler)) for sampler in samplers}

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank psi``."""
        terms = self.terms
        return {
            "name": self.spec.name,
            "data": self.spec.data.name,
            "lambda": len(terms.common),
            "asked": len(terms.places),
            "repeats": [repeat._asdict() for repeat in terms.repeats],
            "repeats_of": terms.unit,
            "level": terms.level,
            "resamples": self.spec.resamples,
            "policies": {
                name: getattr(self.spec, name)
                for name in ("catalogue", "dropped", "cold_users", "size", "ties")
            },
            "psi": [
                {**row.to_dict(), "null": _null(self.nulls.get(row.sampler))}
                for row in self.standings
            ],
            "comparisons": [row.to_dict() for row in self.comparisons],
            "pairs": [asdict(row) for row in self.pairs],
            "costs": [row.to_dict() for row in self.costs],
            "missing": [row.to_dict() for row in terms.missing],
            "terms": [_term(term) for term in terms.terms],
            "samples": _samples(self.grid),
            "provenance": provenance(),
        }


def _null(null: Null | None) -> dict[str, Any] | None:
    return None if null is None else asdict(null)


def _term(term: Any) -> dict[str, Any]:
    values = {name: number(value) for name, value in term.values.items()}
    warm = {} if term.warm is None else {"warm": number(term.warm)}
    about = {**term.place._asdict(), "repeat": term.repeat._asdict()}
    return {"sampler": term.sampler, **about, **values, **warm}


def _samples(grid: Sequence[Done]) -> list[dict[str, Any]]:
    """What of each sample a reader must know."""
    return [
        {
            **done.which._asdict(),
            "realised": done.manifest["realised"],
            "cold_users": done.manifest["cold_users"]["count"],
            "cold_items": done.manifest["catalogue"]["cold_items"],
            "fingerprint": done.manifest["fingerprint"]["sample"],
            "notes": done.manifest["notes"],
        }
        for done in grid
        if done.manifest
    ]


def psi(
    bench: str | Path | PsiSpec,
    store: str | Path,
    *,
    base: Path | None = None,
    progress: Callable[[Step], None] | None = None,
    jobs: int = 1,
) -> PsiResults:
    """Measure how well samplers of data keep the ranking of algorithms, or go on with it.

    Every scenario's models are tuned, fitted and ranked on the full training rows and on every
    sample of them, by the runner of benchmarks: on the same validation and test rows, with the
    same budget, the same catalogue and the same policy for cold users. Psi is the mean of
    Kendall's tau-b between the two rankings over scenarios, metrics and sizes.

    Args:
        bench: a Psi file, or a spec.
        store: folder for the results; a finished cell, trial or sample in it is never made again.
        base: folder that paths of a spec are relative to; the file's own by default.
        progress: called after each trial and cell.
        jobs: processes that work on the store together; each loads the data.

    Raises:
        SpecError: a setting, metric or name that can't be understood, before anything is fitted.
        DataError: the data lack what a strategy or metric needs.
    """
    locate: Locate = nowhere
    if isinstance(bench, PsiSpec):
        spec, base = bench, base or Path.cwd()
    else:
        spec, base, locate = read_psi(bench)
    check_psi(spec, base, locate)
    if Store.is_new(store):
        check_grid(spec, base, locate)
    where = Store.open(store, create=True)
    with where.session(), helpers(share, (spec, base), where, jobs):
        runner = Runner(where, progress or (lambda _: None), (0, jobs), keep_failures=True)
        runner.total = total(spec)
        grid = tuple(work(spec, base, where, runner))
        terms = make_terms(spec, where, grid)
        costs = sample_costs(spec, where, grid)
    return PsiResults(spec, terms, costs, grid, runner.step("").fresh)


def metrics_of(spec: PsiSpec) -> tuple[str, ...]:
    """Names of the metrics of all scenarios, each once."""
    found = [str(metric) for s in spec.scenario for metric in parse_many(s.metrics)]
    return tuple(dict.fromkeys(found))
