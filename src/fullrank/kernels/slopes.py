"""Gradients of objectives by scores; ``fullrank.objectives`` has their formulas."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

SQUARED, CROSS_ENTROPY, BPR, HINGE, TOP1, SOFTMAX, WARP = range(7)
"""Codes of the objectives; ``fullrank.objectives`` has their formulas."""


@jit(inline="always")
def _logistic(x: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * x))


@jit(inline="always")
def slopes_of(
    code: int,
    option: float,
    n_items: int,
    positive: float,
    scores: NDArray[np.float64],
    count: int,
    out: NDArray[np.float64],
) -> float:
    """Gradient of the loss by the positive's score; by those of ``count`` negatives into ``out``.

    ``WARP`` gets one negative, with the number of looks that it took as ``count``.

    Args:
        code: of the objective.
        option: margin, weight of positives, or temperature.
        n_items: of the catalogue, for ``WARP``.
        positive: score.
        scores: float64 ``[count]`` or longer.
        count: negatives.
        out: float64, overwritten.
    """
    if code == WARP:
        return _warp(n_items, count, out)
    if code == SOFTMAX:
        return _softmax(option, positive, scores, count, out)
    if code in (SQUARED, CROSS_ENTROPY):
        for j in range(count):
            out[j] = scores[j] if code == SQUARED else _logistic(scores[j])
        if code == SQUARED:
            return positive - 1.0
        return option * (_logistic(positive) - 1.0)
    return _pairs(code, option, positive, scores, count, out)


@jit(inline="always")
def _warp(n_items: int, looks: int, out: NDArray[np.float64]) -> float:
    weight = 0.0
    for i in range(1, max((n_items - 1) // looks, 1) + 1):
        weight += 1.0 / i
    out[0] = weight
    return -weight


@jit(inline="always")
def _softmax(
    temperature: float,
    positive: float,
    scores: NDArray[np.float64],
    count: int,
    out: NDArray[np.float64],
) -> float:
    top = positive
    for j in range(count):
        top = max(top, scores[j])
    own = math.exp((positive - top) / temperature)
    total = own
    for j in range(count):
        out[j] = math.exp((scores[j] - top) / temperature)
        total += out[j]
    for j in range(count):
        out[j] /= total * temperature
    return (own / total - 1.0) / temperature


@jit(inline="always")
def _pairs(
    code: int,
    margin: float,
    positive: float,
    scores: NDArray[np.float64],
    count: int,
    out: NDArray[np.float64],
) -> float:
    total = 0.0
    for j in range(count):
        behind = scores[j] - positive
        if code == BPR:
            out[j] = _logistic(behind)
            total -= out[j]
        elif code == HINGE:
            out[j] = 1.0 if margin + behind > 0 else 0.0
            total -= out[j]
        else:  # TOP1
            ahead, pull = _logistic(behind), _logistic(scores[j] ** 2)
            out[j] = ahead * (1.0 - ahead)
            total -= out[j]
            out[j] += 2.0 * scores[j] * pull * (1.0 - pull)
    return total
