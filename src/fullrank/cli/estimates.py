"""``estimate``: metrics of the full ranking from ranks among sampled candidates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli._output import (
    busy,
    interval,
    parse_columns,
    parse_read,
    print_json,
    print_line,
    print_table,
)
from fullrank.core.brief import count

if TYPE_CHECKING:
    from fullrank.core.ranked import TargetRanks
    from fullrank.estimators import Recovered

WHY = (
    "sampled is the metric of the rank among the drawn candidates: fewer items can come before a "
    "target there, so it is another number, larger, and may order models the other way round; "
    "full ranking is the estimate of what ranking the whole catalogue gives"
)


def estimate(
    ranks: Annotated[Path, typer.Argument(help="Table with a column rank, one row a target.")],
    metric: Annotated[
        list[str],
        typer.Option("-m", "--metric", help="Such as ndcg@10 or recall@5,10; may be repeated."),
    ],
    catalog_size: Annotated[
        int | None,
        typer.Option(help="Candidates that could be drawn, and the target; else a column."),
    ] = None,
    sample_size: Annotated[
        int | None, typer.Option(help="Drawn candidates and the target; else a column.")
    ] = None,
    replacement: Annotated[
        bool | None,
        typer.Option(
            "--replacement/--no-replacement",
            help="Whether an item could be drawn twice; else a column.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="auto (the smooth-head fit), or one of: fullrank list estimators.")
    ] = "auto",
    grade: Annotated[str | None, typer.Option(help="Column with gains; 1 without.")] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Column names, such as rank=pos,user_id=uid.")
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", help="Reading options, such as separator=';'."),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples, for methods without posterior draws.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the interval.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Recover metrics of the full ranking from sampled ranks, with an interval.

    RANKS has the rank of each held-out item among sampled candidates and itself. Samples of one
    size, of adaptive sizes and from catalogues that differ by user (masked histories) are told by
    the columns sample_size and catalog_size.
    """
    from fullrank.estimators import estimate as recover
    from fullrank.estimators import read_ranks
    from fullrank.estimators._estimate import as_metrics
    from fullrank.experiment.evaluate import named_metrics

    with busy("estimating", quiet=json):
        ranked = read_ranks(
            ranks,
            sample_size=sample_size,
            catalog_size=catalog_size,
            replacement=replacement,
            grade=grade,
            columns=parse_columns(columns),
            read=parse_read(read),
        )
        found = recover(
            ranked,
            as_metrics(named_metrics(metric)),
            method=method,
            level=level,
            resamples=resamples,
            rng=seed,
        )
    if json:
        print_json(_as_dict(found, ranked))
        return
    _print(found, ranked)


def _as_dict(found: list[Recovered], ranked: TargetRanks) -> dict[str, Any]:
    from fullrank.experiment.evaluate import targets_fingerprint
    from fullrank.experiment.provenance import provenance
    from fullrank.experiment.store import key_of

    protocol = {
        "targets": targets_fingerprint(ranked),
        "candidates": "uniform sample",
        "replacement": ranked.design["replacement"],
    }
    return {
        "metrics": {one.metric: one.to_dict() for one in found},
        "method": found[0].method,
        "policies": dict(ranked.counts),
        "protocol": key_of(protocol),
        "protocol_content": protocol,
        "provenance": provenance(),
    }


def _print(found: list[Recovered], ranked: TargetRanks) -> None:
    rows = []
    for one in found:
        value = one.to_dict()
        rows.append(
            [
                one.metric,
                f"{one.raw:.4f}",
                interval(value["value"], value["low"], value["high"]),
                interval(value["value"], *value["these_users"]),
            ]
        )
    print_table(["metric", "sampled", "full ranking", "for these users"], rows)
    first = found[0].estimate
    print_line("")
    print_line(
        f"{count(first.n_queries, 'query', 'queries')} of {count(first.n_users, 'user')}; "
        f"{first.level:.0%} intervals, {first.method}"
    )
    print_line(f"why they differ: {WHY}")
    for note in dict.fromkeys(note for one in found for note in one.notes):
        print_line(f"note: {note}")
    missed = ranked.counts.get("unranked_targets", 0)
    if missed:
        print_line(f"{count(missed, 'target')} without a rank: counted as misses")
