"""Terms of Psi: an agreement by sampler, scenario, metric, size and repeat, or why it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.stats.kendall import pair_signs
from fullrank.subsample.psi.agreement import agreement, overlapping

Tied = tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]


class Place(NamedTuple):
    """Where a term stands in the sum.

    Attributes:
        scenario: label of the scenario.
        metric: that algorithms are ranked by.
        keep: share of the training rows that the sample keeps.
    """

    scenario: str
    metric: str
    keep: float


class Repeat(NamedTuple):
    """Seeds of one repetition.

    Attributes:
        split: of the split.
        sampler: of the draws of the sample.
        training: of the fits.
    """

    split: int
    sampler: int
    training: int


@dataclass(frozen=True, eq=False)
class Scores:
    """What algorithms are worth by one metric, higher is better.

    Attributes:
        values: float64 ``[n]``.
        drawn: the same with resampled users, float64 ``[r, n]``; None without per-query values.
    """

    values: NDArray[np.float64]
    drawn: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Term:
    """One agreement.

    Attributes:
        sampler: label.
        place: scenario, metric and size.
        repeat: seeds.
        models: labels of the algorithms.
        full: signs of pairs of algorithms on the full data.
        sample: signs of pairs on the sample.
        values: by measure the agreement.
        drawn: by measure the agreement of resampled scores ``[r]``; empty without any.
        warm: agreement by tau over the users that the sample leaves a training row; None where
            that is all of them, or unknown.
    """

    sampler: str
    place: Place
    repeat: Repeat
    models: tuple[str, ...]
    full: NDArray[np.float64]
    sample: NDArray[np.float64]
    values: Mapping[str, float]
    drawn: Mapping[str, NDArray[np.float64]]
    warm: float | None = None


@dataclass(frozen=True)
class Missing:
    """A term that can't be had.

    Attributes:
        sampler: label.
        place: scenario, metric and size.
        repeat: seeds.
        reason: why.
    """

    sampler: str
    place: Place
    repeat: Repeat
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"sampler": self.sampler, **self.place._asdict(), "repeat": self.repeat._asdict()}
        return {**about, "reason": self.reason}


def make_term(
    sampler: str,
    place: Place,
    repeat: Repeat,
    models: tuple[str, ...],
    full: Scores,
    sample: Scores,
    *,
    ties: str = "exact",
    level: float = 0.95,
    warm: float | None = None,
) -> Term | Missing:
    """The agreement of two sets of scores of the same algorithms.

    Args:
        sampler: label.
        place: scenario, metric and size.
        repeat: seeds.
        models: labels of the algorithms.
        full: scores on the full data.
        sample: scores on the sample.
        ties: ``"exact"``: algorithms tie if their scores are equal; ``"intervals"``: also if the
            paired interval of their difference holds 0.
        level: of these intervals.
        warm: see ``Term``.

    Returns:
        The term, or what is missing if tau is undefined.
    """
    tied: Tied = (None, None)
    if ties == "intervals":
        tied = (_tied(full, level), _tied(sample, level))
    values = {name: float(x) for name, x in agreement(full.values, sample.values, tied).items()}
    if np.isnan(values["tau"]):
        return Missing(sampler, place, repeat, _undefined(full, sample, models, tied))
    drawn: dict[str, NDArray[np.float64]] = {}
    if full.drawn is not None and sample.drawn is not None:
        drawn = agreement(full.drawn, sample.drawn, tied)
    a, b = _signs(full, tied[0]), _signs(sample, tied[1])
    return Term(sampler, place, repeat, models, a, b, values, drawn, warm)


def _tied(scores: Scores, level: float) -> NDArray[np.bool_] | None:
    return None if scores.drawn is None else overlapping(scores.drawn, level)


def _signs(scores: Scores, tied: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    signs = pair_signs(scores.values)
    return signs if tied is None else np.where(tied, 0.0, signs)


def _undefined(full: Scores, sample: Scores, models: tuple[str, ...], tied: Tied) -> str:
    """Why tau has no value."""
    for side, scores, held in (("full data", full, tied[0]), ("sample", sample, tied[1])):
        gone = [m for m, value in zip(models, scores.values, strict=True) if np.isnan(value)]
        if gone:
            return f"{gone[0]} has no value on the {side}"
        if not np.any(_signs(scores, held)):
            return f"all algorithms tie on the {side}"
    raise AssertionError("tau is defined")
