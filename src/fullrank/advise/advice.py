"""``advise``: which sampler to take for data of which no study was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from fullrank.advise._asked import Asked, samplers_of, settle
from fullrank.advise._draws import Drawn, draws
from fullrank.advise._saving import Saving, saving
from fullrank.advise.features import Features
from fullrank.advise.learners import Fitted, Learner, Ridge
from fullrank.advise.learners._gain import NUMBERS
from fullrank.advise.meta_data import MetaData
from fullrank.advise.record import ADVISED, BASELINE, LEVEL, ROWS, is_taken
from fullrank.advise.shipped import shipped_data, shipped_evaluation, shipped_model
from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, SpecError
from fullrank.core.estimate import Estimate
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.split import Split
from fullrank.subsample import Floor, Subsample

if TYPE_CHECKING:
    import polars as pl

_HERE = "these data"
_KEEP = "keep"
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Predicted:
    """A sampler on these data.

    Attributes:
        strategy: text of the sampler.
        tau: predicted agreement of the rankings of algorithms on the sample and on all rows.
        low: lower end of the interval for the tau as it would be measured.
        high: upper end.
        rows: of the sample.
        draw_seconds: of drawing it here, a proxy's training included.
        outside: features that lie outside those learnt from.
        saving: of time, on the data sets that were measured; None where it wasn't.
    """

    strategy: str
    tau: float
    low: float
    high: float
    rows: int
    draw_seconds: float
    outside: int
    saving: Saving | None


@dataclass(frozen=True)
class Gain:
    """Of the best other sampler over ``RandomInteractions``, in tau.

    Attributes:
        strategy: the best other one.
        value: predicted.
        low: lower end of the interval for a mean over metrics and sizes, by jackknife+ over data
            sets (``Fitted.gains``).
        high: upper end.
        single_low: lower end for two single samples by this metric, noise included.
        single_high: upper end.
        usual: what it gained on average over data sets left out, at the size nearest to that asked
            for, to take the best prediction; None with fewer than two.
        usual_low: lower end of its interval, at 95 %.
        usual_high: upper end.
        data_sets: whose errors the intervals are made of.
    """

    strategy: str
    value: float
    low: float
    high: float
    single_low: float
    single_high: float
    usual: float | None
    usual_low: float | None
    usual_high: float | None
    data_sets: int

    @property
    def is_sure(self) -> bool:
        """The interval for data like these lies above 0."""
        return self.low > 0


@dataclass(frozen=True)
class Record:
    """How advice did on data sets left out, having learnt from the others.

    Attributes:
        data_sets: how many.
        gain: of the advised sampler over random rows, in tau.
        regret: best tau less that of the advised sampler, by chooser: ``advised``, ``random rows``,
            ``random`` (a sampler by lot) and ``fixed`` (the one that was best on the others).
    """

    data_sets: int
    gain: Estimate
    regret: Mapping[str, Estimate]


@dataclass(frozen=True, eq=False)
class Advice:
    """Which sampler to take, and how sure that is.

    Attributes:
        advised: strategy; ``RandomInteractions`` unless another one is better: for these data
            (the interval of the gain lies above 0) or on average over data sets left out.
        gain: of the best other sampler over ``RandomInteractions``.
        samplers: those that were drawn, best first.
        undrawn: by strategy why there is no sample.
        scenario: what is ranked.
        chosen_by: why this scenario.
        metric: that algorithms are ranked by.
        keep: share of the rows.
        level: of the intervals.
        names: of the features that were measured.
        outside: by name those of the data themselves, and the share kept, that lie outside of what
            was learnt from: the value, and the least and largest one there.
        learnt_from: names of the data sets with the scenario.
        learner: what predicts.
        record: of the shipped model; None for another one.
        samples: that were drawn.
    """

    advised: str
    gain: Gain
    samplers: tuple[Predicted, ...]
    undrawn: Mapping[str, str]
    scenario: str
    chosen_by: str
    metric: str
    keep: float
    level: float
    names: tuple[str, ...]
    outside: Mapping[str, tuple[float, float, float]]
    learnt_from: tuple[str, ...]
    learner: str
    record: Record | None
    samples: Mapping[str, Subsample]

    def __repr__(self) -> str:
        gain = f"gain {self.gain.value:+.2f} [{self.gain.low:+.2f}, {self.gain.high:+.2f}]"
        return brief(self, self.advised, count(len(self.samplers), "sampler"), gain)

    @property
    def beats_random(self) -> bool:
        """Another sampler than ``RandomInteractions`` is advised."""
        return self.advised != BASELINE

    @property
    def sample(self) -> Subsample:
        """The advised sample."""
        return self.samples[self.advised]

    @property
    def best(self) -> Predicted:
        """The advised sampler."""
        return next(one for one in self.samplers if one.strategy == self.advised)

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank advise``."""
        record = self.record
        return {
            "advised": self.advised,
            "beats_random": self.beats_random,
            "gain": asdict(self.gain),
            "samplers": [asdict(one) for one in self.samplers],
            "undrawn": dict(self.undrawn),
            "scenario": self.scenario,
            "metric": self.metric,
            "keep": self.keep,
            "level": self.level,
            "learner": self.learner,
            "learnt_from": list(self.learnt_from),
            "features": len(self.names),
            "outside": {
                name: dict(zip(("value", "low", "high"), one)) for name, one in self.outside.items()
            },
            "record": None if record is None else {
                "data_sets": record.data_sets,
                "gain": _estimate(record.gain),
                "regret": {name: _estimate(one) for name, one in record.regret.items()},
            },
        }  # fmt: skip


def _estimate(found: Estimate) -> dict[str, float]:
    return {name: getattr(found, name) for name in ("value", "low", "high", "level")}


def advise(
    data: Interactions | Split,
    keep: float,
    *,
    scenario: str | None = None,
    metric: str | None = None,
    strategies: Sequence[str] | None = None,
    proxies: bool = True,
    learner: Learner | None = None,
    meta: MetaData | None = None,
    level: float = LEVEL,
    rng: RNG = 0,
    floor: Floor | None = None,
) -> Advice:
    """Say which sampler keeps the ranking of algorithms best on data of which no study was made.

    Data-genie of Sachdeva, Wu & McAuley 2022: a sample is drawn by each sampler, features of the
    data, the sample and their relation are measured, and a model that learnt from other data sets
    predicts tau. Nothing is fitted on these data but proxies of samplers that need one.

    A sampler is advised if the interval of its gain over ``RandomInteractions``, as a mean over
    metrics and sizes, lies above 0 (both are predicted by one model at a time, with jackknife+ over
    data sets), or if to take the best prediction was better than random rows on average over the
    data sets left out. Else random rows are advised.

    Args:
        data: a split, of which the training rows are sampled, or training rows.
        keep: share of the rows.
        scenario: of those learnt from; by default ``explicit`` if the values differ, else
            ``sequential`` if there are times, else ``implicit``.
        metric: that algorithms are ranked by; NDCG@10 by default, or the first by name.
        strategies: samplers to choose from, ``RandomInteractions`` always among them; by default
            all that were learnt from. One that is named must be possible.
        proxies: False leaves samplers that train a proxy out.
        learner: fitted on the meta-data here; by default the shipped model, or ``Ridge()`` for
            other meta-data.
        meta: what is learnt from; the shipped meta-data by default.
        level: of intervals, in (0.5, 1).
        rng: seed or Generator.
        floor: of usable samples; ``Floor()`` by default.

    Raises:
        SpecError: an unknown scenario, metric or strategy, a share or level out of range.
        DataError: no sample of use, or the data lack what was asked for.

    Example:
        >>> import fullrank as fr
        >>> train = fr.read("online-retail").interactions
        >>> found = advise(train, 0.1, strategies=["RandomUsers"])
        >>> found.advised in found.samples
        True
    """
    if not 0.5 < level < 1:
        raise SpecError(f"the level of intervals must be in (0.5, 1), got {level!r}")
    rows = data.train if isinstance(data, Split) else data
    known = shipped_data() if meta is None else meta
    asked = settle(known, rows, scenario, metric)
    how, left = samplers_of(known, asked.scenario, strategies, BASELINE, proxies=proxies)
    seed = seed_of(rng)
    shipped = learner is None and meta is None
    if shipped:
        fitted = replace(shipped_model(), level=level)
    else:  # before the samples are drawn: its library may be missing
        fitted = (learner or Ridge()).fit(known.taus, known.features, seed, level=level)
    needed = [BASELINE, *(how if strategies is not None else ())]
    found, reasons = draws(data, how, keep, seed, floor, Features(), needed)
    reasons = {**left, **reasons}
    if len(found) < 2:
        why = next(iter(reasons.values()), "name another strategy beside it")
        raise DataError(f"{BASELINE} is the only sampler to choose from; {why}")
    return _advice(asked, keep, found, reasons, fitted, known, shipped=shipped)


def _advice(
    asked: Asked,
    keep: float,
    found: Mapping[str, Drawn],
    reasons: Mapping[str, str],
    fitted: Fitted,
    known: MetaData,
    *,
    shipped: bool,
) -> Advice:
    import polars as pl

    key = {"data": _HERE, "scenario": asked.scenario, "keep": keep}
    features = pl.DataFrame([{**key, "strategy": s, **one.features} for s, one in found.items()])
    features = features.with_columns(pl.all().exclude([*key, "strategy"]).cast(pl.Float32))
    table = features.select(*key, "strategy").with_columns(metric=pl.lit(asked.metric))
    taus = fitted.predict(table, features)
    gain = fitted.gains(table, features, BASELINE).row(0, named=True)
    best = Gain(*(gain[name] for name in ("strategy", *NUMBERS, "data_sets")))
    outside = _outside(features, known.features, [_KEEP, *fitted.design.features])
    rows = []
    for row in taus.sort("tau", descending=True, maintain_order=True).iter_rows(named=True):
        strategy = row["strategy"]
        one = found[strategy]
        rows.append(
            Predicted(
                strategy, row["tau"], row["low"], row["high"], len(one.sample.rows), one.seconds,
                len(outside[strategy]), saving(known.costs, asked.scenario, strategy, keep),
            )
        )  # fmt: skip
    taken = is_taken(best.value, best.low, best.usual_low)
    advised = best.strategy if taken else BASELINE
    return Advice(
        advised, best, tuple(rows), reasons, asked.scenario, asked.chosen_by, asked.metric, keep,
        fitted.level or LEVEL, fitted.design.features,
        {k: v for k, v in outside[advised].items() if k == _KEEP or k.startswith("full.")},
        asked.data_sets, fitted.learner.name, _record() if shipped else None,
        {strategy: one.sample for strategy, one in found.items()},
    )  # fmt: skip


def _outside(
    features: pl.DataFrame, known: pl.DataFrame, names: Sequence[str]
) -> dict[str, dict[str, tuple[float, float, float]]]:
    """By strategy the features beyond the least and largest learnt from, with these.

    A feature that the data don't have is none, and neither is one that no data set had.
    """
    import polars as pl

    clean = known.select(pl.col(names).cast(pl.Float64).fill_nan(None))
    low, high = (part.row(0, named=True) for part in (clean.min(), clean.max()))
    out: dict[str, dict[str, tuple[float, float, float]]] = {}
    for row in features.iter_rows(named=True):
        mine = out.setdefault(row["strategy"], {})
        for name in names:
            value, least, most = row[name], low[name], high[name]
            if least is None or value != value:
                continue
            slack = _ROUNDING * max(abs(least), abs(most), 1)
            if not least - slack <= value <= most + slack:
                mine[name] = (value, least, most)
    return out


def _record() -> Record:
    """How the shipped model did on data sets left out."""
    known = shipped_evaluation()
    choosers = (ADVISED, ROWS, "random", "fixed")
    return Record(
        known.groups["data"].n_unique(),
        known.gain(ADVISED, ROWS),
        {name: known.value(name, "regret") for name in choosers},
    )
