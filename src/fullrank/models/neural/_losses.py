"""Objectives in PyTorch; their gradients are tested against the NumPy ones."""

from __future__ import annotations

from fullrank.models.neural._torch import Tensor, torch
from fullrank.objectives import (
    BPR,
    WARP,
    CrossEntropy,
    Hinge,
    Multinomial,
    Objective,
    Softmax,
    Squared,
    Top1,
)
from fullrank.objectives.warp import rank_weights

softplus, sigmoid = torch.nn.functional.softplus, torch.sigmoid


def losses(
    objective: Objective,
    positive: Tensor,
    negatives: Tensor,
    *,
    n_items: int,
    log_q: Tensor | None = None,
    there: Tensor | None = None,
) -> Tensor:
    """Loss of each row ``[b]``.

    Args:
        objective: any but those of the whole catalogue (see ``catalogue_loss``).
        positive: ``[b]`` scores.
        negatives: ``[b, m]`` scores.
        n_items: size of the catalogue.
        log_q: ``[b, m]`` for ``Softmax``.
        there: bool ``[b, m]``: False where a negative does not count (in-batch draws that the
            user has); None: all count.
    """
    found = _each(objective, positive, negatives, n_items)
    if found is not None:
        alone, each = found
        return alone + (each if there is None else each * there).sum(dim=1)
    if there is not None:
        negatives = negatives.masked_fill(~there, -torch.inf)
    if isinstance(objective, Softmax):
        return _softmax(objective, positive, negatives, log_q)
    if isinstance(objective, WARP):
        return _warp(objective, positive, negatives, n_items)
    if isinstance(objective, Multinomial):
        raise AssertionError("Multinomial compares with the whole catalogue: catalogue_loss")
    raise AssertionError(f"no loss for {objective}")


def _each(
    objective: Objective, positive: Tensor, negatives: Tensor, n_items: int
) -> tuple[Tensor, Tensor] | None:
    """What a positive adds alone ``[b]`` and with each negative ``[b, m]``; None for lists."""
    behind, none = negatives - positive[:, None], torch.zeros_like(positive)
    if isinstance(objective, Squared):
        return 0.5 * (1 - positive) ** 2, 0.5 * negatives**2
    if isinstance(objective, CrossEntropy):
        beta = objective.beta(negatives.shape[1], n_items)
        return beta * softplus(-positive), softplus(negatives)
    if isinstance(objective, BPR):
        return none, softplus(behind)
    if isinstance(objective, Hinge):
        return none, torch.relu(objective.margin + behind)
    if isinstance(objective, Top1):
        return none, sigmoid(behind) + sigmoid(negatives**2)
    return None


def _softmax(
    objective: Softmax, positive: Tensor, negatives: Tensor, log_q: Tensor | None
) -> Tensor:
    positive, negatives = positive / objective.temperature, negatives / objective.temperature
    if objective.log_q and log_q is not None:
        negatives = negatives - log_q
    scores = torch.cat([positive[:, None], negatives], dim=1)
    return torch.logsumexp(scores, dim=1) - positive


def _warp(objective: WARP, positive: Tensor, negatives: Tensor, n_items: int) -> Tensor:
    short = objective.margin + negatives - positive[:, None]
    violates = short.detach() > 0
    first = violates.to(torch.int8).argmax(dim=1)
    weights = torch.as_tensor(
        rank_weights(n_items, negatives.shape[1]), dtype=positive.dtype, device=positive.device
    )
    chosen = short.gather(1, first[:, None])[:, 0]
    return torch.where(violates.any(dim=1), weights[first] * chosen, torch.zeros_like(positive))


def catalogue_loss(scores: Tensor, items: Tensor, weights: Tensor | None = None) -> Tensor:
    """``-ln softmax(scores)[items]`` of each row ``[b]``: the multinomial objective.

    Args:
        scores: ``[b, n_items]``.
        items: int64 ``[b]``.
        weights: ``[b]`` or None.
    """
    loss = torch.nn.functional.cross_entropy(scores, items, reduction="none")
    return loss if weights is None else loss * weights
