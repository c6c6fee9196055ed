"""Settings of the wrong type are refused by name when a model is made, whatever the model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from fullrank import models
from fullrank.core.errors import SpecError
from fullrank.models import EASE, IALS, Recommender
from fullrank.testing.recommender import small_world

HERE = [n for n in models.REGISTRY if n not in models.NEURAL or find_spec("torch") is not None]

WRONG: dict[type, list[Any]] = {
    int: [1.5, 1.0, "3", True, [], 10**30, float("nan")],
    float: ["0.1", True, [], {}, 10**30, float("nan"), float("inf")],
    str: [0, 1.5, True, None, [], {}],
    bool: [0, 1.0, "yes", None],
}


@pytest.mark.parametrize("name", HERE)
def test_wrong_types_are_refused_by_name(name: str) -> None:
    model = getattr(models, name)
    for field in fields(model):
        for value in WRONG.get(type(field.default), []):
            with pytest.raises(SpecError, match=rf"{name}: {field.name} must be .*got"):
                model(**{field.name: value})


def test_numpy_numbers_become_plain_ones(tmp_path: Any) -> None:
    model = IALS(embedding_dim=np.int64(2), epochs=np.int32(1), reg=np.float32(0.5))
    assert model.settings() == IALS(embedding_dim=2, epochs=1, reg=0.5).settings()
    assert {type(x) for x in model.settings().values()} == {int, float, str}
    model.fit(small_world()).save(tmp_path)
    assert IALS.load(tmp_path).settings() == model.settings()


def test_models_of_others_are_checked_too() -> None:
    @dataclass(eq=False)
    class Mine(EASE):
        depth: int = 3

    @dataclass(eq=False)
    class Bare(Recommender):
        share: float | None = None

        def _fit(self, train: Any, rng: Any, monitor: Any) -> None: ...

    with pytest.raises(SpecError, match=r"Mine: depth must be a whole number, got 'deep'"):
        Mine(depth="deep")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"Bare: share must be a number, got 'a'"):
        Bare(share="a")  # type: ignore[arg-type]
    assert Bare(share=2).share == 2
