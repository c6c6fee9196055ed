"""Search spaces name settings, and settings that are allowed."""

from __future__ import annotations

import pytest

from fullrank.core.registry import build

NAMES = (
    "DCF",
    "EALS",
    "FISM",
    "FPMC",
    "LastItems",
    "MF",
    "Markov",
    "NMF",
    "RP3beta",
    "SLIM",
    "TimePopularity",
)


@pytest.mark.parametrize("name", NAMES)
def test_search_space_names_settings(name: str) -> None:
    model = build("model", name, {})
    assert model.search_space
    for setting, space in model.search_space.items():
        assert setting in model.settings()
        for value in space if isinstance(space, list) else [space["low"], space["high"]]:
            build("model", name, {setting: value})
