"""Averages of the weights over training steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fullrank.core.call import plain, read_call
from fullrank.core.errors import SpecError, suggest
from fullrank.models.neural._torch import Tensor, torch


class Average:
    """Weights averaged over steps: ``ema`` forgets, ``mean`` does not.

    ``ema(decay=0.999)``: exponential moving average (Polyak & Juditsky 1992's idea, as used by
    Tarvainen & Valpola 2017), free of a bias to the start: step t moves it by
    ``max(1 - decay, 1 / t)``. ``mean``: of all steps.

    Args:
        decay: of the moving average; 1 for the mean.
    """

    def __init__(self, decay: float) -> None:
        self._decay, self._steps, self._kept = decay, 0, list[Tensor]()

    def update(self, params: Sequence[Tensor]) -> None:
        """Take in the weights after a step."""
        self._steps += 1
        with torch.no_grad():
            if not self._kept:
                self._kept = [p.detach().clone() for p in params]
                return
            share = max(1.0 - self._decay, 1.0 / self._steps)
            for kept, param in zip(self._kept, params, strict=True):
                kept.lerp_(param.detach(), share)

    @contextmanager
    def used(self, params: Sequence[Tensor]) -> Iterator[None]:
        """Put the averages in the place of the weights for a while."""
        if not self._kept:
            yield
            return
        own = [p.detach().clone() for p in params]
        with torch.no_grad():
            for param, kept in zip(params, self._kept, strict=True):
                param.copy_(kept)
        yield
        with torch.no_grad():
            for param, before in zip(params, own, strict=True):
                param.copy_(before)

    def state(self) -> dict[str, Any]:
        """Arrays to go on from."""
        kept = {str(i): x.cpu().numpy().copy() for i, x in enumerate(self._kept)}
        return {**kept, "steps": np.asarray(self._steps)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from ``state``."""
        self._steps = int(state["steps"])
        self._kept = [torch.tensor(state[str(i)]) for i in range(len(state) - 1)]


def read_average(text: str, model: str) -> float | None:
    """The decay of ``none``, ``mean`` or ``ema(decay=0.999)``; None for none.

    Raises:
        SpecError: another form, or a decay that is none.
    """
    if text.strip().lower() == "none":
        return None
    call = read_call(text, f"{model}: averaging")
    name, options = plain(call.name), dict(call.options or {})
    if name not in ("ema", "mean") or call.parts:
        hint = suggest(name, ("none", "mean", "ema"))
        raise SpecError(f"{model}: unknown averaging {text!r}{hint}")
    decay = options.pop("decay", 0.999) if name == "ema" else 1.0
    if options or not isinstance(decay, float | int) or not 0 < decay <= 1:
        raise SpecError(
            f"{model}: averaging takes decay= above 0 and at most 1, as in ema(decay=0.999); "
            f"got {text!r}"
        )
    return float(decay)
