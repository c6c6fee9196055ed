"""Which of a model's own methods say how its scores come about."""

from __future__ import annotations

from fullrank.models._base import Recommender


def shows(model: Recommender, method: str) -> bool:
    """True if ``method`` (``item_factors`` …) speaks for the scores of the model.

    A subclass that has its own ``_score`` and inherits ``item_factors`` scores by something else:
    then the scores count.
    """
    order = type(model).__mro__

    def place(name: str) -> int:
        return next(i for i, one in enumerate(order) if name in vars(one))

    return place(method) <= min(place("_score"), place("score"))
