"""Docstrings: every example runs, and every metric states what style.md asks for."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from fullrank import metrics

MODULES = [
    m.name for m in pkgutil.walk_packages(metrics.__path__, "fullrank.metrics.") if not m.ispkg
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("name", metrics.REGISTRY)
def test_metric_states_its_convention(name):
    text = type(getattr(metrics, name)).__doc__
    for part in ("**Convention**", "Example:", ">>>", "Reference:"):
        assert part in text, part
    assert len(text.strip().splitlines()[0]) < 100
