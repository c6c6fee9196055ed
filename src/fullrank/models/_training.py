"""Training in epochs: progress, monitor, checkpoints, Ctrl-C and a log, the same for all models."""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from fullrank.core.errors import FullrankError, StoreError, TrainingError
from fullrank.core.random import RNG, seed_of
from fullrank.core.resources import measured
from fullrank.models._checkpoint import Checkpoint, State
from fullrank.models._threads import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fullrank.core.interactions import Interactions
    from fullrank.models._base import Recommender

Tell = Callable[[str], None]
_AFTER = 2.0
"""Seconds before progress is shown (design: on everything that takes longer)."""


class InterruptedTraining(UserWarning):
    """Training was stopped by Ctrl-C; the model has what it had learnt."""


@dataclass
class Epoch:
    """What one epoch did.

    Attributes:
        epoch: its number, from 0.
        loss: mean training loss of its rows, or None for models that don't compute it.
        value: what the monitor measured after it, or None.
        seconds: of training alone, without the monitor.
    """

    epoch: int
    loss: float | None
    value: float | None
    seconds: float


@dataclass
class TrainingLog:
    """What a fit in epochs leaves behind, beside the weights.

    Attributes:
        epochs: one entry an epoch.
        best_epoch: whose weights the model has, where a monitor chose them; else the last.
        interrupted: stopped by Ctrl-C.
        resumed_at: epoch that a checkpoint was continued with, or None.
        resources: ``fit_seconds``, ``fit_peak_mib`` and ``fit_joules`` of this process's part.
    """

    epochs: list[Epoch] = field(default_factory=list)
    best_epoch: int | None = None
    interrupted: bool = False
    resumed_at: int | None = None
    resources: dict[str, float | None] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TrainingLog:
        """What ``as_dict`` gave."""
        return cls(**{**given, "epochs": [Epoch(**one) for one in given["epochs"]]})


@dataclass
class Training:
    """How a fit is watched; none of it changes what is learnt, but for a monitor that stops it.

    Attributes:
        monitor: called after each epoch with its number and the model; True stops. One with
            ``value`` is logged, one with ``finish(model)`` may put back the best weights, one
            with ``state()`` and ``restore(state)`` goes through a checkpoint, and goes on from
            none that was made without it.
        checkpoint: folder to go on from, and to write to after each epoch.
        progress: True or False to show it or not, a callable to be told, None: on a terminal.
    """

    monitor: Any = None
    checkpoint: Path | None = None
    progress: bool | Tell | None = None


class Stop:
    """Whether Ctrl-C was pressed; the second time it interrupts at once.

    Attributes:
        asked: it was pressed.
        early: the step ended before its epoch did.
    """

    def __init__(self) -> None:
        self.asked = self.early = False

    def __bool__(self) -> bool:
        return self.asked

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def _on_interrupt() -> Iterator[Stop]:
    """Note the first Ctrl-C in place of raising it; nothing outside the main thread."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def about(model: Recommender, rows: Interactions, rng: RNG) -> dict[str, Any]:
    """What must be equal for a checkpoint to be this training's."""
    return {
        "model": type(model).__name__,
        "version": model.version,
        "settings": model.settings(),
        "seed": seed_of(rng),
        "data": rows.fingerprint,
    }


def train(
    model: Recommender,
    epochs: int,
    step: Callable[[int, Stop], float | None],
    *,
    publish: Callable[[], None],
    state: Callable[[], State],
    restore: Callable[[State], None],
    about: Callable[[], Mapping[str, Any]],
) -> None:
    """Run epochs until they are done, the monitor stops them, or Ctrl-C does.

    An epoch must be a function of the state before it and of its number, so that training goes on
    from a checkpoint as if it had never stopped.

    Args:
        model: being fitted; gets ``log_``.
        epochs: how many.
        step: trains epoch number ``e`` and returns its mean loss; it may look at the ``Stop``
            between batches, set its ``early`` and return.
        publish: make the model ready to score (set the fitted attributes).
        state: arrays to go on from.
        restore: take such arrays back.
        about: says what must be equal for a checkpoint to be this training's.

    Raises:
        TrainingError: the loss is no finite number.
    """
    how = model.training
    kept = Checkpoint(how.checkpoint, about()) if how.checkpoint is not None else None
    log = TrainingLog()
    with (
        _on_interrupt() as stop,
        _shown(how.progress, model) as tell,
        measured(log.resources, "fit"),
    ):
        done = _resume(kept, log, restore, how.monitor, epochs) if kept is not None else False
        for epoch in range(len(log.epochs), 0 if done else epochs):
            start = time.perf_counter()
            loss = step(epoch, stop)
            if stop.early:
                log.interrupted = True
                break
            if loss is not None and not isfinite(loss):
                raise TrainingError(_diverged(model, loss, epoch))
            entry = Epoch(epoch, loss, None, time.perf_counter() - start)
            log.epochs.append(entry)
            done = epoch == epochs - 1
            if how.monitor is not None:
                publish()
                done = bool(how.monitor(epoch, model)) or done
                entry.value = getattr(how.monitor, "value", None)
            if kept is not None:
                kept.write(state(), log.as_dict(), _state_of(how.monitor), done=done)
            tell(_line(entry, epochs))
            if stop:
                log.interrupted = not done
            if done or stop:
                break
        publish()
    _finish(model, log)


def train_arrays(
    model: Recommender,
    epochs: int,
    step: Callable[[int, Stop], float | None],
    *,
    arrays: Mapping[str, NDArray[Any]],
    publish: Callable[[], None],
    rows: Interactions,
    rng: RNG,
) -> None:
    """``train`` for a state of arrays that each epoch changes in place, with one BLAS thread.

    Args:
        model: being fitted.
        epochs: how many.
        step: as for ``train``.
        arrays: all that an epoch depends on, beside its number.
        publish: as for ``train``.
        rows: fitted on.
        rng: as ``fit`` got it.
    """

    def restore(state: State) -> None:
        if (was := {k: v.shape for k, v in state.items()}) != (
            now := {k: v.shape for k, v in arrays.items()}
        ):
            raise ValueError(f"shapes {was}, expected {now}")
        for name, value in state.items():
            arrays[name][...] = value

    with one_blas_thread():  # once: to limit BLAS takes as long as small epochs
        train(
            model, epochs, step,
            publish=publish, state=lambda: dict(arrays), restore=restore,
            about=lambda: about(model, rows, rng),
        )  # fmt: skip


def _resume(
    kept: Checkpoint,
    log: TrainingLog,
    restore: Callable[[State], None],
    monitor: Any,
    epochs: int,
) -> bool:
    """Take a checkpoint's state back, if there is one; True if that training was over."""
    found = kept.read()
    if found is None:
        return False
    arrays, given, watched, done = found
    remembers = hasattr(monitor, "restore")
    try:
        restore(arrays)
        before = TrainingLog.of(given)
        if remembers and watched is None:
            raise StoreError(_unwatched(len(before.epochs), monitor))
        if remembers:
            monitor.restore(watched)
    except FullrankError as error:
        raise type(error)(f"{kept.folder}: {error}") from error
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise StoreError(
            f"{kept.folder} holds a damaged checkpoint ({' '.join(str(error).split())[:200]}); "
            "remove the folder to start anew"
        ) from error
    log.epochs, log.best_epoch = before.epochs, before.best_epoch
    log.resumed_at = len(log.epochs)
    stopped_by_another = monitor is None or (watched is not None and not remembers)
    return done and not (stopped_by_another and len(log.epochs) < epochs)


def _unwatched(n: int, monitor: Any) -> str:
    name = type(monitor).__name__
    return (
        f"the checkpoint's {n} epochs were trained without {name}, which can't tell the best of "
        f"epochs that it has not seen; give another folder, remove this one to start anew, or go "
        f"on without {name}"
    )


def _state_of(monitor: Any) -> State | None:
    return monitor.state() if hasattr(monitor, "state") else None


def _finish(model: Recommender, log: TrainingLog) -> None:
    """Put the best weights back, and say where training was cut short."""
    monitor = model.training.monitor
    if hasattr(monitor, "finish"):
        log.best_epoch = monitor.finish(model)
    elif log.epochs:
        log.best_epoch = log.epochs[-1].epoch
    model.log_ = log
    if log.interrupted:
        warnings.warn(
            f"{type(model).__name__}: training was interrupted after {len(log.epochs)} epochs; "
            "the model has what it had learnt until then",
            InterruptedTraining,
            stacklevel=4,
        )


def _diverged(model: Recommender, loss: float, epoch: int) -> str:
    given = model.settings()
    blamed = [f"{key}={given[key]!r}" for key in _BLAMED if key in given]
    weight = max(_WEIGHTS, key=lambda key: given.get(key, 0.0))
    remedy = f"lower {weight}" if given.get(weight, 0.0) > 1 else "raise reg"
    return (
        f"{type(model).__name__}: the training loss became {loss} in epoch {epoch + 1} with "
        f"{', '.join(blamed)}; lower learning_rate, or {remedy}"
    )


_WEIGHTS = ("reg", "l1_reg", "kl_weight", "gamma", "kg_weight", "vector_weight")
_BLAMED = ("learning_rate", "optimiser", *_WEIGHTS, "objective", "init", "batch_size")


def _line(entry: Epoch, epochs: int) -> str:
    loss = "" if entry.loss is None else f", loss {entry.loss:.5g}"
    value = "" if entry.value is None else f", validation {entry.value:.5g}"
    return f"epoch {entry.epoch + 1} of {epochs}{loss}{value}"


@contextmanager
def _shown(progress: bool | Tell | None, model: Recommender) -> Iterator[Tell]:
    """Where to tell progress: a callable, a line on a terminal, or nowhere."""
    if callable(progress):
        yield progress
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.status import Status

    status = Status(f"{type(model).__name__}: training", console=Console(stderr=True))
    start, running = time.perf_counter(), False

    def tell(text: str) -> None:
        nonlocal running
        status.update(f"{type(model).__name__}: {text}")
        if not running and time.perf_counter() - start > _AFTER:
            status.start()
            running = True

    try:
        yield tell
    finally:
        status.stop()
