"""Models on Gowalla, in LightGCN's split: `python -m replications.published.gowalla DATA_FOLDER`.

Recall@20 and NDCG@20 of the published test rows, among all items that a user has no training row
of. The published tables choose epochs by the test rows. Here settings and epochs are chosen by
rows drawn from the training part (5 % of it, Recall@20). With ``--choose`` each of a model's
settings is tried and the best one fitted on the whole of the training part; without, those given.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fullrank as fr
from fullrank.models import EASE, IALS, SLIM, ItemKNN, Popularity, PureSVD, Recommender, RP3beta
from replications.published._measured import Told, measured

METRICS = ("recall@20", "ndcg@20")
MODELS: dict[str, tuple[Callable[..., Recommender], dict[str, Any], list[dict[str, Any]]]] = {
    "Popularity": (Popularity, {}, []),
    "PureSVD": (PureSVD, {"embedding_dim": 128}, [{"embedding_dim": d} for d in (64, 128, 256)]),
    "ItemKNN": (
        ItemKNN,
        {"neighbours": 200},
        [
            {"similarity": name, "neighbours": k, "shrinkage": s}
            for name in ("cosine", "tfidf", "bm25")
            for k in (50, 100, 200)
            for s in (0.0, 10.0)
        ],
    ),
    "RP3beta": (
        RP3beta,
        {},
        [{"alpha": a, "beta": b} for a in (0.4, 0.6, 0.8, 1.0) for b in (0.0, 0.1, 0.2, 0.4)],
    ),
    "IALS": (
        IALS,
        {"embedding_dim": 128, "epochs": 16},
        [
            {"unobserved_weight": w, "reg": r}
            for w in (0.003, 0.01, 0.03)
            for r in (0.001, 0.003, 0.01)
        ],
    ),
    "SLIM": (SLIM, {}, [{"l1_reg": a, "l2_reg": b} for a in (0.3, 1.0) for b in (1.0, 5.0, 20.0)]),
    "EASE": (EASE, {"reg": 500.0}, []),
}
"""By name: the class, its settings, and those that are chosen among."""
NEURAL: dict[str, dict[str, Any]] = {
    "LightGCN": {"batch_size": 8192, "learning_rate": 0.005, "reg": 1e-4},
    "NGCF": {"batch_size": 8192, "learning_rate": 0.002, "reg": 1e-5},
    "MultiVAE": {"embedding_dim": 200, "hidden_dim": 600, "batch_size": 500},
}
"""Trained as long as the validation rows gain; by name, with settings other than the defaults."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the data sets")
    parser.add_argument("--model", required=True, choices=[*MODELS, *NEURAL])
    parser.add_argument("--choose", action="store_true", help="settings, by validation rows")
    parser.add_argument("--settings", type=json.loads, default={}, help="JSON; over the defaults")
    parser.add_argument("--epochs", type=int, default=400, help="of a network, at most")
    parser.add_argument("--every", type=int, default=5, help="epochs from look to look")
    parser.add_argument("--patience", type=int, default=4, help="looks without a gain")
    parser.add_argument("--name", help="of the files in the cache; by default the model's")
    parser.add_argument("--cache", type=Path, default=Path("runs/gowalla"))
    given = parser.parse_args()

    data = fr.read(given.folder / "gowalla-lightgcn" / "interactions.parquet").interactions
    strategy = fr.Given(valid_share=0.05)
    if given.model in NEURAL:
        _train(strategy.split(data), given)
        return
    make, settings, grid = MODELS[given.model]
    settings = {**settings, **given.settings}
    if given.choose and grid:
        split = strategy.split(data)
        tried = [tell({**settings, **choice}, make, split, "valid") for choice in grid]
        best = max(range(len(grid)), key=lambda k: tried[k][METRICS[0]])
        settings |= grid[best]
    tell(settings, make, replace(strategy, valid_share=0.0).split(data), "test")


def tell(
    settings: dict[str, Any], make: Callable[..., Recommender], split: fr.Split, part: str
) -> dict[str, float]:
    """Fit, measure, print a line; returns the metrics."""
    begun = time.perf_counter()
    model = make(**settings).fit(split.train, rng=0)
    seconds = round(time.perf_counter() - begun, 1)
    found = measured(model, split.queries(part), METRICS)
    print({"settings": settings, "fit seconds": seconds, part: found}, flush=True)
    return found


def _train(split: fr.Split, given: argparse.Namespace) -> None:
    import fullrank.models as models

    given.cache.mkdir(parents=True, exist_ok=True)
    settings = {**NEURAL[given.model], **given.settings}
    model = getattr(models, given.model)(epochs=given.epochs, **settings)
    name = given.name or given.model
    watch = Told(
        split.queries("valid"),
        METRICS[0],
        every=given.every,
        patience=given.patience,
        told=given.cache / f"{name}.jsonl",
    )
    model.fit(split.train, rng=0, monitor=watch, checkpoint=given.cache / f"{name}-training")
    found = {part: measured(model, split.queries(part), METRICS) for part in ("valid", "test")}
    print({"settings": model.settings(), "best epoch": (watch.best_epoch or 0) + 1, **found})


if __name__ == "__main__":
    main()
