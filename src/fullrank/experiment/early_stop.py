"""Stop training when validation gets no better, and keep the best epoch's weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, StoreError
from fullrank.core.queries import Queries
from fullrank.metrics import Metric, parse
from fullrank.models import Recommender
from fullrank.rank import Catalogue, rank

Curve = list[tuple[int, float]]
"""Epochs, from 0, with the metric after each."""


class EarlyStop:
    """A monitor for ``fit``: ranks validation queries after epochs, in full.

    ``model.fit(split.train, monitor=EarlyStop(split.queries("valid"), "ndcg@10"))`` trains until
    the metric has not risen for ``patience`` evaluations, and leaves the weights of the best epoch
    in the model (``model.log_.best_epoch``); the earliest of equals. It goes through a checkpoint
    that was made with the same EarlyStop. One EarlyStop watches one fit.

    Args:
        queries: of the validation part.
        metric: a ranking metric, such as ``"ndcg@10"``.
        patience: evaluations without a better one before training stops; None: never, so that only
            the best epoch is chosen.
        every: epochs between evaluations; the last epoch is evaluated if it is reached by this.
        catalogue: of the ranking, as ``rank`` takes it.
        prune: told the curve so far after each evaluation; True stops training, and ``pruned``
            says so.

    Attributes:
        value: of the last evaluation; None after an epoch without one.
        curve: all of them.
        pruned: training was stopped by ``prune``.

    Raises:
        SpecError: no queries, a metric of ratings, or numbers below 1.
    """

    def __init__(
        self,
        queries: Queries,
        metric: str | Metric = "ndcg@10",
        *,
        patience: int | None = 5,
        every: int = 1,
        catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
        prune: Callable[[Curve], bool] | None = None,
    ) -> None:
        self.metric = parse(metric) if isinstance(metric, str) else metric
        if not isinstance(self.metric, Metric):
            raise SpecError(f"EarlyStop: metric must be such as 'ndcg@10', got {metric!r}")
        if prune is not None and not callable(prune):
            raise SpecError(f"EarlyStop: prune must be callable with a curve, got {prune!r}")
        if self.metric.source == "predictions":
            raise SpecError(
                f"EarlyStop ranks, and {self.metric} is a metric of predicted ratings; take a "
                "ranking metric, such as ndcg@10"
            )
        for name, number in (("patience", patience), ("every", every)):
            if number is None and name == "patience":
                continue
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise SpecError(f"EarlyStop: {name} must be a whole number >= 1, got {number!r}")
        if not isinstance(queries, Queries):
            raise SpecError(
                "EarlyStop takes queries of the validation part, split.queries('valid'); got "
                f"{type(queries).__name__}"
            )
        if len(queries) == 0:
            raise SpecError("EarlyStop got no queries; give those of the validation part")
        self.queries, self.catalogue = queries, catalogue
        self.patience, self.every, self.prune = patience, every, prune
        self.value: float | None = None
        self.curve: Curve = []
        self.pruned = False
        self._best: dict[str, Any] | None = None

    def __call__(self, epoch: int, model: Recommender) -> bool:
        """Evaluate after an epoch; True to stop."""
        self.value = None
        if (epoch + 1) % self.every:
            return False
        if self.curve and epoch <= self.curve[-1][0]:
            raise SpecError(
                f"EarlyStop has watched another fit, up to its epoch {self.curve[-1][0] + 1}, and "
                "would mix the two; make a new one for each fit"
            )
        ranked = rank(model, self.queries, catalogue=self.catalogue).targets
        value = float(self.metric.value(ranked))
        if np.isnan(value):
            raise SpecError(
                f"EarlyStop: {self.metric} has no value on the {len(self.queries):,} validation "
                "queries (none has a relevant target); take another metric"
            )
        self.value = value
        self.curve.append((epoch, value))
        if self.best_epoch == epoch:
            self._best = model.snapshot()
        self.pruned = self.prune is not None and self.prune(self.curve)
        return self.pruned or self._since_best() >= (self.patience or np.inf)

    @property
    def best_epoch(self) -> int | None:
        """The epoch with the best value, the earliest of equals; None before any."""
        sign = 1 if self.metric.higher_is_better else -1
        return max(self.curve, key=lambda at: (sign * at[1], -at[0]))[0] if self.curve else None

    @property
    def best_value(self) -> float | None:
        """The metric after ``best_epoch``."""
        return dict(self.curve)[self.best_epoch] if self.best_epoch is not None else None

    def _since_best(self) -> int:
        """Evaluations since the best one."""
        return sum(epoch > (self.best_epoch or 0) for epoch, _ in self.curve)

    def finish(self, model: Recommender) -> int | None:
        """Put the best epoch's weights into the model; its number."""
        if self._best is not None:
            model.restore(self._best)
        return self.best_epoch

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: the curve, and the best weights so far."""
        best = {f"best/{name}": value for name, value in (self._best or {}).items()}
        return {"curve": self.curve, "pruned": self.pruned, "about": self._about(), **best}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from ``state``.

        Raises:
            StoreError: it is that of an EarlyStop which measured something else.
        """
        was, now = state["about"], self._about()
        if differs := [
            f"{key} was {was[key]} and is {now[key]}" for key in now if was[key] != now[key]
        ]:
            raise StoreError(
                f"the checkpoint was made with another EarlyStop ({'; '.join(differs)}); give the "
                "same one, another folder, or remove this one to start anew"
            )
        self.curve = [(int(epoch), float(value)) for epoch, value in state["curve"]]
        self.pruned = bool(state["pruned"])
        best = {k[5:]: v for k, v in state.items() if k.startswith("best/")}
        self._best = best or None

    def _about(self) -> dict[str, Any]:
        """What must be equal for two curves to be one."""
        q, catalogue = self.queries, self.catalogue
        if isinstance(catalogue, np.ndarray):
            catalogue = Catalogue(catalogue, "given")
        if isinstance(catalogue, Catalogue):
            parts = (catalogue.items, catalogue.eligible_indptr, catalogue.eligible_items)
            catalogue = f"{catalogue.name} {_digest(*parts)}"
        return {
            "metric": str(self.metric),
            "patience": self.patience,
            "every": self.every,
            "catalogue": catalogue,
            "queries": _digest(q.users, q.history_items, q.target_items, q.target_gains),
        }


def _digest(*arrays: NDArray[Any]) -> str:
    found = blake2b(digest_size=8)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
