"""Who leads, by how much, and who can't be told apart from the leader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from fullrank.core.estimate import Estimate
from fullrank.experiment.leaderboard import (
    Entry,
    Testing,
    Users,
    base_entry,
    compare_groups,
    entries,
    only,
)
from fullrank.experiment.measure import measure
from fullrank.experiment.results import Results
from fullrank.experiment.spec import BenchSpec
from fullrank.metrics import Metric
from fullrank.report._numbers import known
from fullrank.report.board import BETTER, Row, best_value, mark_of
from fullrank.stats import adjust

FEW = 20
"""Users below which nobody is said to lead: bootstrap intervals are too short there as well."""


@dataclass(frozen=True)
class Standing:
    """The leader of one data set, segment and metric.

    Attributes:
        data: name of the data set.
        users: segment.
        metric: judged by.
        leader: label of the (first) model with the best value; None if no model has one.
        value: of the leader, with its interval.
        baseline: label of the model that the tests of this metric compare with.
        alone: no other model has a value of this metric.
        equals: other models with the very same value; nobody leads then.
        test: the leader against the baseline (the leaderboard's own family); None if the leader
            is the baseline, or without a test.
        ahead: models that the leader is significantly better than, the baseline left aside.
        tied: models that can't be told apart from it, the baseline left aside.
        family: what ``ahead`` and ``tied`` were judged by.
    """

    data: str
    users: Users
    metric: Metric
    leader: str | None
    value: Estimate | None
    baseline: str
    alone: bool = False
    equals: tuple[str, ...] = ()
    test: Row | None = None
    ahead: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    family: str = ""

    @property
    def small(self) -> bool:
        """Too few users to say who leads."""
        return self.value is not None and self.value.n_users < FEW

    def apart_from(self, model: str | None) -> bool:
        """True if a test tells the leader apart from a model."""
        if model == self.baseline:
            return mark_of(self.test) != ""
        return model in self.ahead


def standings(
    results: Results, tests: Iterable[Row], metric: Metric | None = None
) -> list[Standing]:
    """The leaders of every data set and segment by one metric.

    The leader was picked by its value, so it may not be tested against the others as if it had
    been named before: its p-values are adjusted over all pairs of models (baseline aside, which
    the leaderboard's own tests judge), whichever leads.

    Args:
        results: of a benchmark.
        tests: of ``experiment.paired_tests``, against the baseline.
        metric: to judge by; the first of the benchmark file by default.
    """
    metric = metric or results.metrics[0]
    tests = [test for test in tests if test["metric"] == str(metric)]
    shared = None if metric in results.metrics else (metric,)
    found = entries(results, shared, source=metric.source)
    out = []
    for data in results.data:
        here = [entry for entry in found if entry.data == data]
        for users in here[0].segments if here else ():
            judged = [t for t in tests if t["data"] == data and t["users"] == users]
            out.append(_standing(here, users, metric, judged, results.spec))
    return out


def _standing(
    here: Sequence[Entry], users: Users, metric: Metric, tests: Sequence[Row], spec: BenchSpec
) -> Standing:
    level, base = spec.level, base_entry(here, spec.baseline_title)
    baseline = spec.baseline_title if base is None else base.model
    values = {}
    for entry in here:
        mask = entry.mask(users)
        found = measure(entry.averaged[metric][mask], entry.users[mask], level=level)
        values[entry.model] = found.estimate
    best = best_value(metric, (value.value for value in values.values()))
    leaders = [name for name, value in values.items() if value.value == best]
    if not leaders:
        return Standing(here[0].data, users, metric, None, None, baseline)
    leader, *equals = leaders
    alone = sum(known(value.value) for value in values.values()) == 1
    if leader == baseline:
        rows, family = list(tests), tests[0]["family"] if tests else ""
    else:
        rivals = [e for e in here if e.model != baseline and known(values[e.model].value)]
        rows, family = _pairs(rivals, metric, leader, users, level)
    ahead = tuple(str(row["model"]) for row in rows if _behind(row, leader))
    tied = tuple(str(r["model"]) for r in rows if r["model"] not in ahead and _tested(r))
    own = next((test for test in tests if test["model"] == leader), None)
    first = here[0].data, users, metric, leader, values[leader], baseline, alone
    return Standing(*first, tuple(equals), own, ahead, tied, family)


def _pairs(
    rivals: Sequence[Entry], metric: Metric, leader: str, users: Users, level: float
) -> tuple[list[Row], str]:
    """Tests of the leader against each rival, adjusted over all pairs of rivals."""
    found = {}
    for a, b in combinations(rivals, 2):
        one = compare_groups([[only(b, (metric,)), only(a, (metric,))]], users, Testing(level))[0]
        found[a.model, b.model] = one
    if not found:
        return [], ""
    label = f"all pairs of {len(rivals)} models"
    names = {f"{a}\x1f{b}": (a, b) for a, b in found}
    family = adjust({name: found[pair]["p"] for name, pair in names.items()}, family=label)
    rows = []
    for name, pair in names.items():
        if leader in pair:
            row = {**found[pair], "p_adjusted": family.adjusted[name]}
            rows.append(_against(row, leader))
    return rows, str(family)


def _against(row: Row, leader: str) -> Row:
    """The row as a test of the rival against the leader."""
    if row["baseline"] == leader:
        return row
    turned = None if row["difference"] is None else -row["difference"]
    return {**row, "model": row["baseline"], "baseline": leader, "difference": turned}


def _behind(row: Row, leader: str) -> bool:
    """True if the row says that its model is significantly worse than the leader."""
    return row["baseline"] == leader and mark_of(row) not in ("", BETTER)


def _tested(row: Row) -> bool:
    return row["p_adjusted"] is not None
