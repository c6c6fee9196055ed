"""SASRec on two public data sets: `python -m replications.published.sasrec DATA_FOLDER`.

Leave-last, the row before the last validates. The weights of the epoch with the best NDCG@10 of the
validation rows are tested, with the validation row in the history: on Amazon Beauty among all
items, on Amazon Video Games (``--data video-games``) among 100 drawn ones, as their tables were
made. Epochs that are done are kept under ``--cache``, so that it can be stopped and goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import fullrank as fr
from fullrank.models import SASRec
from fullrank.negatives import Uniform
from replications.published._measured import Told, measured

SETS = {"beauty": "amazon-beauty-seq", "video-games": "amazon-video-games-seq"}
METRICS = {"beauty": ("recall@10", "ndcg@10"), "video-games": ("hit_rate@10", "ndcg@10")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--data", choices=list(SETS), default="beauty")
    parser.add_argument("--objective", default="multinomial")
    parser.add_argument("--negatives-per-positive", type=int, default=1)
    parser.add_argument("--embedding-dim", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--every", type=int, default=2, help="epochs from look to look")
    parser.add_argument("--patience", type=int, default=10, help="looks without a gain")
    parser.add_argument("--cache", type=Path, default=Path("runs/sasrec"))
    given = parser.parse_args()

    given.cache.mkdir(parents=True, exist_ok=True)
    data = fr.read(given.folder / SETS[given.data] / "interactions.parquet").interactions
    split = fr.LeaveLast(valid=1).split(data)
    model = SASRec(
        given.embedding_dim,
        objective=given.objective,
        negatives_per_positive=given.negatives_per_positive,
        epochs=given.epochs,
        dropout=given.dropout,
        batch_size=given.batch_size,
        learning_rate=given.learning_rate,
    )
    name = f"{given.data}-{given.objective.split('(')[0]}"
    watch = Told(
        split.queries("valid"),
        "ndcg@10",
        every=given.every,
        patience=given.patience,
        told=given.cache / f"{name}.jsonl",
    )
    model.fit(split.train, rng=0, monitor=watch, checkpoint=given.cache / f"{name}-training")
    drawn = Uniform(m=100) if given.data == "video-games" else "full"
    found = {
        part: measured(model, split.queries(part), METRICS[given.data], drawn)
        for part in ("valid", "test")
    }
    seconds = [epoch.seconds for epoch in model.log_.epochs]
    print(
        {
            "epochs": len(seconds),
            "best epoch": (watch.best_epoch or 0) + 1,
            "seconds an epoch": round(float(np.median(seconds)), 1),
            **found,
        }
    )


if __name__ == "__main__":
    main()
