"""Samples of the data that are advised on: drawn once each, measured, timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullrank.advise.features import Features
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive
from fullrank.split import Split
from fullrank.subsample import Floor, Importance, Sampler, Subsample
from fullrank.subsample._by_importance import ByImportance
from fullrank.subsample._sample import attempts


@dataclass(frozen=True, eq=False)
class Drawn:
    """A sample that could be drawn.

    Attributes:
        sample: with its manifest.
        features: of the data, the sample, and their relation.
        seconds: of drawing it, a proxy's training included even where samplers share it.
    """

    sample: Subsample
    features: Mapping[str, float]
    seconds: float


def draws(
    train: Interactions | Split,
    how: Mapping[str, Sampler],
    keep: float,
    seed: int,
    floor: Floor | None,
    features: Features,
    needed: Sequence[str],
) -> tuple[dict[str, Drawn], dict[str, str]]:
    """Draw and measure a sample by each strategy.

    Args:
        train: a split, or training rows.
        how: samplers by strategy.
        keep: share of the rows.
        seed: of the draws.
        floor: of usable samples.
        features: what is measured.
        needed: strategies whose failure is an error.

    Returns:
        Samples by strategy, and by strategy the reason why there is none.

    Raises:
        DataError: a needed one can't be drawn.
    """
    rows = train.train if isinstance(train, Split) else train
    draw = derive(seed, "features")
    whole = features.of(rows, draw) if len(rows) else {}
    found: dict[str, Drawn] = {}
    reasons: dict[str, str] = {}
    learnt: dict[tuple[str, str], Importance] = {}
    for strategy, sampler in how.items():
        proxy = None
        if isinstance(sampler, ByImportance):
            proxy = sampler.proxy, sampler.scenario
        try:
            (one,) = attempts(
                train, sampler, [keep], seed, floor=floor, learnt=learnt.get(proxy or ("", ""))
            )
        except DataError as error:
            one = error
        if isinstance(one, DataError):
            if strategy in needed:
                raise one
            reasons[strategy] = str(one)
            continue
        if proxy is not None and one.importance is not None:
            learnt[proxy] = one.importance
        seconds = float(sum(one.manifest["seconds"].values()))
        found[strategy] = Drawn(one, features.of_sample(one, whole, draw), seconds)
    return found, reasons
