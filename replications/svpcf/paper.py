"""The paper's seven algorithms on MovieLens 100K, neural ones included; needs PyTorch.

`python -m replications.svpcf.paper DATA_FOLDER --store STORE [--samplers 6]` runs what is not there
yet, one sampler after the other in all scenarios and sizes, and leaves the numbers in ``results/``
after each, so that wherever it is stopped the samplers that are there are complete.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from fullrank.experiment.psi import psi
from replications.svpcf import parts, work
from replications.svpcf.grids import grid
from replications.svpcf.sets import ALL, Source

KEEP = (0.6, 0.2, 0.1)
SEED = 1
NAME = "ml-100k-paper"
SOURCE = Source("ml-100k", ALL)

FIRST = (
    "rows, random", "users, random", "rows, SVP mf", "users, head", "graph, random walk",
    "users, SVP-Prop bias_only", "rows, temporal", "graph, centrality",
)  # fmt: skip
"""Samplers that claims of the paper are about."""

BIAS_ONLY = {
    "label": "BiasOnly",
    "name": "BPRMF",
    "settings": {"embedding_dim": 1, "init": "normal(std=0)"},
}
"""Factors that start at 0 have no gradient and stay there."""
PAIRWISE = {"label": "MF", "name": "BPRMF", "settings": {"embedding_dim": 32}}
NEUMF = {"name": "NeuMF", "settings": {"epochs": 8}}
MULTI_VAE = {"name": "MultiVAE", "settings": {"epochs": 40}}
_SVAE_SIZES = {"embedding_dim": 50, "state_dim": 50, "hidden_dim": 50, "latent_dim": 32}
SVAE = {"name": "SVAE", "settings": {"epochs": 8, "learning_rate": 0.005, **_SVAE_SIZES}}
SASREC = {
    "name": "SASRec",
    "settings": {"epochs": 10, "learning_rate": 0.003, "embedding_dim": 32},
}

MODELS: dict[str, list[dict[str, Any]]] = {
    "explicit": [
        {"name": "BiasOnly"},
        {"name": "MF", "settings": {"embedding_dim": 16}},
        {
            "label": "MF SGD",
            "name": "MF",
            "settings": {"embedding_dim": 16, "solver": "sgd", "reg": 0.1, "epochs": 40},
        },
    ],
    "implicit": [{"name": "Popularity"}, BIAS_ONLY, PAIRWISE, NEUMF, MULTI_VAE],
    "sequential": [{"name": "Popularity"}, BIAS_ONLY, PAIRWISE, NEUMF, MULTI_VAE, SVAE, SASREC],
}
"""Of each scenario; NeuMF predicts no ratings here, so that a second MF is the third there."""


def ordered() -> list[dict[str, Any]]:
    """The samplers, those of the claims first."""
    known = {str(sampler["label"]): sampler for sampler in parts.SAMPLERS}
    rest = [label for label in known if label not in FIRST]
    return [known[label] for label in (*FIRST, *rest)]


def changes(samplers: int) -> dict[str, Any]:
    """Keys of the file that differ from those of the cheap models."""
    scenarios = [parts.scenario_of(name, MODELS[name]) for name in SOURCE.scenarios]
    return {
        "name": "svpcf, the paper's algorithms",
        "sampler": ordered()[:samplers],
        "scenario": scenarios,
    }


def run(store: Path, samplers: int) -> None:
    """The first samplers, one more each time."""
    for j in range(1, samplers + 1):
        spec = grid(SOURCE, SEED, {}, keep=KEEP, **changes(j))
        found = psi(spec, store, progress=work.told(spec.name))
        work.save(found, store, work.RESULTS / NAME, SEED)
        print(f"{found!r}, {found.fresh} fresh", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with the data sets")
    parser.add_argument("--store", type=Path, default=Path("runs/svpcf-paper"))
    parser.add_argument("--samplers", type=int, default=len(parts.SAMPLERS), help="how many")
    given = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(given.data)
    run(given.store, given.samplers)


if __name__ == "__main__":
    main()
