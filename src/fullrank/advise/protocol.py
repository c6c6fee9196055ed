"""What learners are worth on data sets that they have not seen: leave one data set out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.advise._regret import Outcome, outcome, standing
from fullrank.advise.learners._base import LEAST_SETS, Learner
from fullrank.advise.table import CELL, GROUP, cells, codes
from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.estimate import Estimate
from fullrank.core.random import RNG, derive, seed_of
from fullrank.stats import mean_interval
from fullrank.stats.interval import Method

if TYPE_CHECKING:
    import polars as pl

RANDOM, FIXED, ORACLE = "random", "fixed", "oracle"
BASELINES = (RANDOM, FIXED, ORACLE)
Measure = Literal["regret", "p@1", "mse"]
MEASURES: tuple[Measure, ...] = ("regret", "p@1", "mse")
_BOUNDS = {"regret": (0.0, 2.0), "p@1": (0.0, 1.0), "mse": (0.0, 4.0)}
_ASSUMES = "data sets are a simple random sample of those that are to be advised on"

FeaturesOf = Callable[[Sequence[str]], "pl.DataFrame"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Learners and baselines on data sets left out.

    Attributes:
        groups: a row for each chooser and group: ``chooser, data, scenario, metric, keep, regret,
            p@1, mse`` and ``samplers``, how many there were to choose from.
        predictions: a row for each learner and cell: ``chooser``, the cell, ``tau`` and
            ``predicted``.
        skipped: groups without a choice, those of a single sampler.
        unmeasured: cells of the table without a tau.
        seed: of everything drawn.
    """

    groups: pl.DataFrame
    predictions: pl.DataFrame
    skipped: int
    unmeasured: int
    seed: int

    @property
    def choosers(self) -> list[str]:
        """Baselines, then learners as they were given."""
        return self.groups["chooser"].unique(maintain_order=True).to_list()

    def by_data(self, chooser: str, measure: Measure) -> NDArray[np.float64]:
        """Mean over the groups of each data set, in the data sets' order: float64 ``[data sets]``.

        Raises:
            SpecError: there is no such chooser or measure.
        """
        if measure not in MEASURES:
            raise SpecError(f"there is no measure {measure!r}{suggest(measure, MEASURES)}")
        if chooser not in self.choosers:
            raise SpecError(f"there is no chooser {chooser!r}{suggest(chooser, self.choosers)}")
        mine = self.groups.filter(self.groups["chooser"] == chooser).select("data", measure)
        means = mine.group_by("data").mean().sort("data")
        return np.asarray(means[measure].to_numpy(), np.float64)

    def value(
        self, chooser: str, measure: Measure, *, level: float = 0.95, method: Method = "auto"
    ) -> Estimate:
        """A chooser's mean over data sets, which count alike and are what is resampled.

        Args:
            chooser: of ``choosers``.
            measure: ``"regret"`` (best tau less the chosen one), ``"p@1"`` (share of groups where
                the chosen tau is the best, ties counting as hits) or ``"mse"``.
            level: of the interval.
            method: as for ``fullrank.stats.mean_interval``: a bootstrap over data sets from 20 of
                them upwards, and a t interval below, where a bootstrap's are too short; either is
                widened where something was learnt (``of_data_sets``).
        """
        values, learnt = self.by_data(chooser, measure), chooser not in (RANDOM, ORACLE)
        found = mean_interval(
            values, level=level, method=method, rng=derive(self.seed, "interval"),
            bounds=_BOUNDS[measure] if learnt else None,
        )  # fmt: skip
        low, high = _BOUNDS[measure]
        wide = of_data_sets(found, learnt=learnt)
        return replace(wide, low=max(wide.low, low), high=min(wide.high, high))

    def gain(
        self,
        chooser: str,
        over: str = RANDOM,
        measure: Measure = "regret",
        *,
        level: float = 0.95,
        method: Method = "auto",
    ) -> Estimate:
        """How much better a chooser is than another one, by data set: above 0 is better.

        Arguments as ``value``; ``over`` is the other one. For regret and mse, where less is better,
        the other's less the chooser's.
        """
        gap = self.by_data(chooser, measure) - self.by_data(over, measure)
        found = mean_interval(
            gap if measure == "p@1" else -gap, level=level, method=method,
            rng=derive(self.seed, "interval"),
        )  # fmt: skip
        return of_data_sets(found, learnt={chooser, over} - {RANDOM, ORACLE} != set())

    def summary(self, *, level: float = 0.95, method: Method = "auto") -> pl.DataFrame:
        """``chooser, measure, value, low, high, data_sets`` for every chooser and measure."""
        import polars as pl

        rows = []
        for chooser in self.choosers:
            for measure in MEASURES:
                found = self.value(chooser, measure, level=level, method=method)
                rows.append((chooser, measure, found.value, found.low, found.high, found.n_users))
        return pl.DataFrame(
            rows, ["chooser", "measure", "value", "low", "high", "data_sets"], orient="row"
        )


@dataclass(frozen=True)
class Verdict:
    """Whether a chooser is worth its while.

    Attributes:
        chooser: who.
        over_random: its gain over a random choice.
        over_fixed: its gain over the sampler that was best on the training data sets.
    """

    chooser: str
    over_random: Estimate
    over_fixed: Estimate

    @property
    def beats_random(self) -> bool:
        """The interval of the gain over a random choice lies above 0."""
        return self.over_random.low > 0

    @property
    def beats_fixed(self) -> bool:
        """The interval of the gain over the best fixed sampler lies above 0."""
        return self.over_fixed.low > 0

    def __str__(self) -> str:
        parts = []
        for name, gain in (
            ("a random choice", self.over_random),
            ("the best fixed sampler", self.over_fixed),
        ):
            word = (
                "better than"
                if gain.low > 0
                else "worse than"
                if gain.high < 0
                else "not told from"
            )
            parts.append(f"{word} {name} (gain {gain})")
        return f"{self.chooser}: {'; '.join(parts)}"


def verdict(
    evaluation: Evaluation,
    chooser: str,
    measure: Measure = "regret",
    *,
    level: float = 0.95,
    method: Method = "auto",
) -> Verdict:
    """Say whether the intervals of a chooser's gains exclude 0.

    One chooser that was named beforehand: of several, tried one after another, one will exclude 0
    by chance.

    Args:
        evaluation: from ``evaluate``.
        chooser: of its choosers.
        measure: what is to be gained in.
        level: of the intervals.
        method: of the intervals.
    """
    over = [
        evaluation.gain(chooser, other, measure, level=level, method=method)
        for other in (RANDOM, FIXED)
    ]
    return Verdict(chooser, *over)


def evaluate(
    table: pl.DataFrame,
    features: pl.DataFrame | FeaturesOf,
    learners: Mapping[str, Learner],
    rng: RNG = 0,
) -> Evaluation:
    """Let learners choose a sampler on each data set in turn, having learnt from the others alone.

    In the published protocol training and test cells are of the same data sets and samples; here
    nothing of the data set left out reaches the training, and its taus reach nobody but the judge.

    Beside the learners stand ``random``, whose regret and P@1 are expectations over all samplers
    of a group and whose prediction is the mean training tau; ``fixed``, the sampler whose tau
    exceeded the mean of its group most on the training data sets (the next one, where a group
    doesn't have it), which predicts that mean and excess; and ``oracle``, which knows the taus.

    Args:
        table: ``data, scenario, metric, keep, strategy, tau, tau_sd``, a row a cell. Cells without
            tau are left out and counted.
        features: a row a sample (see ``fullrank.advise.table.joined``); or what makes it, called
            with the names of the training data sets, for features that are learnt from data sets
            themselves (``InfoGraph``).
        learners: by name.
        rng: seed or Generator.

    Raises:
        DataError: tables that can't be used, or of fewer than four data sets.
        SpecError: a learner by the name of a baseline, or without its library.
    """
    import polars as pl

    taken = sorted(set(learners) & set(BASELINES))
    if taken:
        raise SpecError(f"{taken[0]!r} is a baseline; give the learner another name")
    known, seed = cells(table), seed_of(rng)
    sets = known["data"].unique().sort().to_list()
    if len(sets) <= LEAST_SETS:
        raise DataError(
            f"leaving one data set out needs at least {LEAST_SETS + 1} with taus, got {len(sets)}"
        )
    rows, predictions, skipped = [], [], 0
    for one in sets:
        test, training = known.filter(known["data"] == one), known.filter(known["data"] != one)
        others = [name for name in sets if name != one]
        found = features(others) if callable(features) else features
        predicted = _baselines(training, test)
        for name, learner in learners.items():
            fitted = learner.fit(training, found, derive(seed, one, name), level=None)
            taus = fitted.predict(test.select(CELL), found)["tau"].to_numpy()
            predicted[name] = taus, taus
            predictions.append(
                test.select(*CELL, "tau").with_columns(
                    pl.lit(name).alias("chooser"), pl.Series("predicted", taus)
                )
            )
        part, alone = _outcomes(test, predicted)
        rows += part
        skipped += alone
    order = {name: place for place, name in enumerate([*BASELINES, *learners])}
    if not rows:
        raise DataError("no data set, scenario, metric and size has two samplers to choose from")
    rows.sort(key=lambda row: order[str(row[0])])
    return Evaluation(
        pl.DataFrame(rows, _SCHEMA, orient="row"),
        pl.concat(predictions) if predictions else known.select(*CELL, "tau").clear(),
        skipped, len(table) - len(known), seed,
    )  # fmt: skip


_SCHEMA = ["chooser", *GROUP, *MEASURES, "samplers"]
_Predicted = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def _baselines(training: pl.DataFrame, test: pl.DataFrame) -> _Predicted:
    """Scores and predicted taus of the baselines for the test cells."""
    stand = standing(
        codes(training, CELL[:1]), codes(training, GROUP), training["strategy"].to_list(),
        training["tau"].to_numpy(),
    )  # fmt: skip
    new = sorted(set(test["strategy"]) - set(stand.gap))
    if new:
        raise DataError(
            f"the strategy {new[0]!r} was run on the data set {test['data'][0]!r} alone: nothing "
            "can be learnt of it; leave its cells out"
        )
    gaps = np.array([stand.gap[name] for name in test["strategy"]])
    even, tau = np.zeros(len(test)), test["tau"].to_numpy()
    return {RANDOM: (even, even + stand.mean), FIXED: (gaps, stand.mean + gaps), ORACLE: (tau, tau)}


def _outcomes(test: pl.DataFrame, predicted: _Predicted) -> tuple[list[tuple[object, ...]], int]:
    """Rows of ``_SCHEMA`` for the groups of a data set, and how many had no choice."""
    group, tau = codes(test, GROUP), test["tau"].to_numpy()
    rows: list[tuple[object, ...]] = []
    skipped = 0
    for one in np.unique(group):
        at = np.flatnonzero(group == one)
        if len(at) < 2:
            skipped += 1
            continue
        which = test.select(GROUP).row(int(at[0]))
        for name, (scores, taus) in predicted.items():
            found: Outcome = outcome(tau[at], scores[at], taus[at])
            rows.append((name, *which, found.regret, found.hit, found.error, len(at)))
    return rows, skipped


def of_data_sets(found: Estimate, *, learnt: bool) -> Estimate:
    """The estimate in the words of what was resampled, wider where something was learnt.

    Choices for two data sets were learnt from nearly the same others, and each from the other of
    the two: they agree more than independent ones, which the spread over data sets doesn't show.
    Nadeau & Bengio 2003's factor for the variance, ``1 + K / (K - 1)`` with K data sets, makes up
    for it: of 840 intervals of gains at 95 %, in 120 made-up worlds of 12 data sets with nothing to
    learn, 15 % excluded 0 without it and 3 % with it.
    """
    n, said = found.n_users, []
    for text in found.assumptions:
        sample = text.startswith("users are a simple")
        said.append(_ASSUMES if sample else text.replace("users", "data sets"))
    method = found.method.replace("by user", "by data set")
    if not learnt or n < 2:
        return replace(found, assumptions=tuple(said), method=method)
    wider = float(np.sqrt(1 + n / (n - 1)))
    return replace(
        found,
        low=found.value - wider * (found.value - found.low),
        high=found.value + wider * (found.high - found.value),
        se=wider * found.se,
        assumptions=(*said, "choices that share training data agree as Nadeau & Bengio suppose"),
        method=f"{method}, widened by {wider:.2f} for shared training data",
    )
