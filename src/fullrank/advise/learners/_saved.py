"""Fitted ridges in folders: arrays in safetensors, left-out predictions in Parquet, no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner
from fullrank.advise.learners._design import Design, Scaled
from fullrank.advise.learners._fitted import Bounded, Fitted, Taus, Without
from fullrank.advise.learners.ridge import Linear, Ridge
from fullrank.core.errors import SpecError, StoreError

FORMAT = 1
FILES = ("model.safetensors", "left_out.parquet")
_DAMAGED = (OSError, ValueError, KeyError, TypeError, IndexError)


def save(fitted: Fitted, folder: Path) -> None:
    """See ``Fitted.save``."""
    from safetensors.numpy import save_file

    if not isinstance(fitted.learner, Ridge):
        raise SpecError(
            f"a fitted {fitted.learner.name} can't be kept: only Ridge has a form without pickle; "
            "fit it anew from the meta-data"
        )
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    models = [fitted.model, *(part.model for part in fitted.left_out)]
    arrays = {
        f"{j}.{name}": np.ascontiguousarray(array)
        for j, model in enumerate(models)
        for name, array in _arrays(model).items()
    }
    about = {
        "format": FORMAT,
        "alphas": fitted.learner.alphas,
        "columns": fitted.learner.columns,
        "features": fitted.design.features,
        "categories": dict(fitted.design.categories),
        "level": fitted.level,
        "models": len(models),
    }
    save_file(arrays, folder / FILES[0], metadata={"about": json.dumps(about)})
    parts = [part.cells.with_columns(part=pl.lit(j)) for j, part in enumerate(fitted.left_out)]
    if not parts:
        raise SpecError("a model that is kept needs a level, for its intervals; fit it with one")
    pl.concat(parts).write_parquet(folder / FILES[1], compression="zstd")


def load(folder: Path) -> Fitted:
    """See ``Fitted.load``."""
    import polars as pl
    from safetensors import SafetensorError, safe_open

    gone = [name for name in FILES if not (folder / name).is_file()]
    if gone:
        raise StoreError(
            f"{folder} holds no fitted model: expected {' and '.join(FILES)}, {gone[0]} is "
            "missing; write it by Fitted.save"
        )
    try:
        with safe_open(folder / FILES[0], framework="np") as file:
            about = json.loads(file.metadata()["about"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']!r}, expected {FORMAT}")
        models = [_model(j, arrays) for j in range(about["models"])]
        cells = pl.read_parquet(folder / FILES[1])
        parts = [
            Without(model, cells.filter(cells["part"] == j).drop("part"))
            for j, model in enumerate(models[1:])
        ]
        learner: Learner = Ridge(tuple(about["alphas"]), about["columns"])
        design = Design(
            tuple(about["features"]), {k: tuple(v) for k, v in about["categories"].items()}
        )
        return Fitted(learner, design, models[0], tuple(parts), about["level"])
    except (*_DAMAGED, SafetensorError, pl.exceptions.PolarsError) as error:
        raise StoreError(
            f"{folder} holds no fitted model that can be used ({error}); write it by Fitted.save"
        ) from error


def _arrays(model: Taus) -> dict[str, NDArray[Any]]:
    assert isinstance(model, Bounded)
    assert isinstance(model.scores, Linear)
    linear = model.scores
    return {
        **{f.name: getattr(linear.scaled, f.name) for f in fields(Scaled)},
        "columns": linear.columns,
        "weights": linear.weights,
        "intercept": np.array([linear.intercept]),
    }


def _model(number: int, arrays: Mapping[str, NDArray[Any]]) -> Bounded:
    def part(name: str) -> NDArray[Any]:
        return arrays[f"{number}.{name}"]

    scaled = Scaled(*(part(f.name) for f in fields(Scaled)))
    return Bounded(Linear(scaled, part("columns"), part("weights"), float(part("intercept")[0])))
