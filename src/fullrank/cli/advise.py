"""``advise``: which sampler to take for data of which no study was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli._card import share_text
from fullrank.cli._output import busy, parse_settings, print_json, print_line, print_table, warn
from fullrank.cli.data import Columns, Json, Read
from fullrank.cli.samples import training_rows
from fullrank.core.brief import count, duration
from fullrank.core.errors import SpecError, told
from fullrank.core.paths import check_folder_place

if TYPE_CHECKING:
    from fullrank.advise import Advice
    from fullrank.advise._saving import Saving

_SHOWN = 3


def advise(
    data: Annotated[
        str, typer.Argument(help="File or data set of training rows, or folder of a split.")
    ],
    keep: Annotated[float, typer.Option(help="Share of the training rows to keep, in (0, 1).")],
    scenario: Annotated[
        str | None,
        typer.Option(help="explicit, sequential or implicit; by default what the data have."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("-m", "--metric", help="That algorithms are ranked by.")
    ] = None,
    strategies: Annotated[
        list[str] | None,
        typer.Option("--strategy", help="Choose among these: --strategy RandomUsers, repeated."),
    ] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy/--no-proxy", help="Samplers that train a proxy as well.")
    ] = True,
    learner: Annotated[
        str | None,
        typer.Option(
            help="Fit Ridge, Boosting, Logistic, PairBoosting, MLP or BPR here; by default the "
            "ridge that comes with the package."
        ),
    ] = None,
    meta: Annotated[
        Path | None, typer.Option(help="Folder of meta-data of your own to learn from.")
    ] = None,
    level: Annotated[float, typer.Option(help="Of intervals, in (0.5, 1).")] = 0.8,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder for the advised sample, as subsample writes it."),
    ] = None,
    floor: Annotated[
        list[str] | None,
        typer.Option("--floor", help="Least of a usable sample: --floor users=20 --floor rows=50."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Before the sampling, of a file: --filter 'core={users=5}'."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    columns: Columns = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Say which sampler keeps the ranking of algorithms best, without fitting any.

    Draws a sample by each sampler, measures the data and the samples, and predicts from what was
    found on other data sets how well each sample ranks algorithms as the whole data would (tau).
    Where nothing can be told from random rows, it says so. Of a folder that fullrank split wrote
    only the training rows are sampled; all rows of a file are taken for training rows.
    """
    from fullrank.core.registry import construct
    from fullrank.subsample import Floor, save

    if out is not None:
        check_folder_place(out, new=True)
    least = construct("--floor", Floor, parse_settings(floor or (), "--floor"))
    model, known = _learner(learner), _meta(meta)
    from fullrank.advise import advise as ask

    with busy("drawing and measuring samples", quiet=json):
        rows = training_rows(data, filters, seed, columns, read)
        with told(f"{data}: "):
            found = ask(
                rows, keep, scenario=scenario, metric=metric, strategies=strategies, proxies=proxy,
                learner=model, meta=known, level=level, rng=seed, floor=least,
            )  # fmt: skip
        if out is not None:
            save(found.sample, out)
    if found.outside:
        warn(_outside_text(found))
    if json:
        print_json({**found.to_dict(), "out": None if out is None else str(out)})
        return
    _print(found, data)
    if out is not None:
        print_line(f"sample: {out}")


def _learner(name: str | None) -> Any:
    """A learner with its default settings."""
    if name is None:
        return None
    from fullrank.advise.learners import parse_learner

    return parse_learner(name)


def _meta(folder: Path | None) -> Any:
    if folder is None:
        return None
    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder} of meta-data; write it by MetaData.save")
    from fullrank.advise import MetaData

    return MetaData.load(folder)


def _print(found: Advice, data: str) -> None:
    per_cent = f"{100 * found.level:.0f} %"
    print_line(
        f"scenario {found.scenario} ({found.chosen_by}), {found.metric}, {found.keep:g} of the "
        f"training rows; learnt from {count(len(found.learnt_from), 'data set')}"
    )
    if data in found.learnt_from:
        print_line(f"{data} is one of them: what is said of it is no forecast")
    print_table(
        ["sampler", "predicted tau", per_cent, "rows", "drawn in", "saves"],
        [
            [
                one.strategy, f"{one.tau:+.2f}", f"[{one.low:+.2f}, {one.high:+.2f}]",
                f"{one.rows:,}", duration(one.draw_seconds), _saves(one.saving),
            ]
            for one in found.samplers
        ],
    )  # fmt: skip
    for reason in dict.fromkeys(found.undrawn.values()):
        names = [name for name, why in found.undrawn.items() if why == reason]
        whose = "" if reason.startswith(names[0]) else f"{', '.join(names)}: "
        print_line(f"not drawn: {whose}{reason}")
    for line in (*_verdict(found, per_cent), *_cost(found), *_record(found)):
        print_line(line)


def _saves(saving: Saving | None) -> str:
    return "–" if saving is None else f"{100 * saving.median:.0f} %"


def _verdict(found: Advice, per_cent: str) -> list[str]:
    """What is advised, and how sure that is: here, and on average elsewhere."""
    gain = found.gain
    here = (
        f"{gain.strategy} over random rows: {gain.value:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}] "
        f"in tau as a mean over metrics and sizes ({per_cent}, jackknife+ over "
        f"{count(gain.data_sets, 'data set')}); two single samples may differ by "
        f"[{gain.single_low:+.2f}, {gain.single_high:+.2f}]"
    )
    usual = "not known: too few data sets"
    if gain.usual is not None:
        usual = f"{gain.usual:+.2f} [{gain.usual_low:+.2f}, {gain.usual_high:+.2f}] (95 %)"
    if gain.is_sure:
        how = "better than random rows on data like these"
    elif found.beats_random:
        how = "better than random rows on average over data sets; for these alone that is not sure"
    else:
        how = "nothing here can be told from random rows"
    return [
        f"advised: {found.advised}: {how}",
        f"gain of {here}",
        f"gain of such choices on data sets left out, on average, at the nearest size: {usual}",
    ]


def _cost(found: Advice) -> list[str]:
    saving = found.best.saving
    if saving is None:
        return ["time saved: not measured for this sampler"]
    at = "" if saving.keep == found.keep else f" at {saving.keep:g}, the nearest size"
    return [
        f"time of a study saved, drawing charged: {_share(saving.median)} (half of "
        f"{count(saving.data_sets, 'data set')} between {_share(saving.low)} and "
        f"{_share(saving.high)}){at}"
    ]


def _share(share: float) -> str:
    return share_text(share) if share >= 0 else f"−{share_text(-share)}"


def _record(found: Advice) -> list[str]:
    record = found.record
    if record is None:
        return [
            f"{found.learner} was fitted here; what its advice is worth is for "
            "fullrank.advise.track_record to say"
        ]
    regret = {name: f"{one.value:.3f}" for name, one in record.regret.items()}
    gain = record.gain
    return [
        f"leaving out each of {count(record.data_sets, 'data set')} in turn: regret of such advice "
        f"{regret['advised']}, of random rows {regret['random rows']}, of a sampler by lot "
        f"{regret['random']}, of the best single one {regret['fixed']}; gain over random rows "
        f"{gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}] ({100 * gain.level:.0f} %)"
    ]


def _told_apart(value: float, low: float, high: float) -> list[str]:
    """With three digits, or as many as it takes to see that the value lies outside."""
    for digits in range(3, 17):
        said = [f"{number:.{digits}g}" for number in (value, low, high)]
        if said[0] not in said[1:]:
            break
    return said


def _outside_text(found: Advice) -> str:
    parts = [
        "{} {} (learnt from {} to {})".format(name, *_told_apart(*three))
        for name, three in list(found.outside.items())[:_SHOWN]
    ]
    if len(found.outside) > len(parts):
        parts.append(f"and {len(found.outside) - len(parts)} more")
    of = 1 + sum(name.startswith("full.") for name in found.names)
    return (
        f"these data are unlike those that were learnt from in {len(found.outside)} of {of} "
        f"numbers (features of the data, and the share kept): {', '.join(parts)}; the prediction "
        "takes the nearest that it knows"
    )
