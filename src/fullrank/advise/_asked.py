"""What is asked of the advisor: scenario, metric and samplers, of those that were learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fullrank.advise.meta_data import MetaData
from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.subsample import Sampler, parse_sampler

if TYPE_CHECKING:
    import polars as pl

USUAL = "NDCG@10"
EXPLICIT, SEQUENTIAL, IMPLICIT = "explicit", "sequential", "implicit"


@dataclass(frozen=True)
class Asked:
    """What is predicted.

    Attributes:
        scenario: label.
        chosen_by: why this one.
        metric: name.
        data_sets: that have taus of both.
    """

    scenario: str
    chosen_by: str
    metric: str
    data_sets: tuple[str, ...]


def settle(meta: MetaData, rows: Interactions, scenario: str | None, metric: str | None) -> Asked:
    """Scenario and metric, of those that were learnt from.

    Args:
        meta: what is learnt from.
        rows: training rows.
        scenario: asked for; by default what the data have.
        metric: asked for; by default NDCG@10, or the first by name.

    Raises:
        SpecError: an unknown scenario or metric.
        DataError: the data lack what the scenario needs.
    """
    taus = meta.taus.filter(meta.taus["tau"].is_not_null())
    scenarios = taus["scenario"].unique().sort().to_list()
    if scenario is None:
        chosen, why = _default(rows, scenarios)
    else:
        if scenario not in scenarios:
            raise SpecError(
                f"nothing was learnt of the scenario {scenario!r}{suggest(scenario, scenarios)}"
            )
        chosen, why = scenario, "as asked"
        _check_has(rows, scenario)
    mine = taus.filter(taus["scenario"] == chosen)
    name = _metric(mine, chosen, metric)
    sets = mine.filter(mine["metric"] == name)["data"].unique().sort().to_list()
    return Asked(chosen, why, name, tuple(sets))


def _default(rows: Interactions, scenarios: Sequence[str]) -> tuple[str, str]:
    """The scenario that makes most of what the data have, and why."""
    rated = rows.values is not None and len(rows) and rows.values.min() < rows.values.max()
    timed = rows.times is not None
    if rated and EXPLICIT in scenarios:
        return EXPLICIT, "the data have ratings; for lists of items ask for implicit or sequential"
    if timed and SEQUENTIAL in scenarios:
        return SEQUENTIAL, "the data have times and no ratings"
    if IMPLICIT in scenarios:
        known = "nothing was learnt of what else the data have"
        return IMPLICIT, known if rated or timed else "the data have neither ratings nor times"
    return scenarios[0], "the first one that was learnt"


def _check_has(rows: Interactions, scenario: str) -> None:
    lacks = None
    if scenario == EXPLICIT and rows.values is None:
        lacks = "ratings", "rating"
    if scenario == SEQUENTIAL and rows.times is None:
        lacks = "times", "timestamp"
    if lacks:
        raise DataError(
            f"the scenario {scenario!r} needs {lacks[0]}, and these data have none; name the "
            f"column (--columns {lacks[1]}=NAME), or take the scenario {IMPLICIT!r}"
        )


def _metric(taus: pl.DataFrame, scenario: str, metric: str | None) -> str:
    from fullrank.metrics import parse

    known = taus["metric"].unique().sort().to_list()
    if metric is None:
        return USUAL if USUAL in known else str(known[0])
    name = str(parse(metric))
    if name not in known:
        raise SpecError(
            f"nothing was learnt of {name} in the scenario {scenario!r}{suggest(name, known)}"
        )
    return name


def samplers_of(
    meta: MetaData,
    scenario: str,
    strategies: Sequence[str] | None,
    baseline: str,
    *,
    proxies: bool,
) -> tuple[dict[str, Sampler], dict[str, str]]:
    """Samplers by strategy, the baseline first, and those left out with the reason.

    Args:
        meta: what is learnt from.
        scenario: label; one that learns importance takes errors of ratings in ``explicit``.
        strategies: asked for; None for all that were learnt from.
        baseline: always among them.
        proxies: whether those that train a proxy are.

    Raises:
        SpecError: a strategy that was not learnt from, or that needs a proxy and none is wanted.
    """
    here = meta.taus.filter(meta.taus["scenario"] == scenario, meta.taus["tau"].is_not_null())
    known = here["strategy"].unique().sort().to_list()
    if baseline not in known:
        raise DataError(
            f"the meta-data have no taus of {baseline} in the scenario {scenario!r}, which others "
            "are compared with; add it to the grids"
        )
    wanted = known if strategies is None else [str(parse_sampler(text)) for text in strategies]
    out, left = {}, {}
    for name in dict.fromkeys([baseline, *wanted]):
        if name not in known:
            raise SpecError(
                f"nothing was learnt of the strategy {name!r} in the scenario {scenario!r}"
                f"{suggest(name, known)}"
            )
        how = parse_sampler(name)
        if hasattr(how, "proxy") and not proxies:
            if strategies is not None:
                raise SpecError(f"{name} trains a proxy; leave --no-proxy out, or the strategy")
            left[name] = "it trains a proxy, and none is wanted"
            continue
        if hasattr(how, "scenario") and scenario == EXPLICIT:
            how = replace(how, scenario=EXPLICIT)  # type: ignore[call-arg]
        out[name] = how
    return out, left
