"""The maximum of a penalised likelihood of a spline, by damped Fisher scoring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Array = NDArray[np.float64]


@jit()
def find_mode(
    base: Array,
    first: NDArray[np.int64],
    local: Array,
    likelihood: Array,
    counts: Array,
    penalty: Array,
    beta: Array,
    steps: int,
    least: float,
    hessian: Array,
) -> float:
    """Maximise ``sum c_g log(L' pi)_g - beta' Q beta / 2`` over the coefficients.

    ``log pi_b = base_b + sum_j local[b, j] beta[first_b + j] - log sum``.

    Args:
        base: float64 ``[bins]``.
        first: int64 ``[bins]``, the first coefficient that a bin depends on.
        local: float64 ``[bins, 4]``, basis functions of a bin that aren't zero.
        likelihood: float64 ``[bins, g]``.
        counts: float64 ``[g]``.
        penalty: float64 ``[p, p]``, ``Q``.
        beta: float64 ``[p]``, where to start; overwritten by the maximum.
        steps: at most.
        least: gain of the objective below which the search ends.
        hessian: float64 ``[p, p]``, overwritten: outer products of scores at the maximum, with Q.

    Returns:
        The objective; -inf where some data are impossible at the start.
    """
    p, g = len(beta), likelihood.shape[1]
    gradient, tried, step = np.empty(p), np.empty(p), np.empty(p)
    new_gradient, new_hessian = np.empty(p), np.empty((p, p))
    pi, scores = np.empty(len(base)), np.empty((p, g))
    value = _look(
        base, first, local, likelihood, counts, penalty, beta, pi, scores, gradient, hessian
    )
    damping = 1e-6
    for _ in range(steps):
        better = False
        if _solve(hessian, damping, gradient, step):
            for j in range(p):
                tried[j] = beta[j] + step[j]
            new = _look(
                base, first, local, likelihood, counts, penalty, tried,
                pi, scores, new_gradient, new_hessian,
            )  # fmt: skip
            better = new > value
            if not better and np.abs(step).max() < 1e-10:
                break
        if not better:
            if damping > 1e8:
                break
            damping = max(10.0 * damping, 1e-4)
            continue
        gain = new - value
        value, damping = new, max(0.2 * damping, 1e-12)
        beta[:], gradient[:], hessian[:] = tried, new_gradient, new_hessian
        if gain < least:
            break
    return value


@jit()
def _look(
    base: Array,
    first: NDArray[np.int64],
    local: Array,
    likelihood: Array,
    counts: Array,
    penalty: Array,
    beta: Array,
    pi: Array,
    scores: Array,
    gradient: Array,
    hessian: Array,
) -> float:
    """The objective; its gradient and curvature are written."""
    p, g = scores.shape
    _distribution(base, first, local, beta, pi)
    found, mean = np.zeros(g), np.zeros(p)
    scores[:] = 0.0
    for b in range(len(pi)):
        row = likelihood[b]
        _add(found, pi[b], row)
        for j in range(4):
            weight = local[b, j] * pi[b]
            mean[first[b] + j] += weight
            _add(scores[first[b] + j], weight, row)
    value = 0.0
    for j in range(p):
        pull = 0.0
        for k in range(p):
            pull += penalty[j, k] * beta[k]
            hessian[j, k] = penalty[j, k]
        gradient[j] = -pull
        value -= 0.5 * beta[j] * pull
    own = np.empty(p)
    for c in range(g):
        if not found[c] > 0.0:
            return -np.inf
        value += counts[c] * np.log(found[c])
        for j in range(p):
            own[j] = scores[j, c] / found[c] - mean[j]
        for j in range(p):
            gradient[j] += counts[c] * own[j]
            _add(hessian[j], counts[c] * own[j], own)
    return value


@jit()
def _add(out: Array, weight: float, row: Array) -> None:
    for c in range(len(out)):
        out[c] += weight * row[c]


@jit()
def _distribution(
    base: Array, first: NDArray[np.int64], local: Array, beta: Array, pi: Array
) -> None:
    """Write the probability of each bin."""
    top = -np.inf
    for b in range(len(base)):
        at = first[b]
        log = base[b]
        for j in range(4):
            log += local[b, j] * beta[at + j]
        pi[b] = log
        top = max(top, log)
    total = 0.0
    for b in range(len(base)):
        pi[b] = np.exp(pi[b] - top)
        total += pi[b]
    for b in range(len(base)):
        pi[b] /= total


@jit()
def _solve(matrix: Array, damping: float, right: Array, out: Array) -> bool:
    """Solve ``(A + damping diag A) x = right`` by Cholesky; False if it isn't positive."""
    p = len(right)
    root = matrix.copy()  # its upper triangle becomes U with A = U'U
    for j in range(p):
        root[j, j] += damping * matrix[j, j]
        out[j] = right[j]
    for j in range(p):
        if not root[j, j] > 0.0:
            return False
        scale = 1.0 / np.sqrt(root[j, j])
        for k in range(j, p):
            root[j, k] *= scale
        out[j] *= scale
        for i in range(j + 1, p):
            _add(root[i, i:], -root[j, i], root[j, i:])
        _add(out[j + 1 :], -out[j], root[j, j + 1 :])
    for j in range(p - 1, -1, -1):
        x = out[j]
        for k in range(j + 1, p):
            x -= root[j, k] * out[k]
        out[j] = x / root[j, j]
    return True
