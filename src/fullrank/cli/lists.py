"""``evaluate`` and ``compare``: lists that some system made, and systems side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fullrank.cli._output import (
    busy,
    check_output,
    interval,
    parse_columns,
    parse_read,
    print_json,
    print_line,
    print_table,
    warn,
)
from fullrank.cli._say import FAILED, say
from fullrank.core.brief import count
from fullrank.core.errors import SpecError

if TYPE_CHECKING:
    from fullrank.experiment.compare import Comparison
    from fullrank.experiment.condition import Condition

Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Column names, such as user_id=uid,item_id=iid,rank=pos."),
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        help="Reading options of all files of text, such as encoding=latin-1 or separator=';'.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Metrics = Annotated[
    list[str],
    typer.Option("-m", "--metric", help="Such as ndcg@10 or recall@5,10; may be repeated."),
]
Train = Annotated[
    Path | None,
    typer.Option(help="What users had before: removed from lists and truth unless --keep-seen."),
]
KeepSeen = Annotated[bool, typer.Option("--keep-seen", help="Evaluate repeat consumption.")]
Grade = Annotated[
    str | None, typer.Option(help="Column with gains; 1 without (of qrels: relevance).")
]
Depth = Annotated[int | None, typer.Option(help="Depth the lists were cut at.")]
Level = Annotated[float, typer.Option(help="Confidence level.")]
Interval = Annotated[
    Literal["auto", "analytic", "percentile", "bca", "poisson"],
    typer.Option("--interval", help="How intervals are made."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]


def evaluate(
    recs: Annotated[Path, typer.Option(help="Lists: user_id, item_id and rank, else score.")],
    truth: Annotated[Path, typer.Option(help="Held-out items: user_id, item_id.")],
    metric: Metrics,
    train: Train = None,
    keep_seen: KeepSeen = False,
    grade: Grade = None,
    depth: Depth = None,
    by: Annotated[
        str | None, typer.Option(help="FILE:COLUMN with user_id: slice by that column.")
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(help="Write per-query values; a .parquet can be given to compare."),
    ] = None,
    dialects: Annotated[
        bool, typer.Option("--dialects", help="What other tools would say of the same lists.")
    ] = False,
    columns: Columns = None,
    read: Read = None,
    level: Level = 0.95,
    interval_method: Interval = "auto",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 1000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Score recommendation lists: every metric with an interval, every policy counted.

    The truth says who is evaluated: a user without a list counts as zero. Ties between equal
    scores are averaged out exactly.
    """
    from fullrank.experiment.evaluate import evaluate as measure

    if per_query is not None:
        check_output(per_query)
    with busy("evaluating", quiet=json):
        found = measure(
            recs,
            truth,
            metric,
            train=train,
            keep_seen=keep_seen,
            grade=grade,
            depth=depth,
            columns=parse_columns(columns),
            read=parse_read(read),
            by=_segment(by),
            level=level,
            method=interval_method,
            resamples=resamples,
            seed=seed,
        )
        if per_query is not None:
            per_query.parent.mkdir(parents=True, exist_ok=True)
            found.save(per_query)
        others = _dialects(found) if dialects else None
    for text in found.warnings:
        warn(text)
    if json:
        print_json(found.to_dict() | ({} if others is None else {"dialects": others}))
        return
    _print_evaluation(found, others)


def _segment(by: str | None) -> tuple[Path, str] | None:
    if by is None:
        return None
    file, sign, column = by.rpartition(":")
    if not sign or not file or not column:
        raise SpecError(f"--by takes FILE:COLUMN, got {by!r}")
    return Path(file), column


def _dialects(found: Any) -> list[dict[str, Any]]:
    from fullrank.metrics.dialects import dialects

    return [row.to_dict() for row in dialects(found.ranked, list(found.values))]


def _print_evaluation(found: Any, others: list[dict[str, Any]] | None) -> None:
    def row(name: str, m: Any) -> list[str]:
        e = m.to_dict()
        tied = e["best"] != e["worst"] and e["best"] is not None
        ties = f"{e['worst']:.4f} to {e['best']:.4f}" if tied else ""
        counts = [f"{e['n_queries']:,}", f"{e['undefined']:,}"]
        return [name, interval(e["value"], e["low"], e["high"]), *counts, ties]

    head = ["metric", f"value [{found.level:.0%} interval]", "queries", "undefined", "ties allow"]
    print_table(head, [row(str(m.metric), m) for m in found.measurements])
    for name, part in found.by_segment.items():
        typer.echo("")
        print_table(head, [row(str(m.metric), m) for m in part], title=f"segment {name}")
    typer.echo("")
    policies = [[name.replace("_", " "), f"{n:,}"] for name, n in found.ranked.counts.items() if n]
    print_table(["counted", ""], policies)
    design = found.ranked.design
    typer.echo("")
    print_line(f"gain: {design['gain']}; order: {design['order']}")
    print_line(f"interval: {_methods(found.measurements)}; protocol {found.protocol_id}")
    if others is not None:
        typer.echo("")
        keys = ("metric", "tool", "value", "why")
        rows = [[_text(entry.get(key)) for key in keys] for entry in others]
        print_table(list(keys), rows, title="the same lists in other tools' definitions")


def _methods(measurements: Sequence[Any]) -> str:
    """How the intervals were made; the metrics of each way where there are several."""
    ways: dict[str, list[str]] = {}
    for m in measurements:
        ways.setdefault(m.estimate.method, []).append(str(m.metric))
    if len(ways) == 1:
        return next(iter(ways))
    return "; ".join(f"{way} ({', '.join(names)})" for way, names in ways.items())


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(help="Stores, saved evaluations, or lists with --truth; baseline first."),
    ],
    truth: Annotated[Path | None, typer.Option(help="Held-out items, for lists.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option("-m", "--metric", help="Such as ndcg@10.")
    ] = None,
    train: Train = None,
    keep_seen: KeepSeen = False,
    grade: Grade = None,
    depth: Depth = None,
    columns: Columns = None,
    read: Read = None,
    baseline: Annotated[str | None, typer.Option(help="Label of another baseline.")] = None,
    test: Annotated[str, typer.Option(help="auto, t, wilcoxon or sign_flip.")] = "auto",
    correction: Annotated[str, typer.Option(help="holm, bh or none.")] = "holm",
    level: Level = 0.95,
    interval_method: Interval = "auto",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of a difference.")] = 10_000,
    seed: Seed = 0,
    users: Annotated[
        list[str] | None,
        typer.Option(help="Beside all users also warm or cold ones; may be repeated."),
    ] = None,
    data: Annotated[str | None, typer.Option(help="Data set of stores with several.")] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit 1 if this holds for a system: 'ndcg@10 < baseline'. An undefined value "
            "fails; a value without an interval (one user) is not judged, with a warning. "
            "A check that passes is said."
        ),
    ] = None,
    on: Annotated[
        Literal["interval", "value"],
        typer.Option(help="--fail-if judges the whole interval, or the point."),
    ] = "interval",
    force: Annotated[
        bool, typer.Option("--force", help="Compare different protocols, and say what differs.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare systems query by query, with paired intervals and tests.

    Numbers of different protocols are not put side by side unless forced. Pairs are matched by
    query; p-values are adjusted over the family that the output names.
    """
    from fullrank.experiment.compare import compare as measure
    from fullrank.experiment.condition import Condition

    conditions = [Condition.parse(text) for text in fail_if or ()]
    with busy("comparing", quiet=json):
        found = measure(
            systems,
            truth=truth,
            metrics=metric or (),
            baseline=baseline,
            test=test,
            correction=correction,
            level=level,
            method=interval_method,
            resamples=resamples,
            seed=seed,
            users=users or ["all"],
            data=data,
            force=force,
            train=train,
            keep_seen=keep_seen,
            grade=grade,
            depth=depth,
            columns=parse_columns(columns),
            read=parse_read(read),
        )
    checks = _checks(conditions, found, on)
    for text in found.differs:
        warn(f"protocols differ in {text}")
    for text in (*found.warnings, *checks["not_judged"]):
        warn(text)
    if json:
        print_json({**found.to_dict(), **checks})
    else:
        _print_comparison(found, checks["passed"])
    if checks["failures"]:
        say("; ".join(checks["failures"]))
        raise typer.Exit(FAILED)


def _checks(
    conditions: Sequence[Condition], found: Comparison, on: Literal["interval", "value"]
) -> dict[str, list[str]]:
    """What the conditions say of a comparison."""
    return {
        "failures": [text for one in conditions for text in one.failures(found, on)],
        "not_judged": [text for one in conditions for text in one.not_judged(found, on)],
        "passed": [text for one in conditions for text in one.passed(found, on)],
    }


def _print_comparison(found: Any, passed: Sequence[str]) -> None:
    def name(model: str) -> str:
        return f"{model} †" if model in found.forced else model

    rows = [
        [
            name(row["model"]),
            row["users"],
            row["metric"],
            interval(row["value"], row["low"], row["high"]),
        ]
        for row in found.leaderboard
        if row["seed"] is None
    ]
    print_table(["system", "users", "metric", "value [interval]"], rows)
    typer.echo("")
    head = ["system", "users", "metric", "difference [interval]", "p", "adjusted p", "effect"]
    head.append("win/tie/loss")
    pairs = [f"{name(row['model'])} - {name(row['baseline'])}" for row in found.tests]
    print_table(head, [[pair, *_test_row(row)] for pair, row in zip(pairs, found.tests)])
    typer.echo("")
    for line in (*_comparison_notes(found), *passed):
        print_line(line)


def _test_row(row: dict[str, Any]) -> list[str]:
    """What a test says, beside the system's name."""
    p, adjusted = row["p"], row["p_adjusted"]
    effect = row["effect_size"]
    return [
        row["users"],
        row["metric"],
        interval(row["difference"], row["low"], row["high"]),
        "–" if p is None else f"{p:.3g}" + (" (no difference)" if _same(row) else ""),
        "–" if adjusted is None else f"{adjusted:.3g}",
        "–" if effect is None else f"{effect:+.2f}",
        f"{row['wins']:,}/{row['ties']:,}/{row['losses']:,}",
    ]


def _same(row: dict[str, Any]) -> bool:
    return bool(row["note"] == "no difference")


def _comparison_notes(found: Any) -> list[str]:
    """What the numbers are: marks, tests, pairs, effect, families."""
    out = []
    if found.forced:
        out.append(f"† another protocol: only the {found.n_shared:,} queries that all share")
    tests = found.tests
    if not tests:
        return [*out, "no test: no metric has two systems"]
    judged = [row for row in tests if not _same(row)]
    for kind, method in (("test", "test"), ("interval of a difference", "method")):
        ways = dict.fromkeys(row[method] for row in judged or tests)
        out.append(f"{kind}: {'; '.join(ways)}")
    out += [f"pairs: {text}" for text in dict.fromkeys(map(_pairs, tests))]
    out.append("effect: Cohen's d_z, the mean difference in standard deviations over users")
    out.append("win/tie/loss: users whose mean is higher, the same, or lower than the baseline's")
    return [*out, *dict.fromkeys(row["family"] for row in tests)]


def _pairs(row: dict[str, Any]) -> str:
    unit = ("query", "queries") if row["scale"] == "metric" else ("row", "rows")
    users = "user" if row["users"] == "all" else f"{row['users']} user"
    return f"{count(row['n_queries'], *unit)} of {count(row['n_users'], users)}"
