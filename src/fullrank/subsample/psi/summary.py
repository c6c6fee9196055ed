"""Psi of each sampler over the terms that all samplers have, with intervals and decompositions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.subsample.psi.agreement import MEASURES
from fullrank.subsample.psi.terms import Missing, Place, Repeat, Term


@dataclass(frozen=True)
class Value:
    """A mean of agreements; None where undefined.

    Attributes:
        value: the mean over places, each the mean over its repeats.
        low: lower end by resampled users.
        high: upper end.
        low_repeats: lower end by repeats (t interval over their outermost seeds, cut off at what
            the measure can be).
        high_repeats: upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    low_repeats: float | None = None
    high_repeats: float | None = None


@dataclass(frozen=True, eq=False)
class Terms:
    """All terms of a grid.

    Attributes:
        samplers: labels, in their order.
        places: what was asked for.
        repeats: what was asked for.
        terms: that could be had.
        missing: that could not, and why.
        level: confidence level.
    """

    samplers: tuple[str, ...]
    places: tuple[Place, ...]
    repeats: tuple[Repeat, ...]
    terms: tuple[Term, ...]
    missing: tuple[Missing, ...] = ()
    level: float = 0.95

    @cached_property
    def _by_key(self) -> dict[tuple[str, Place, Repeat], Term]:
        return {(term.sampler, term.place, term.repeat): term for term in self.terms}

    @cached_property
    def common(self) -> tuple[Place, ...]:
        """Places that every sampler has in every repeat: what Psi is the mean over."""
        return tuple(place for place in self.places if all(map(self._has(place), self.samplers)))

    def own(self, sampler: str) -> tuple[Place, ...]:
        """Places that a sampler has in every repeat."""
        return tuple(place for place in self.places if self._has(place)(sampler))

    def _has(self, place: Place) -> Callable[[str], bool]:
        return lambda sampler: all((sampler, place, r) in self._by_key for r in self.repeats)

    def of(self, sampler: str, places: Sequence[Place] | None = None) -> list[Term]:
        """Terms of a sampler at some places, those in common by default."""
        chosen = self.common if places is None else places
        return [self._by_key[sampler, place, r] for place in chosen for r in self.repeats]

    @property
    def unit(self) -> str:
        """The outermost seed that varies, whose values are the repeats that intervals go by."""
        for name in Repeat._fields:
            if len({getattr(repeat, name) for repeat in self.repeats}) > 1:
                return name
        return "none"

    @property
    def units(self) -> int:
        """How many values it has."""
        return len({self._unit(repeat) for repeat in self.repeats})

    def _unit(self, repeat: Repeat) -> Hashable:
        return getattr(repeat, self.unit) if self.unit != "none" else 0

    def grid(
        self, sampler: str, measure: str, places: Sequence[Place] | None = None
    ) -> NDArray[np.float64]:
        """Agreements float64 ``[places, repeats]``."""
        chosen = self.common if places is None else places
        values = [term.values[measure] for term in self.of(sampler, chosen)]
        return np.array(values, dtype=np.float64).reshape(len(chosen), len(self.repeats))

    def by_unit(
        self, sampler: str, measure: str, places: Sequence[Place] | None = None
    ) -> NDArray[np.float64]:
        """Means of agreements over places by value of ``unit``: float64 ``[units]``."""
        columns = _mean(self.grid(sampler, measure, places), axis=0)
        keys = list(dict.fromkeys(map(self._unit, self.repeats)))
        return np.array(
            [
                np.mean([c for c, r in zip(columns, self.repeats) if self._unit(r) == k])
                for k in keys
            ]
        )

    def drawn(
        self, sampler: str, measure: str, places: Sequence[Place] | None = None
    ) -> NDArray[np.float64] | None:
        """Means of agreements over places with resampled users: float64 ``[r]``, or None.

        A place that has no value in a resample (all algorithms tie) is left out of it.
        """
        terms = self.of(sampler, self.common if places is None else places)
        if not terms or not all(term.drawn for term in terms):
            return None
        by_place: dict[Place, list[NDArray[np.float64]]] = {}
        for term in terms:
            by_place.setdefault(term.place, []).append(term.drawn[measure])
        return _mean(np.array([np.mean(rows, axis=0) for rows in by_place.values()]), axis=0)

    def value(self, sampler: str, measure: str, places: Sequence[Place] | None = None) -> Value:
        """The mean over places, with its intervals."""
        chosen = self.common if places is None else places
        if not chosen:
            return Value(None)
        mean = float(_mean(_mean(self.grid(sampler, measure, chosen), axis=1), axis=0))
        if not isfinite(mean):
            return Value(None)
        low, high = ends(self.drawn(sampler, measure, chosen), self.level)
        span = (-1.0, 1.0) if measure.endswith("tau") else (0.0, 1.0)
        by_repeats = t_ends(self.by_unit(sampler, measure, chosen), self.level, span)
        return Value(mean, low, high, *by_repeats)


def _mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Mean of what is defined; NaN where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "mean of empty slice" is what NaN says
        return np.asarray(np.nanmean(values, axis=axis))


def ends(drawn: NDArray[np.float64] | None, level: float) -> tuple[float | None, float | None]:
    """Percentile interval; None where fewer than half of the resamples have a value."""
    if drawn is None:
        return None, None
    kept = drawn[~np.isnan(drawn)]
    if len(kept) < max(len(drawn) / 2, 2):
        return None, None
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def t_ends(
    units: NDArray[np.float64], level: float, span: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Student's interval of the mean of independent repeats, within ``span``; None for one."""
    if len(units) < 2 or np.isnan(units).any():
        return None, None
    from scipy.special import stdtrit

    half = stdtrit(len(units) - 1, (1 + level) / 2) * units.std(ddof=1) / np.sqrt(len(units))
    return max(float(units.mean() - half), span[0]), min(float(units.mean() + half), span[1])


@dataclass(frozen=True)
class Standing:
    """One sampler.

    Attributes:
        sampler: label.
        psi: by measure the mean over the places that all samplers have; Psi is that of tau.
        balanced: Psi with every scenario counting alike.
        warm: Psi over the users that the samples leave a training row, ranked on both sides.
        own: Psi over all places that this sampler has; not comparable between samplers.
        own_terms: how many these are, its own lambda.
        by_size: Psi by share kept.
        by_scenario: by scenario.
        by_metric: by metric.
    """

    sampler: str
    psi: dict[str, Value]
    balanced: float | None
    warm: float | None
    own: float | None
    own_terms: int
    by_size: dict[float, Value]
    by_scenario: dict[str, Value]
    by_metric: dict[str, Value]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"by_size": {f"{k:g}": asdict(v) for k, v in self.by_size.items()}}


def standings(terms: Terms) -> tuple[Standing, ...]:
    """Every sampler in its order."""
    return tuple(_standing(terms, sampler) for sampler in terms.samplers)


def _standing(terms: Terms, sampler: str) -> Standing:
    by_scenario = _grouped(terms, sampler, lambda place: place.scenario)
    scenarios = [v.value for v in by_scenario.values() if v.value is not None]
    own = terms.own(sampler)
    return Standing(
        sampler,
        {name: terms.value(sampler, name) for name in MEASURES},
        float(np.mean(scenarios)) if scenarios else None,
        _warm(terms, sampler),
        terms.value(sampler, "tau", own).value,
        len(own),
        _grouped(terms, sampler, lambda place: place.keep),
        by_scenario,
        _grouped(terms, sampler, lambda place: place.metric),
    )


def _grouped(terms: Terms, sampler: str, key: Callable[[Place], Any]) -> dict[Any, Value]:
    groups: dict[Any, list[Place]] = {}
    for place in terms.common:
        groups.setdefault(key(place), []).append(place)
    return {name: terms.value(sampler, "tau", places) for name, places in groups.items()}


def _warm(terms: Terms, sampler: str) -> float | None:
    """Mean over warm users; that over all where a sample leaves nobody cold."""
    found = [t.values["tau"] if t.warm is None else t.warm for t in terms.of(sampler)]
    if not found or np.isnan(found).any():
        return None
    return float(np.mean(found))


@dataclass(frozen=True)
class PairShare:
    """Two algorithms under one sampler: how often their order was kept.

    Attributes:
        sampler: label.
        scenario: label.
        first: an algorithm.
        second: another one.
        terms: metrics × sizes × repeats.
        kept: share in which their order is that of the full data.
        reversed: share in which it is the other one.
        tied: share in which they tie on one side or on both.
    """

    sampler: str
    scenario: str
    first: str
    second: str
    terms: int
    kept: float
    reversed: float
    tied: float


def pair_shares(terms: Terms) -> tuple[PairShare, ...]:
    """Every pair of algorithms in every scenario, by sampler, over the common terms."""
    out = []
    for sampler in terms.samplers:
        groups: dict[str, list[Term]] = {}
        for term in terms.of(sampler):
            groups.setdefault(term.place.scenario, []).append(term)
        for scenario, group in groups.items():
            signs = np.array([term.full * term.sample for term in group])
            models = group[0].models
            for j, (a, b) in enumerate(zip(*np.triu_indices(len(models), k=1), strict=True)):
                shares = [float(np.mean(signs[:, j] == sign)) for sign in (1, -1, 0)]
                names = models[int(a)], models[int(b)]
                out.append(PairShare(sampler, scenario, *names, len(group), *shares))
    return tuple(out)
