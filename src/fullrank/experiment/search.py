"""Search spaces, and the next settings to try: a pure function of the trials so far.

Optuna's samplers keep a random stream that starts anew after a restart. Here each trial has a
sampler of its own, seeded by hash(seed, trial number), and a study filled with the finished
trials, so that a search killed and resumed proposes what it would have proposed (tested).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullrank.core.errors import SpecError, suggest
from fullrank.core.random import derive

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

RANGE_KEYS = ("low", "high", "log", "step")


def distributions(space: Mapping[str, Any], where: str) -> dict[str, BaseDistribution]:
    """Read a search space.

    Args:
        space: by setting, ``{low, high, log, step}`` (integers if both ends are) or a list of
            choices.
        where: for messages.

    Raises:
        SpecError: an entry that is neither, an empty range, or an unknown key.
    """
    return {name: _distribution(entry, f"{where}: search.{name}") for name, entry in space.items()}


def _distribution(entry: Any, where: str) -> BaseDistribution:
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if isinstance(entry, list | tuple):
        if not entry or not all(isinstance(x, str | int | float | bool) for x in entry):
            raise SpecError(f"{where} must be a list of at least one plain value, got {entry!r}")
        return CategoricalDistribution(tuple(entry))
    if not isinstance(entry, Mapping):
        raise SpecError(f"{where} must be {{low, high}} or a list of choices, got {entry!r}")
    for key in entry:
        if key not in RANGE_KEYS:
            raise SpecError(f"{where} has no key {key!r}{suggest(key, RANGE_KEYS)}")
    if "low" not in entry or "high" not in entry:
        raise SpecError(f"{where} needs both low and high, got {dict(entry)!r}")
    low, high, log = entry["low"], entry["high"], bool(entry.get("log", False))
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in (low, high)):
        raise SpecError(f"{where}: low and high must be numbers, got {low!r} and {high!r}")
    if low > high or (log and low <= 0):
        raise SpecError(f"{where}: need low <= high (and low > 0 with log), got {low} and {high}")
    if isinstance(low, int) and isinstance(high, int):
        return IntDistribution(low, high, log=log, step=int(entry.get("step", 1)))
    step = entry.get("step")
    return FloatDistribution(float(low), float(high), log=log, step=step)


def propose(
    space: Mapping[str, BaseDistribution],
    done: Sequence[Mapping[str, Any]],
    *,
    number: int,
    seed: int,
    sampler: str,
    maximise: bool,
) -> dict[str, Any]:
    """Settings for trial ``number`` given the finished trials ``done`` (each ``settings, value``).

    Failed trials (value None) are left out.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    makers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(
        direction="maximize" if maximise else "minimize",
        sampler=makers[sampler](seed=derive(seed, "trial", number) % 2**32),
    )
    for trial in done:
        if trial["value"] is not None:
            study.add_trial(
                optuna.trial.create_trial(
                    params={name: trial["settings"][name] for name in space},
                    distributions=dict(space),
                    value=trial["value"],
                )
            )
    return dict(study.ask(dict(space)).params)
