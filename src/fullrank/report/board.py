"""A leaderboard as a value: who stands where, which is best, what is significant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullrank.core.brief import count
from fullrank.metrics import Metric, parse
from fullrank.report._numbers import decimals_for, known, percent_text, value_text

Row = Mapping[str, Any]

BETTER, WORSE = "▲", "▼"


@dataclass(frozen=True)
class Place:
    """One model under one metric.

    Attributes:
        row: its row of the leaderboard, unrounded.
        test: its paired test against the baseline, or None.
        best: no model has a better value, and some other has one.
    """

    row: Row
    test: Row | None
    best: bool

    @property
    def mark(self) -> str:
        """``▲`` significantly better than the baseline, ``▼`` worse, nothing otherwise."""
        return mark_of(self.test)

    @property
    def ties_matter(self) -> bool:
        """True if the bounds that ties leave open are wider than the interval."""
        best, worst, low, high = (self.row.get(name) for name in ("best", "worst", "low", "high"))
        if None in (best, worst, low, high):
            return False
        return bool(abs(best - worst) > high - low)  # type: ignore[operator]


@dataclass(frozen=True)
class Board:
    """One data set and segment of users.

    Attributes:
        data: name of the data set.
        users: ``"all"``, ``"warm"`` or ``"cold"``.
        models: labels, in the order of the benchmark file.
        metrics: names as in the rows, in their order.
        places: by model and metric.
    """

    data: str
    users: str
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    places: Mapping[tuple[str, str], Place]

    def decimals(self, metric: str) -> int:
        """Decimals of a metric's column."""
        return decimals_for(
            self.places[key].row["value"] for key in self.places if key[1] == metric
        )

    def baseline(self, metric: str) -> str | None:
        """The model that a metric's tests compare with; None without tests."""
        tests = [place.test for key, place in self.places.items() if key[1] == metric]
        return next((str(test["baseline"]) for test in tests if test is not None), None)

    @property
    def counts(self) -> str:
        """How many users and queries (rows, for rating metrics) stand behind the numbers."""
        ranking = [name for name in self.metrics if parse(name).source == "ranks"]
        shown, unit = (ranking, ("query", "queries")) if ranking else (self.metrics, ("row",))
        rows = [place.row for key, place in self.places.items() if key[1] in shown]
        most = max(rows, key=lambda row: row["n_queries"])
        return f"{count(most['n_users'], 'user')}, {count(most['n_queries'], *unit)}"

    @property
    def legend(self) -> tuple[str, ...]:
        """What the marks mean but that of the best, sentence by sentence; only what is shown."""
        places = list(self.places.values())
        tested = [place.test for place in places if place.test is not None]
        out = [_intervals(places)]
        if tested:
            out.extend(_tests(tested))
        out.extend(untested(self))
        if any(place.row.get("seed_spread") is not None for place in places):
            most = max(place.row["seeds"] for place in places)
            out.append(f"±: standard deviation between {most} seeds, unless it rounds to 0.")
        out.extend(_ties(self))
        if any(not known(place.row["value"]) for place in places):
            out.append("–: undefined (no query has a value).")
        return tuple(sentence for sentence in out if sentence)


def mark_of(test: Row | None) -> str:
    """Mark of significance of a paired test."""
    if test is None or test["p_adjusted"] is None or test["difference"] is None:
        return ""
    if test["p_adjusted"] > 1 - test["level"] or test["difference"] == 0:
        return ""
    return BETTER if (test["difference"] > 0) == test["higher_is_better"] else WORSE


def boards(rows: Iterable[Row], tests: Iterable[Row] = (), *, users: str = "all") -> list[Board]:
    """The leaderboards of each data set, from rows averaged over seeds.

    Args:
        rows: of ``experiment.leaderboard``.
        tests: of ``experiment.paired_tests``.
        users: segment; data sets without it are left out.
    """
    chosen = [row for row in rows if row["seed"] is None and row["users"] == users]
    by_key = {(t["data"], t["model"], t["metric"]): t for t in tests if t["users"] == users}
    return [
        _board(data, users, [row for row in chosen if row["data"] == data], by_key)
        for data in dict.fromkeys(row["data"] for row in chosen)
    ]


def _board(
    data: str, users: str, rows: Sequence[Row], tests: Mapping[tuple[str, str, str], Row]
) -> Board:
    metrics = tuple(dict.fromkeys(row["metric"] for row in rows))
    values = {name: [r["value"] for r in rows if r["metric"] == name] for name in metrics}
    best = {name: best_value(name, found) for name, found in values.items()}
    rivals = {name: sum(map(known, found)) > 1 for name, found in values.items()}
    places = {}
    for row in rows:
        model, metric = row["model"], row["metric"]
        is_best = rivals[metric] and row["value"] is not None and row["value"] == best[metric]
        places[model, metric] = Place(row, tests.get((data, model, metric)), is_best)
    return Board(data, users, tuple(dict.fromkeys(r["model"] for r in rows)), metrics, places)


def best_value(metric: str | Metric, values: Iterable[float | None]) -> float | None:
    """The best of some values, None if none is defined."""
    found = [value for value in values if value is not None and known(value)]
    if not found:
        return None
    higher = (parse(metric) if isinstance(metric, str) else metric).higher_is_better
    return max(found) if higher else min(found)


def _intervals(places: Sequence[Place]) -> str:
    with_ends = [place.row for place in places if known(place.row["low"])]
    if not with_ends:
        return ""
    methods = ", ".join(dict.fromkeys(row["method"] for row in with_ends))
    return f"Intervals: {percent_text(with_ends[0]['level'])} ({methods})."


def _tests(tests: Sequence[Row]) -> list[str]:
    alpha = percent_text(1 - tests[0]["level"])
    families = "; ".join(dict.fromkeys(test["family"] for test in tests))
    out = [
        f"{BETTER} better, {WORSE} worse than {baselines_text(tests)} at the {alpha} level after "
        f"{families}; no mark: can't be told apart from it."
    ]
    missing = dict.fromkeys(test["model"] for test in tests if test["p_adjusted"] is None)
    if missing:
        out.append(f"Not tested, no pairs: {', '.join(missing)}.")
    return out


def baselines_text(tests: Sequence[Row]) -> str:
    """The baseline, and what stands in for it where it has no value."""
    first = tests[0]["baseline"]
    own: dict[str, list[str]] = {}
    for test in tests:
        if test["baseline"] != first:
            own.setdefault(test["baseline"], []).append(test["metric"])
    parts = [f"for {', '.join(dict.fromkeys(names))} than {base}" for base, names in own.items()]
    return f"{first}{''.join(f' ({part})' for part in parts)}"


def untested(board: Board) -> list[str]:
    """Why rating metrics of a single model have no test."""
    names = [name for name in board.metrics if parse(name).source == "predictions"]
    models = {name: [model for model, metric in board.places if metric == name] for name in names}
    alone = [name for name in names if len(models[name]) == 1]
    if not alone:
        return []
    only = models[alone[0]][0]
    return [f"No test of {', '.join(alone)}: {only} is the only model here that predicts ratings."]


def _ties(board: Board) -> list[str]:
    found = []
    for model in board.models:
        for metric in board.metrics:
            place = board.places.get((model, metric))
            if place is not None and place.ties_matter:
                row, digits = place.row, board.decimals(metric)
                ends = sorted((row["worst"], row["best"]))
                between = " to ".join(value_text(end, digits) for end in ends)
                found.append(f"{model} ({metric} {between})")
                break
    if not found:
        return []
    return [
        "Many equal scores: the value is the mean over all orders that they leave open, whose "
        f"bounds are wider than the interval for {', '.join(found)}."
    ]
