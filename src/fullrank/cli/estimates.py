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
from fullrank.core.brief import count, duration
from fullrank.core.errors import SpecError

if TYPE_CHECKING:
    from fullrank.core.ranked import TargetRanks
    from fullrank.estimators import Cost, Efficiency, Plan, Recovered

WHY = (
    "sampled is the metric of the rank among the drawn candidates: fewer items can come before a "
    "target there, so it is another number, larger, and may order models the other way round; "
    "full ranking is the estimate of what ranking the whole catalogue gives"
)


def estimate(
    ranks: Annotated[Path, typer.Argument(help="Table with a column rank, one row a target.")],
    metric: Annotated[
        list[str] | None,
        typer.Option("-m", "--metric", help="Such as ndcg@10 or recall@5,10; may be repeated."),
    ] = None,
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
    efficiency: Annotated[
        bool,
        typer.Option("--efficiency", help="What each size of an adaptive sample bought, too."),
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Chart of --efficiency: a file .svg or .html.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Recover metrics of the full ranking from sampled ranks, with an interval.

    RANKS has the rank of each held-out item among sampled candidates and itself. Samples of one
    size, of adaptive sizes and from catalogues that differ by user (masked histories) are told by
    the columns sample_size and catalog_size; several targets of a query by others (how many other
    targets precede each), and a proxy list that was scored first by listed (how many of it do).
    """
    from fullrank.estimators import efficiency as bought
    from fullrank.estimators import read_ranks

    _check_asked(metric, efficiency, save)
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
        stages = bought(ranked) if efficiency else None
        options: dict[str, Any] = {"level": level, "resamples": resamples, "rng": seed}
        found = _recovered(ranked, metric, method, options) if metric else []
    if save is not None and stages is not None:
        from fullrank.report import write_efficiency

        write_efficiency(stages, save)
    if json:
        shown = {} if stages is None else {"efficiency": stages.to_dict()}
        print_json({**_as_dict(found, ranked), **shown})
        return
    if found:
        _print(found, ranked)
    if stages is not None:
        _print_stages(stages, after=bool(found))
    if save is not None:
        print_line(f"chart: {save}")


def _check_asked(metric: list[str] | None, efficiency: bool, save: Path | None) -> None:
    """Refuse a command that asks for nothing, or for a chart of nothing, before any work."""
    if not metric and not efficiency:
        raise SpecError("no metric was named: give -m, such as -m ndcg@10, or --efficiency")
    if save is not None:
        if not efficiency:
            raise SpecError("--save is the chart of --efficiency: give both")
        from fullrank.report.efficiency import check_chart

        check_chart(save)


def _recovered(
    ranked: TargetRanks, metric: list[str], method: str, options: dict[str, Any]
) -> list[Recovered]:
    from fullrank.estimators import estimate as recover
    from fullrank.estimators._estimate import as_metrics
    from fullrank.experiment.evaluate import named_metrics

    return recover(ranked, as_metrics(named_metrics(metric)), method=method, **options)


def _print_stages(found: Efficiency, *, after: bool) -> None:
    rows = [
        [
            f"{stage['size']:,}",
            f"{stage['targets']:,}",
            f"{stage['resolved']:,}",
            "–" if stage["cost"] is None else f"{stage['cost']:,.1f}",
            "yes" if stage["size"] <= found.n_max else "no",
        ]
        for stage in found.to_dict()["stages"]
    ]
    if after:
        print_line("")
    head = ["size", "targets", "resolved", "items for one resolved", "within n_max"]
    print_table(head, rows, "what each size bought")
    print_line("")
    print_line(
        f"{found.items:,.1f} items a target on average; recommended n_max: {found.n_max:,}, the "
        "largest size within an eighth of the catalogue"
    )


def _as_dict(found: list[Recovered], ranked: TargetRanks) -> dict[str, Any]:
    from fullrank.experiment.evaluate import targets_fingerprint
    from fullrank.experiment.provenance import provenance
    from fullrank.experiment.store import key_of

    listed = None if ranked.sample is None else ranked.sample.k_max
    protocol = {
        "targets": targets_fingerprint(ranked),
        "candidates": "uniform sample" if listed is None else "proxy list and uniform sample",
        "replacement": ranked.design["replacement"],
    }
    return {
        "metrics": {one.metric: one.to_dict() for one in found},
        "method": found[0].method if len({one.method for one in found}) == 1 else None,
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
                *(
                    ["–", "–"]  # it estimates nothing: its interval is of the sampled number
                    if one.method == "Raw"
                    else [
                        interval(value["value"], value["low"], value["high"]),
                        interval(value["value"], *value["these_users"]),
                    ]
                ),
            ]
        )
    print_table(["metric", "sampled", "full ranking", "for these users"], rows)
    first = found[0].estimate
    print_line("")
    print_line(
        f"{count(first.n_queries, 'query', 'queries')} of {count(first.n_users, 'user')}; "
        f"{first.level:.0%} intervals, {_methods(found)}"
    )
    print_line(_spent(ranked))
    print_line(f"why they differ: {WHY}")
    for note in dict.fromkeys(note for one in found for note in one.notes):
        print_line(f"note: {note}")
    missed = ranked.counts.get("unranked_targets", 0)
    if missed:
        print_line(f"{count(missed, 'target')} without a rank: counted as misses")


def _spent(ranked: TargetRanks) -> str:
    """What was scored for a target, those of its list too, and of how many."""
    from fullrank.core.ragged import rows_of
    from fullrank.estimators._files import list_sizes

    sample = ranked.sample
    assert sample is not None
    found = sample.ranks > 0
    lists = list_sizes(ranked)[rows_of(ranked.indptr)]
    told = "list_size" not in ranked.design
    if not told:
        lists = lists * 0
    spent, pool = (float((x + lists)[found].mean()) for x in (sample.sizes, sample.catalog_sizes))
    said = f"items scored for a target, itself among them: {spent:,.1f} of {pool:,.1f} on average"
    if not told:
        return f"{said}, beside those of its list (a column list_size would say how many)"
    if sample.k_max is not None:
        return f"{said}, those of its list among them ({lists[found].mean():,.1f})"
    return said


def _methods(found: list[Recovered]) -> str:
    """How they were estimated: for each metric where the methods differ."""
    named: dict[str, list[str]] = {one.estimate.method: [] for one in found}
    for one in found:
        named[one.estimate.method].append(one.metric)
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{', '.join(metrics)}: {method}" for method, metrics in named.items())


def plan(
    metric: Annotated[str, typer.Option("-m", "--metric", help="Such as ndcg@10.")],
    catalog_size: Annotated[
        int | None,
        typer.Option(help="Items that could be drawn, and the target; else a column of the pilot."),
    ] = None,
    half_width: Annotated[
        float | None, typer.Option(help="Wanted half-width of the interval.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Or the difference of two models to be found.")
    ] = None,
    power: Annotated[float, typer.Option(help="Probability to find it.")] = 0.8,
    correlation: Annotated[
        float, typer.Option(help="Of the two models' values over users, as you assume it.")
    ] = 0.5,
    pilot: Annotated[
        Path | None, typer.Option(help="Sampled ranks (as for estimate) to go by.")
    ] = None,
    sample_size: Annotated[
        int | None, typer.Option(help="Of the pilot: drawn candidates and the target.")
    ] = None,
    replacement: Annotated[
        bool | None,
        typer.Option(
            "--replacement/--no-replacement",
            help="Of the pilot: whether an item could be drawn twice; else a column.",
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            help="Or an assumed law of ranks: power:0.8 is P(R) ~ R^-0.8; 0 ranks at random, "
            "1 is a good model."
        ),
    ] = None,
    pair_seconds: Annotated[
        float | None,
        typer.Option(help="What it costs to score one pair, such as 0.05 for a remote model."),
    ] = None,
    query_seconds: Annotated[
        float | None,
        typer.Option(
            help="What the full ranking of one query costs; without, the pairs of the catalogue."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Column names of the pilot, such as rank=pos.")
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", help="Reading options of the pilot, such as separator=';'."),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Tell how many queries and candidates an interval or a comparison needs.

    Each design is simulated with ranks as in a pilot, or by a law, and estimated from; the full
    ranking stands beside it. Rows are the cheapest first: by seconds where a cost is given, else
    by pairs.
    """
    from dataclasses import asdict

    from fullrank.estimators import plan as make
    from fullrank.estimators import read_ranks
    from fullrank.estimators._cost import factor_cost

    if pilot is None:
        _check_no_pilot(sample_size, replacement, columns, read or None)
    with busy("simulating", quiet=json):
        ranks = None
        if pilot is not None:
            ranks = read_ranks(
                pilot,
                sample_size=sample_size,
                catalog_size=catalog_size,
                replacement=replacement,
                columns=parse_columns(columns),
                read=parse_read(read),
            )
        found = make(
            metric,
            catalog_size=catalog_size,
            pilot=ranks,
            law=law,
            half_width=half_width,
            difference=difference,
            power=power,
            correlation=correlation,
            level=level,
            pair_seconds=pair_seconds,
            query_seconds=query_seconds,
            rng=seed,
        )
        factors = factor_cost(found.catalog_size)
    if json:
        cost = {"seconds_with_factors": asdict(factors), "verdict": found.verdict}
        rows = [{**asdict(row), "misleads": row.misleads} for row in found.rows]
        print_json({**asdict(found), "rows": rows, **cost})
        return
    _print_plan(found, factors)


def _check_no_pilot(*given: Any) -> None:
    """Refuse options that are of a pilot where there is none."""
    names = ("--sample-size", "--replacement or --no-replacement", "--columns", "--read")
    named = [name for name, value in zip(names, given, strict=True) if value is not None]
    if named:
        raise SpecError(f"{named[0]} is of the pilot, and none was given: add --pilot RANKS")


def _print_plan(found: Plan, factors: Cost) -> None:
    timed = any(row.seconds is not None for row in found.rows)
    rows = [
        [
            row.design,
            f"{row.queries:,}",
            f"{row.items:,.0f}",
            f"{row.pairs:,.0f}",
            f"{row.se_items:.5f}",
            f"{row.se_users:.5f}",
            f"{row.bias:+.5f}" + (" !" if row.misleads else ""),
            *([duration(row.seconds or 0.0)] if timed else []),
        ]
        for row in found.rows
    ]
    head = ["design", "queries", "items a query", "pairs", "se of items", "se of users", "bias"]
    title = f"{found.metric}, about {found.value:.4f}; wanted: {found.wanted}"
    print_table([*head, *(["scoring"] if timed else [])], rows, title)
    print_line("")
    print_line(found.verdict)
    full, sampled = found.full, found.best_sampled
    line = f"a model with factors takes {duration(factors.query * full.queries)} for the full"
    line += f" ranking of {full.queries:,} queries on this machine"
    if sampled is not None:
        line += f", and {duration(factors.pair * sampled.pairs)} for {sampled.design}"
    print_line(line)
    print_line(
        "bias is what the estimate was off by in the simulation; an interval doesn't allow for it, "
        "and ! marks one larger than the standard error (of items and users together)"
    )
    if any(row.misleads for row in found.rows):
        print_line(
            "! intervals of this design would often miss the truth under this law, which such "
            "samples can't show"
        )
    for text in found.assumptions:
        print_line(f"assumed: {text}")
