"""The public names are pinned, load, and cost nothing to import."""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fullrank import models
from fullrank.core.errors import SpecError
from fullrank.models import NEURAL

SNAPSHOT = Path(__file__).with_name("public_api.json")
PACKAGES = (
    "fullrank", "fullrank.advise", "fullrank.advise.learners", "fullrank.data",
    "fullrank.data.filters", "fullrank.estimators",
    "fullrank.metrics", "fullrank.models", "fullrank.negatives", "fullrank.rank",
    "fullrank.objectives", "fullrank.report", "fullrank.split", "fullrank.stats",
    "fullrank.subsample",
)  # fmt: skip
HEAVY = ("polars", "pandas", "numba", "scipy", "torch", "narwhals", "altair", "optuna")


def public_names() -> dict[str, list[str]]:
    return {name: sorted(importlib.import_module(name).__all__) for name in PACKAGES}


def test_public_names_are_those_of_the_snapshot():
    """A new or removed name is a decision: `python tests/test_public_api.py` writes it down."""
    assert public_names() == json.loads(SNAPSHOT.read_text())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_loads_and_is_documented(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, type) or inspect.isroutine(value):  # aliases of types have none
            assert value.__doc__, f"{package}.{name} has no docstring"


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_loads_nothing_heavy():
    loaded = fresh("import fullrank, sys; print(' '.join(sys.modules))").split()
    assert [name for name in HEAVY if name in loaded] == []


def test_import_is_quick():
    code = "import time; t = time.perf_counter(); import fullrank; print(time.perf_counter() - t)"
    times = sorted(float(fresh(code)) for _ in range(5))
    assert times[2] < 0.4


def test_help_loads_no_kernels_and_no_frames():
    code = (
        "import sys\nfrom fullrank.cli._run import run\nrun(['--help'])\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("name", sorted(NEURAL))
def test_models_that_need_pytorch_load_or_say_so(name):
    assert name in models.REGISTRY
    assert name not in models.__all__, "import * must not need PyTorch"
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(SpecError, match="neural models need PyTorch"):
            getattr(models, name)
    else:
        assert getattr(models, name).__doc__


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(public_names(), indent=1) + "\n")
