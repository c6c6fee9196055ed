"""The mode of a penalised spline against a general optimiser and plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from fullrank.estimators._bins import Bins
from fullrank.estimators._spline import BASIS, Family
from fullrank.kernels.spline_mode import _solve


def problem(seed: int):
    rng = np.random.default_rng(seed)
    bins = Bins.of(3000, 60)
    family = Family.of(bins, float(rng.choice([0.0, 3.0, 30.0])), int(rng.choice([2, 3])))
    likelihood = rng.random((len(bins), 17)) ** 4
    return family, likelihood, rng.integers(1, 300, 17).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothness", [1e3, 1.0, 1e-2])
def test_a_general_optimiser_gains_nothing_from_there(seed, smoothness):
    family, likelihood, counts = problem(seed)
    q = family.penalty(smoothness)

    def loss(beta):
        return beta @ q @ beta / 2 - counts @ np.log(family.distribution(beta) @ likelihood)

    mode = family.mode(likelihood, counts, smoothness, np.zeros(BASIS))
    assert mode.value == pytest.approx(-loss(mode.beta), rel=1e-8)
    # A mixture's likelihood may have several modes; of this one nothing is left to gain.
    found = minimize(loss, mode.beta, method="BFGS", options={"gtol": 1e-7})
    assert found.fun > loss(mode.beta) - 0.01  # it ends at steps that gain under 1e-6


def test_the_curvature_is_that_of_the_scores():
    family, likelihood, counts = problem(0)
    mode = family.mode(likelihood, counts, 1.0, np.zeros(BASIS))
    pi = family.distribution(mode.beta)
    found = pi @ likelihood
    scores = likelihood.T @ (pi[:, None] * family.basis) / found[:, None] - pi @ family.basis
    plain = scores.T @ (counts[:, None] * scores) + family.penalty(1.0)
    assert mode.hessian == pytest.approx(plain, rel=1e-10, abs=1e-10)


def test_impossible_data_are_said_at_once():
    family, likelihood, counts = problem(0)
    likelihood[:, 3] = 0.0
    mode = family.mode(likelihood, counts, 1.0, np.zeros(BASIS))
    assert mode.value == -np.inf


def test_solve_is_cholesky_and_says_when_it_can_not():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(9, 9))
    matrix, right, out = root @ root.T, rng.normal(size=9), np.empty(9)
    assert _solve(matrix, 0.1, right, out)
    assert out == pytest.approx(np.linalg.solve(matrix + 0.1 * np.diag(np.diag(matrix)), right))
    assert not _solve(-matrix, 0.1, right, out)


def test_the_start_is_not_changed():
    family, likelihood, counts = problem(1)
    start = np.full(BASIS, 0.25)
    family.mode(likelihood, counts, 1.0, start)
    assert (start == 0.25).all()
