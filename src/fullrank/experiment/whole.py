"""Fits of a benchmark, which are whole or none at all."""

from __future__ import annotations

import warnings
from typing import Any

from fullrank.core.interactions import Interactions
from fullrank.models import Recommender
from fullrank.models._training import InterruptedTraining


def fit_whole(model: Recommender, rows: Interactions, **options: Any) -> None:
    """Fit a model; ``options`` are those of ``fit``.

    Raises:
        KeyboardInterrupt: Ctrl-C cut the training short. What was learnt is no result of a
            benchmark, so that the warning that the model has it would mislead.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedTraining)
        model.fit(rows, **options)
    if model.log_.interrupted:
        raise KeyboardInterrupt
