"""Settings of plug-ins: names and types are checked in one place."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fullrank.core.errors import SpecError
from fullrank.core.registry import build, construct


@dataclass(frozen=True)
class Part:
    size: int
    share: float = 0.5
    label: str | None = None
    fast: bool = False


def test_settings_of_the_right_type() -> None:
    assert construct("part", Part, {"size": 3, "share": 1, "label": "x", "fast": True}) == Part(
        3, 1, "x", True
    )
    assert construct("part", Part, {"size": 3, "label": None}) == Part(3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": "big"}, "part: size must be a whole number, got 'big'"),
        ({"size": 2.5}, "part: size must be a whole number, got 2.5"),
        ({"size": True}, "part: size must be a whole number, got True"),
        ({"size": 1, "share": "half"}, "part: share must be a number, got 'half'"),
        ({"size": 1, "label": 7}, "part: label must be text, got 7"),
        ({"size": 1, "fast": 1}, "part: fast must be true or false, got 1"),
        ({"size": 1, "shade": 1}, "part has no setting 'shade'; did you mean 'share'?"),
        ({}, "part needs the setting 'size'; add size = …"),
    ],
)
def test_settings_of_the_wrong_type(settings: dict[str, object], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        construct("part", Part, settings)
    assert str(caught.value) == said


def test_a_type_slip_that_the_class_stumbles_over() -> None:
    with pytest.raises(SpecError, match="EASE: reg must be a number, got 'strong'"):
        build("model", "EASE", {"reg": "strong"})


def test_what_is_no_plug_in() -> None:
    with pytest.raises(SpecError, match="no dataclass with settings"):
        build("model", "json:JSONDecoder", {})
