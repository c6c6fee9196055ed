"""Objectives in PyTorch against those in NumPy: losses and gradients."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fullrank.models.neural._losses import catalogue_loss, losses
from fullrank.objectives import REGISTRY, CrossEntropy, Multinomial, Softmax, objective

N_ITEMS, B, M = 50, 12, 6
TEXTS = [
    *(name for name in REGISTRY if name != "Multinomial"),
    "crossentropy(calibration=0.75)", "hinge(margin=0.3)", "softmax(temperature=0.5)",
    "softmax(log_q=false)", "warp(margin=0.1)",
]  # fmt: skip


def _scores(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    log_q = np.log(rng.uniform(0.01, 1, (B, M)))
    return rng.normal(size=B), rng.normal(size=(B, M)), log_q


def _numpy(text: str, positive, negatives, log_q):
    given = objective(text)
    options = {}
    if isinstance(given, Softmax):
        options = {"log_q": log_q}
    elif isinstance(given, CrossEntropy):
        options = {"beta": given.beta(negatives.shape[1], N_ITEMS)}
    elif str(given).startswith("WARP"):
        options = {"n_items": N_ITEMS}
    return given.loss(positive, negatives, **options)


def _torch(text: str, positive, negatives, log_q, there=None):
    p, n = (torch.tensor(x, requires_grad=True) for x in (positive, negatives))
    mask = None if there is None else torch.from_numpy(there)
    each = losses(objective(text), p, n, n_items=N_ITEMS, log_q=torch.from_numpy(log_q), there=mask)
    gradients = torch.autograd.grad(each.sum(), (p, n))
    return each.detach().numpy(), *(g.numpy() for g in gradients)


@pytest.mark.parametrize("text", TEXTS)
def test_losses_and_gradients_are_those_in_numpy(text):
    given = _scores()
    for found, wanted in zip(_torch(text, *given), _numpy(text, *given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("text", TEXTS)
def test_a_negative_that_does_not_count_is_as_none(text):
    """Masked negatives give the loss of a shorter list (WARP's and gSASRec's weights know m)."""
    if "WARP" in text or "warp" in text or "calibration" in text:
        pytest.skip("depends on the number drawn")
    positive, negatives, log_q = _scores(1)
    there = np.ones((B, M), bool)
    there[:, [1, 4]] = False
    loss, by_positive, by_negative = _torch(text, positive, negatives, log_q, there)
    kept = [0, 2, 3, 5]
    wanted = _numpy(text, positive, negatives[:, kept], log_q[:, kept])
    np.testing.assert_allclose(loss, wanted[0], rtol=1e-10)
    np.testing.assert_allclose(by_positive, wanted[1], rtol=1e-10)
    np.testing.assert_allclose(by_negative[:, kept], wanted[2], rtol=1e-10)
    assert (by_negative[:, [1, 4]] == 0).all()


def test_the_catalogue_loss_is_the_multinomial():
    rng = np.random.default_rng(2)
    scores, items = rng.normal(size=(B, N_ITEMS)), rng.integers(0, N_ITEMS, B)
    x = torch.tensor(scores, requires_grad=True)
    each = catalogue_loss(x, torch.from_numpy(items))
    (gradient,) = torch.autograd.grad(each.sum(), x)
    rest = np.stack([np.delete(row, i) for row, i in zip(scores, items, strict=True)])
    loss, positive, negatives = Multinomial().loss(scores[np.arange(B), items], rest)
    np.testing.assert_allclose(each.detach().numpy(), loss, rtol=1e-10)
    np.testing.assert_allclose(gradient.numpy()[np.arange(B), items], positive, rtol=1e-10)
    others = [np.delete(row, i) for row, i in zip(gradient.numpy(), items, strict=True)]
    np.testing.assert_allclose(np.stack(others), negatives, rtol=1e-10)
