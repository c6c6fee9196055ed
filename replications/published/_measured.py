"""What the scripts of this folder share: metrics by name, and the curve of a training."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import fullrank as fr
from fullrank.core.queries import Queries
from fullrank.metrics import parse
from fullrank.models import Recommender
from fullrank.negatives import Negatives
from fullrank.rank import rank


def measured(
    model: Recommender,
    queries: Queries,
    metrics: Sequence[str],
    candidates: Negatives | Literal["full"] = "full",
) -> dict[str, float]:
    """Means over the queries, among all items that a user doesn't have or drawn candidates."""
    targets = rank(model, queries, candidates=candidates).targets
    return {name: round(float(parse(name).value(targets)), 4) for name in metrics}


class Told(fr.EarlyStop):
    """An ``EarlyStop`` that writes its curve down, a line an evaluation.

    Args:
        queries: of the validation part.
        metric: by which the best epoch is chosen.
        every: epochs from one evaluation to the next.
        patience: evaluations without a gain.
        told: the file of the curve.
    """

    def __init__(
        self, queries: Queries, metric: str, *, every: int, patience: int, told: Path
    ) -> None:
        super().__init__(queries, metric, every=every, patience=patience)
        self.told, self.started = told, time.perf_counter()

    def __call__(self, epoch: int, model: Recommender) -> bool:
        """Evaluate after an epoch; True to stop."""
        stop = super().__call__(epoch, model)
        if self.value is not None:
            seconds = round(time.perf_counter() - self.started)
            row = {"epoch": epoch + 1, "seconds": seconds, str(self.metric): round(self.value, 4)}
            with self.told.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(row, flush=True)
        return stop
