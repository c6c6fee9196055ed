"""Multi-VAE, LightGCN and SASRec beside RecBole on the CPU: `python -m benchmarks.training_neural`.

Run it where fullrank has PyTorch. MovieLens-1M's shape, the same sizes and batches, two threads
each, every fit in a process of its own; the median epoch after the first, and its processor
seconds. Quality with equal settings is ``benchmarks.quality``'s.

SASRec: an epoch trains each row of the log as a target once in both. RecBole makes a sequence of
its own for each (the rows before it), fullrank trains all places of a window of ``max_length`` at
once: batches hold about as many targets. The rows have no order in time: for the cost it does not
matter.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._interactions import draw
from benchmarks._measure import alone
from benchmarks._rows import Row, main
from benchmarks._training import cpu_seconds, interactions, peer, training_rows

SHAPE, QUICK = (6040, 3706, 1_000_000), (150, 200, 3000)
EPOCHS = {"MultiVAE": 4, "LightGCN": 3, "SASRec": 2}
OURS: dict[str, dict[str, Any]] = {
    "MultiVAE": {"embedding_dim": 200, "hidden_dim": 600, "batch_size": 128},
    "LightGCN": {"embedding_dim": 64, "layers": 3, "batch_size": 2048},
    "SASRec": {"embedding_dim": 64, "max_length": 50, "blocks": 2, "batch_size": 41},
}
THEIRS: dict[str, dict[str, Any]] = {
    "MultiVAE": {"latent_dimension": 400, "mlp_hidden_size": [600], "dropout_prob": 0.5,
                 "train_batch_size": 128, "train_neg_sample_args": None},
    "LightGCN": {"embedding_size": 64, "n_layers": 3, "reg_weight": 1e-4, "require_pow": True,
                 "train_batch_size": 2048},
    "SASRec": {"hidden_size": 64, "inner_size": 64, "n_layers": 2, "n_heads": 1,
               "hidden_dropout_prob": 0.2, "attn_dropout_prob": 0.2, "loss_type": "CE",
               "train_neg_sample_args": None, "MAX_ITEM_LIST_LENGTH": 50,
               "train_batch_size": 2048},
}  # fmt: skip
ROWS = {"LightGCN": 200_000, "SASRec": 50_000}
"""Of the first users: with all, RecBole would take most of an hour."""


def save(folder: str, shape: tuple[int, int, int], rows: int | None) -> None:
    """``train.npz`` for fullrank and ``rows.npz`` for RecBole, of as many users as ``rows`` has."""
    users, items = draw(*shape)
    if rows is not None:
        kept = users <= users[min(rows, len(users) - 1)]
        users, items = users[kept], items[kept]
    items = np.unique(items, return_inverse=True)[1].astype(np.int32)
    size = (int(users.max()) + 1, int(items.max()) + 1)
    for name in ("train", "rows"):
        np.savez(Path(folder) / name, users=users, items=items, shape=size)


def ours(folder: str, name: str, epochs: int) -> dict[str, float]:
    """Median seconds of an epoch after the first, processor seconds of one."""
    import fullrank.models as models
    from fullrank.core.interactions import Interactions

    data = interactions(folder)
    if name == "SASRec":
        times = np.arange(len(data.users), dtype=np.int64)
        data = Interactions(data.users, data.items, data.user_vocab, data.item_vocab, times=times)
    model = getattr(models, name)(**OURS[name], epochs=epochs)
    used = [cpu_seconds()]

    def note(*_: Any) -> bool:
        used.append(cpu_seconds())
        return False

    model.fit(data, rng=0, monitor=note)
    seconds = [epoch.seconds for epoch in model.log_.epochs]
    return {
        "seconds": statistics.median(seconds[1:]),
        "cpu": statistics.median(np.diff(used)[1:].tolist()),
    }


def rows(quick: bool) -> list[Row]:
    """A row a model."""
    out: list[Row] = []
    for name, epochs in EPOCHS.items():
        with tempfile.TemporaryDirectory() as folder:
            save(folder, QUICK if quick else SHAPE, ROWS.get(name))
            mine = alone("benchmarks.training_neural:ours", folder, name, epochs)
            arguments = (folder, name, THEIRS[name], epochs, 0, "")
            peers = {"RecBole": peer("recbole", "fit", *arguments, blas=2)}
        size = f", {ROWS.get(name, SHAPE[2]):,} rows" if not quick else ""
        out += training_rows(f"{name}, an epoch on the CPU{size}", mine, peers)
    return out


if __name__ == "__main__":
    main(rows)
