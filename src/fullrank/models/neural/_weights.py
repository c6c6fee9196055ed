"""Models whose fitted state is a network's weights: saved as safetensors, put back as one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from fullrank.models._base import Recommender
from fullrank.models._folder import read_weights, refuse_weights
from fullrank.models.neural._task import Task


class Weighted(Recommender):
    """Mixed into those: they say in ``_take`` how to be ready to score with some weights."""

    weights_: dict[str, Any]

    def _take(self, weights: dict[str, Any]) -> None:
        """Be ready to score with some weights, and keep them in ``weights_``."""
        raise NotImplementedError

    def _publish(self, task: Task) -> None:
        state = task.network.state_dict()
        self._take({name: x.detach().cpu().numpy().copy() for name, x in state.items()})

    def snapshot(self) -> dict[str, Any]:
        """A copy of the weights."""
        self._require_fitted()
        return {name: value.copy() for name, value in self.weights_.items()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go back to a ``snapshot`` of the same fit."""
        self._take(dict(snapshot))

    def save(self, folder: str | Path) -> None:
        """Write settings (JSON), weights (safetensors) and the rest (npz): no pickle."""
        from safetensors.numpy import save_file

        super().save(folder)
        weights = {k: np.ascontiguousarray(v) for k, v in self.weights_.items()}
        save_file(weights, Path(folder) / "weights.safetensors")

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what ``save`` wrote.

        Raises:
            StoreError: a folder of another model, or one that is damaged.
        """
        model, weights = super().load(folder), read_weights(Path(folder))
        try:
            model._take(weights)
        except (RuntimeError, KeyError, ValueError) as error:  # PyTorch's, of shapes and names
            raise refuse_weights(Path(folder), error) from error
        return model
