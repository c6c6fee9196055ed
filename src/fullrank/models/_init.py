"""Initialisers: what weights start from, drawn by one generator a parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.call import made, read_call, written
from fullrank.core.errors import SpecError
from fullrank.core.random import derive

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Uniform:
    """Uniform draws from ``low`` to ``high`` (DaisyRec's: 0 to 1)."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not -np.inf < self.low < self.high < np.inf:
            raise SpecError(f"init: uniform needs low < high, got {self.low!r} and {self.high!r}")

    def draw(self, rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        """Float64 of a shape."""
        return rng.uniform(self.low, self.high, shape)


@dataclass(frozen=True)
class Normal:
    """Normal draws around 0 (DaisyRec's: standard deviation 0.01)."""

    std: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.std < np.inf:
            raise SpecError(f"init: normal needs std >= 0, got {self.std!r}")

    def draw(self, rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        """Float64 of a shape."""
        return rng.normal(0.0, self.std, shape)


@dataclass(frozen=True)
class XavierUniform:
    """Uniform on ``±sqrt(6 / (in + out))`` (Glorot & Bengio 2010, equation 16)."""

    def draw(self, rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        """Float64 of a shape ``(out, in)``."""
        bound = np.sqrt(6.0 / sum(_fans(shape)))
        return rng.uniform(-bound, bound, shape)


@dataclass(frozen=True)
class XavierNormal:
    """Normal of variance ``2 / (in + out)`` (Glorot & Bengio 2010, equation 12)."""

    def draw(self, rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        """Float64 of a shape ``(out, in)``."""
        return rng.normal(0.0, np.sqrt(2.0 / sum(_fans(shape))), shape)


Initialiser = Uniform | Normal | XavierUniform | XavierNormal

_KNOWN = {
    "uniform": Uniform,
    "normal": Normal,
    "xavieruniform": XavierUniform,
    "xaviernormal": XavierNormal,
}


def initialiser(text: str, model: str) -> Initialiser:
    """Read an initialiser, such as ``normal(std=0.01)``, ``uniform`` or ``xavier_normal``.

    Raises:
        SpecError: another form, or options that mean nothing.
    """
    what = f"{model}: init"
    found: Initialiser = made(read_call(text, what), what, _KNOWN)
    return found


def text_of(value: Initialiser) -> str:
    """The text that ``initialiser`` reads."""
    return written(value, type(value).__name__)


def start(text: str, shape: Shape, seed: int, *names: object) -> NDArray[np.float32]:
    """Start weights of a shape, a function of the seed and the parameter's name."""
    rng = np.random.default_rng(derive(seed, "init", *names))
    return initialiser(text, "").draw(rng, shape).astype(np.float32)


def _fans(shape: Shape) -> tuple[int, int]:
    """In and out of a matrix; a vector counts as one row."""
    return (shape[-1], shape[0]) if len(shape) > 1 else (shape[0], 1)
