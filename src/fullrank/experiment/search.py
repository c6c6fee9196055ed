"""Search spaces, and the next settings to try: a pure function of the trials so far.

Optuna's samplers keep a random stream that starts anew after a restart. Here each trial has a
sampler of its own, seeded by hash(seed, trial number), and a study filled with the finished
trials, so that a search killed and resumed proposes what it would have proposed (tested).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
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
    from optuna.distributions import CategoricalDistribution

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
    return _range(entry, where)


def _range(entry: Mapping[str, Any], where: str) -> BaseDistribution:
    """Whole numbers if both ends are, else floats."""
    from optuna.distributions import FloatDistribution, IntDistribution

    low, high, log = entry["low"], entry["high"], entry.get("log", False)
    if not (_is_number(low) and _is_number(high)):
        raise SpecError(f"{where}: low and high must be numbers, got {low!r} and {high!r}")
    if not isinstance(log, bool):
        raise SpecError(f"{where}: log must be true or false, got {log!r}")
    if low > high or (log and low <= 0):
        raise SpecError(f"{where}: need low <= high (and low > 0 with log), got {low} and {high}")
    whole = isinstance(low, int) and isinstance(high, int)
    step = _step(entry.get("step"), whole, log, where)
    if step is not None:
        high = _last_step(low, high, step)
    if whole:
        return IntDistribution(low, int(high), log=log, step=step or 1)
    return FloatDistribution(float(low), float(high), log=log, step=step)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and isfinite(x)


def _step(step: Any, whole: bool, log: bool, where: str) -> Any:
    """The step of a range, checked; None for none."""
    if step is None:
        return None
    if not _is_number(step) or step <= 0 or (whole and not isinstance(step, int)):
        kind = "a whole number" if whole else "a number"
        raise SpecError(f"{where}: step must be {kind} above 0, got {step!r}")
    if log:
        raise SpecError(f"{where}: step and log exclude each other; keep one")
    return step


def _last_step(low: float, high: float, step: float) -> float:
    """The last value that steps from low reach, in decimals (0.1 + 0.2 is 0.3)."""
    first, size = Decimal(str(low)), Decimal(str(step))
    return float(first + (Decimal(str(high)) - first) // size * size)


def size_of(space: Mapping[str, BaseDistribution]) -> int | None:
    """How many different settings a space holds; None for ranges without end."""
    total = 1
    for entry in space.values():
        low, high = getattr(entry, "low", 0), getattr(entry, "high", 0)
        if hasattr(entry, "choices"):
            total *= len(set(entry.choices))
        elif low == high:
            continue
        elif entry.step is None:  # type: ignore[attr-defined]
            return None
        else:
            total *= round((high - low) / entry.step) + 1  # type: ignore[attr-defined]
    return total


def grid_point(space: Mapping[str, BaseDistribution], number: int) -> dict[str, Any]:
    """Settings of one point of a finite space: the last setting by name varies fastest."""
    out = {}
    for name in sorted(space, reverse=True):
        choices = _values(space[name])
        number, place = divmod(number, len(choices))
        out[name] = choices[place]
    return {name: out[name] for name in space}


def _values(entry: BaseDistribution) -> list[Any]:
    """All values of an entry of a finite space, ascending."""
    if hasattr(entry, "choices"):
        return list(dict.fromkeys(entry.choices))
    low, high, step = entry.low, entry.high, entry.step  # type: ignore[attr-defined]
    if low == high:
        return [low]
    first, size = Decimal(str(low)), Decimal(str(step))
    kind = int if isinstance(low, int) else float
    return [kind(first + size * i) for i in range(round((high - low) / step) + 1)]


def prunes(done: Sequence[Mapping[str, Any]], curve: Sequence[Sequence[float]], *,
           maximise: bool) -> bool:  # fmt: skip
    """Whether successive halving stops a trial whose curve stands where it does.

    Asynchronous successive halving (Li et al. 2020) by Optuna: at 1, 3, 9, … evaluations a trial
    goes on if it is in the best third of those that came as far. A function of the finished
    trials, so that a resumed search prunes as an unbroken one.

    Args:
        done: finished trials with their ``curve``.
        curve: ``(epoch, value)`` of this one so far.
        maximise: higher is better.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize" if maximise else "minimize",
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
    )
    stop = False
    for points in (*(trial.get("curve") or [] for trial in done), curve):
        trial = study.ask()
        for place, (_, value) in enumerate(points):
            trial.report(value, place + 1)
            stop = trial.should_prune()
        if points is not curve:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    return stop


def propose(
    space: Mapping[str, BaseDistribution],
    done: Sequence[Mapping[str, Any]],
    *,
    number: int,
    seed: int,
    sampler: str,
    maximise: bool,
    first: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Settings for trial ``number`` given the finished trials ``done`` (each ``settings, value``).

    Failed trials are left out; pruned ones count with their curve.

    Args:
        space: read by :func:`distributions`.
        done: finished trials.
        number: of the trial, from 0.
        seed: of the search.
        sampler: ``"tpe"``, ``"random"`` or ``"grid"``.
        maximise: higher is better.
        first: settings of trial 0, of a search that is no grid; what lies outside the space, or
            is missing, is drawn.
    """
    if sampler == "grid":
        return grid_point(space, number)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    makers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(
        direction="maximize" if maximise else "minimize",
        sampler=makers[sampler](seed=derive(seed, "trial", number) % 2**32),
    )
    for trial in done:
        pruned = bool(trial.get("pruned"))
        if trial["value"] is None and not pruned:
            continue
        state = optuna.trial.TrialState
        study.add_trial(
            optuna.trial.create_trial(
                state=state.PRUNED if pruned else state.COMPLETE,
                params={name: trial["settings"][name] for name in space},
                distributions=dict(space),
                value=None if pruned else trial["value"],
                intermediate_values=dict(trial["curve"]) if pruned else None,
            )
        )
    if number == 0 and first:
        within = {name: x for name, x in first.items() if name in space and _holds(space[name], x)}
        study.enqueue_trial(within)
    return dict(study.ask(dict(space)).params)


def _holds(entry: BaseDistribution, value: Any) -> bool:
    """Whether a setting is one of those that a space has."""
    if hasattr(entry, "choices"):
        return any(value == x and isinstance(value, type(x)) for x in entry.choices)
    low, high, step = entry.low, entry.high, entry.step  # type: ignore[attr-defined]
    if not _is_number(value) or (isinstance(low, int) and not isinstance(value, int)):
        return False
    if not low <= value <= high:
        return False
    steps = 0 if step is None else (Decimal(str(value)) - Decimal(str(low))) % Decimal(str(step))
    return steps == 0
