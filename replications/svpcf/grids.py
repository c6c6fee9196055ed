"""Grids of Psi: one for each data set and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullrank.experiment.psi import PsiSpec, parse_psi
from replications.svpcf import parts
from replications.svpcf.sets import Source

Settings = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By scenario and model what was chosen."""

RESAMPLES = 200
"""Of users: intervals of Psi are over splits, these stand beside."""


def grid(
    source: Source,
    seed: int,
    settings: Settings,
    *,
    keep: Sequence[float] = parts.KEEP,
    **changes: Any,
) -> PsiSpec:
    """The grid of a data set under one seed, which is that of the split, the draws and the fits.

    In one file every combination of seeds is run, and a sampler that draws users draws the same
    ones for each split; here a repeat differs in all three.

    Args:
        source: the data set.
        seed: of the repeat.
        settings: of the models.
        keep: shares of the training rows.
        changes: other keys of the file.
    """
    scenarios = [
        parts.scenario_of(name, parts.models_of(name, settings.get(name, {})))
        for name in source.scenarios
    ]
    content: dict[str, Any] = {
        "name": f"svpcf, {source.name}, seed {seed}",
        "keep": list(keep),
        "resamples": RESAMPLES,
        "seeds": {"split": [seed], "sampler": [seed], "training": [seed]},
        "floor": parts.FLOOR,
        "data": {"name": source.name},
        "filters": {"before": list(source.before)},
        "sampler": [
            dict(sampler)
            for sampler in parts.SAMPLERS
            if "sequential" in source.scenarios or sampler["name"] != "Temporal"
        ],
        "scenario": scenarios,
    }
    return parse_psi(content | changes)


def choice(source: Source, scenario: str, trials: int) -> dict[str, Any]:
    """The benchmark that chooses settings on validation rows of the full data.

    Args:
        source: the data set.
        scenario: ``implicit`` or ``sequential``.
        trials: of each model, the first with its defaults.
    """
    searched = [name for name in parts.names_of(scenario) if name != "Popularity"]
    return {
        "name": f"svpcf, {source.name}, {scenario}: settings",
        "seeds": [1],
        "metrics": ["ndcg@10"],
        "data": [{"name": source.name}],
        "filters": {"before": list(source.before)},
        "split": {**parts.SPLITS[scenario], "seed": 1},
        "tune": {"metric": "ndcg@10", "trials": trials, "refit": "train"},
        "model": [
            {"name": name, "search": "default", **parts.SMALL.get(name, {})} for name in searched
        ],
    }
