"""Search spaces as papers state them, by name and model; settings are ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LEARNING = {
    "negatives_per_positive": {"low": 1, "high": 5},
    "embedding_dim": {"low": 1, "high": 100},
    "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
    "reg": {"low": 1e-4, "high": 1e-2, "log": True},
    "batch_size": [64, 128, 256, 512],
}
_LAYERS = {**_LEARNING, "layers": {"low": 1, "high": 3}, "dropout": {"low": 0.0, "high": 0.99}}

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "daisyrec": {
        "BPRMF": _LEARNING,
        "FM": _LEARNING,
        "ItemKNN": {"neighbours": {"low": 1, "high": 100}},
        "MultiVAE": {
            "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
            "reg": {"low": 1e-4, "high": 1e-2, "log": True},
            "kl_weight": {"low": 0.0, "high": 1.0},
            "dropout": {"low": 0.0, "high": 0.99},
            "batch_size": [64, 128, 256, 512],
        },
        "NFM": _LAYERS,
        "NGCF": {
            **_LEARNING,
            "node_dropout": {"low": 0.0, "high": 0.99},
            "message_dropout": {"low": 0.0, "high": 0.99},
        },
        "NeuMF": _LAYERS,
        "PureSVD": {"embedding_dim": {"low": 1, "high": 100}},
    },
}
"""``daisyrec``: Sun et al. 2022 (DaisyRec 2.0), table of search spaces, for the smaller data sets.
Dropout ends at 0.99 (there at 1, which drops all). SLIM is not here: its penalties there are shares
of the number of users, which a space of ours can't say."""
