"""The page about advice: what learners are worth on data sets left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from fullrank.advise import Evaluation, MetaData, verdict
from fullrank.advise.learners import Learner
from fullrank.advise.protocol import MEASURES
from fullrank.advise.record import ADVISED, LEVEL, ROWS
from fullrank.core.estimate import Estimate
from fullrank.data import list_sources, source_info

BASELINES = {
    "random": "a sampler by lot",
    "fixed": "the best single sampler of the others",
    ROWS: "always random rows (`RandomInteractions`)",
    "oracle": "the oracle",
}


@dataclass(frozen=True)
class Judged:
    """A learner.

    Attributes:
        evaluation: each data set left out.
        published: by the published protocol.
        settings: in words.
    """

    evaluation: Evaluation
    published: pl.DataFrame
    settings: str


def page(meta: MetaData, parts: Mapping[str, Judged], record: Evaluation) -> str:
    """Markdown.

    Args:
        meta: the meta-data set.
        parts: by name of the learner.
        record: of the shipped model, random rows and advice among its choosers.
    """
    lines = [*_intro(meta, record), *_whole(parts, record), *_verdicts(parts, record)]
    lines += _cut(record, "scenario", "By scenario") + _cut(record, "keep", "By size")
    return "\n".join([*lines, *_published(parts)]) + "\n"


def _intro(meta: MetaData, record: Evaluation) -> list[str]:
    groups = record.groups.filter(pl.col("chooser") == ADVISED)
    return [
        "# Which sampler: what advice is worth",
        "",
        "    python -m replications.svpcf.ship",
        "    python -m replications.svpcf.ship --learner MLP --learner BPR   # with PyTorch",
        "",
        f"{len(meta.names)} data sets, {len(meta.taus)} cells, {len(groups)} groups (data set, "
        "scenario, metric, size) with a choice. Each data set is left out in turn, and nothing of "
        "it reaches the training ([docs/advise.md](../../docs/advise.md)). Regret is the best tau "
        "less that of the chosen sampler, P@1 the share of groups where the chosen one is the "
        "best. Groups count alike within a data set, data sets alike; 95 % t intervals over data "
        "sets, widened where something was learnt for the training data that folds share.",
        "",
        f"`{ADVISED}` is what `fullrank advise` would have named, having seen the other data sets "
        "alone: the sampler that the shipped ridge predicts to be best if the "
        f"{100 * LEVEL:.0f} % interval of its gain over random rows, as a mean over metrics and "
        "sizes, lies above 0, or if such choices were better than random rows on average over "
        "those data sets when each was left out (95 %, by scenario, at the nearest size); "
        "and random rows else.",
        "",
    ]


def _value(found: Estimate) -> str:
    if found.n_users < 2:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _row(name: str, evaluation: Evaluation, chooser: str) -> str:
    cells = [_value(evaluation.value(chooser, measure)) for measure in MEASURES]
    return f"| {name} | {' | '.join(cells)} |"


_HEAD = ["| chooser | regret | P@1 | MSE |", "|---|---|---|---|"]


def _whole(parts: Mapping[str, Judged], record: Evaluation) -> list[str]:
    rows = [_row(name, record, chooser) for chooser, name in BASELINES.items()]
    rows += [_row(f"`{ADVISED}`", record, ADVISED)]
    rows += [_row(name, part.evaluation, name) for name, part in parts.items()]
    settings = [f"{name} is `{part.settings}`" for name, part in parts.items()]
    return [*_HEAD, *rows, "", f"Settings: {'; '.join(settings)}.", ""]


def _verdicts(parts: Mapping[str, Judged], record: Evaluation) -> list[str]:
    gain = record.gain(ADVISED, ROWS)
    word = "more than 0" if gain.low > 0 else "less than 0" if gain.high < 0 else "not told from 0"
    own = record.groups
    keys = ["data", "scenario", "metric", "keep"]
    both = own.filter(pl.col("chooser") == ADVISED).join(
        own.filter(pl.col("chooser") == ROWS), on=keys, suffix="_rows"
    )
    differ = both.filter((pl.col("regret") - pl.col("regret_rows")).abs() > 1e-9)
    return [
        f"Gain of the advice over random rows: {_value(gain)}, {word}. Its sampler has another tau "
        f"than random rows in {len(differ)} of {len(both)} groups, in "
        f"{len(differ.filter(pl.col('regret') < pl.col('regret_rows')))} of them a higher one.",
        "",
        *(f"- {verdict(part.evaluation, name)}" for name, part in parts.items()),
        "",
    ]


def _cut(record: Evaluation, by: str, title: str) -> list[str]:
    lines = [f"## {title}", "", "Regret, over the data sets that have it."]
    names = {ROWS: "random rows", "random": "by lot", "fixed": "best single", ADVISED: "advised"}
    learner = next(c for c in record.choosers if c not in (*BASELINES, ADVISED))
    names[learner] = learner
    head = f"| {by} | data sets | groups | {' | '.join(names.values())} |"
    lines += ["", head, "|---" * (3 + len(names)) + "|"]
    for value, part in _parts(record, by):
        mine = part.groups.filter(pl.col("chooser") == ADVISED)
        cells = [_value(part.value(chooser, "regret")) for chooser in names]
        sets = mine["data"].n_unique()
        lines.append(f"| {value} | {sets} | {len(mine)} | {' | '.join(cells)} |")
    return [*lines, ""]


def _parts(record: Evaluation, by: str) -> Iterator[tuple[Any, Evaluation]]:
    for value in record.groups[by].unique().sort(descending=by == "keep"):
        yield value, replace(record, groups=record.groups.filter(pl.col(by) == value))


def _published(parts: Mapping[str, Judged]) -> list[str]:
    lines = [
        "## By the published protocol",
        "",
        "Test groups of data sets that were learnt from (Sachdeva, Wu & McAuley 2022): means over "
        "five draws of the test groups, standard deviation over draws in brackets. Test cells "
        "share data sets and samples with the training, so that this says nothing of new data; it "
        "stands here for comparison with the paper's table, whose models, data and samplers are "
        "others.",
        "",
        *_HEAD,
    ]
    for number, (name, part) in enumerate(parts.items()):
        choosers = ["random", "learner"] if number == 0 else ["learner"]
        for chooser in choosers:
            own = part.published.filter(pl.col("chooser") == chooser)
            label = "a sampler by lot" if chooser == "random" else name
            lines.append(f"| {label} | {' | '.join(_spread(own[m]) for m in MEASURES)} |")
    return lines


def _spread(values: pl.Series) -> str:
    if not len(values):
        return "–"
    return f"{values.mean():.3f} ({values.std():.3f})"


def readme(meta: MetaData, learner: Learner) -> str:
    """What the shipped folder says of itself."""
    rows = [_set(name, meta) for name in meta.names]
    return "\n".join([
        "# Meta-data that come with the package",
        "",
        "Numbers measured on public data sets, no rows of any of them: how well samplers keep the "
        "ranking of algorithms (`taus.csv`), features of the data and samples "
        "(`features.parquet`), and what drawing and the studies cost (`costs.csv`, seconds on one "
        "machine that other jobs shared); `about.json` says what was run. "
        "Sizes are after the filters. `fullrank.advise.MetaData` reads them and has the columns.",
        "",
        f"`model.safetensors` and `left_out.parquet` are `{learner}` fitted on them, with the "
        "models without each data set and what these predict there, for intervals. "
        "`evaluation.csv` has what its advice was worth on data sets left out "
        "(`fullrank.advise.track_record`).",
        "",
        "Made by `python -m replications.svpcf.ship` from `replications/svpcf/meta`, which the "
        "grids of `replications/svpcf` leave.",
        "",
        "| data set | rows | users | items | scenarios | source |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ])  # fmt: skip


def _set(name: str, meta: MetaData) -> str:
    told = meta.about[name]
    sizes = " | ".join(f"{told[what]:,}" for what in ("rows", "users", "items"))
    return f"| {name} | {sizes} | {', '.join(told['scenarios'])} | {_source(told)} |"


def _source(told: Mapping[str, Any]) -> str:
    """Citation of a named data set, or what is said of the source."""
    source = told.get("source") or "–"
    known = {one.name for one in list_sources()}
    return source_info(source).citation if source in known else source
