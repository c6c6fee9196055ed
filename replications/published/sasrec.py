"""SASRec on Amazon Beauty: `python -m replications.published.sasrec DATA_FOLDER [--epochs 300]`.

The weights of the epoch with the best NDCG@10 of the validation rows are tested. Epochs that are
done are kept under ``--cache``, so that it can be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import fullrank as fr
from fullrank.models import Recommender, SASRec
from fullrank.rank import rank
from fullrank.split import Split


def measured(model: Recommender, split: Split, part: str) -> dict[str, float]:
    """Recall@10 and NDCG@10 among all items that the user doesn't have."""
    targets = rank(model, split.queries(part)).targets
    both = (("recall@10", fr.Recall @ 10), ("ndcg@10", fr.NDCG @ 10))
    return {name: float(np.nanmean(metric.per_query(targets))) for name, metric in both}


class Best:
    """A monitor: stops after some looks at validation without a gain, and keeps the best weights.

    Args:
        split: whose validation part is looked at.
        every: epochs from look to look.
        patience: looks without a gain.
        told: gets a line a look.
    """

    def __init__(self, split: Split, every: int, patience: int, told: Path) -> None:
        self.split, self.every, self.patience, self.told = split, every, patience, told
        self.value, self.best, self.since = 0.0, 0.0, 0
        self.weights: dict[str, Any] | None = None
        self.started = time.perf_counter()

    def __call__(self, epoch: int, model: Recommender) -> bool:
        if (epoch + 1) % self.every:
            return False
        found = measured(model, self.split, "valid")
        self.value, self.since = found["ndcg@10"], self.since + 1
        if self.value > self.best:
            self.best, self.since, self.weights = self.value, 0, model.snapshot()
        row = {"epoch": epoch + 1, "seconds": round(time.perf_counter() - self.started), **found}
        with self.told.open("a") as out:
            out.write(json.dumps(row) + "\n")
        print(row, flush=True)
        return self.since >= self.patience

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps; the best weights are in a file beside it."""
        if self.weights is not None:
            np.savez(self.told.with_suffix(".npz"), **self.weights)
        return {"value": self.value, "best": self.best, "since": self.since}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.value, self.best, self.since = state["value"], state["best"], int(state["since"])
        if self.best:
            with np.load(self.told.with_suffix(".npz")) as kept:
                self.weights = dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--objective", default="multinomial")
    parser.add_argument("--negatives-per-positive", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--every", type=int, default=2, help="epochs from look to look")
    parser.add_argument("--patience", type=int, default=10, help="looks without a gain")
    parser.add_argument("--cache", type=Path, default=Path("runs/sasrec"))
    given = parser.parse_args()

    given.cache.mkdir(parents=True, exist_ok=True)
    data = fr.read(given.folder / "amazon-beauty-seq" / "interactions.parquet").interactions
    split = fr.LeaveLast(valid=1).split(data)
    model = SASRec(
        objective=given.objective,
        negatives_per_positive=given.negatives_per_positive,
        epochs=given.epochs,
        dropout=given.dropout,
        batch_size=given.batch_size,
        learning_rate=given.learning_rate,
    )
    name = given.objective.split("(")[0]
    best = Best(split, given.every, given.patience, given.cache / f"{name}.jsonl")
    model.fit(split.train, rng=0, monitor=best, checkpoint=given.cache / f"{name}-training")
    if best.weights is not None:
        model.restore(best.weights)
    seconds = [epoch.seconds for epoch in model.log_.epochs]
    print(
        {
            "epochs": len(seconds),
            "seconds an epoch": round(float(np.median(seconds)), 1),
            "best valid": round(best.best, 4),
            **{part: measured(model, split, part) for part in ("valid", "test")},
        }
    )


if __name__ == "__main__":
    main()
