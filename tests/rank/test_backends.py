"""The choice of a backend, where there is no PyTorch too."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.rank.test_factors import Factored, big

from fullrank.core.errors import SpecError
from fullrank.rank import rank
from fullrank.rank.backends import _device


@pytest.fixture
def case():
    return big(Factored, q=5, c=100, n_targets=3)


def test_an_unknown_backend_is_named(case):
    with pytest.raises(SpecError, match=r"unknown backend 'toch'; did you mean 'torch'\?"):
        rank(*case, backend="toch")


def test_a_device_needs_a_backend_that_has_devices(case):
    with pytest.raises(SpecError, match=r"device='cuda' needs backend='torch'"):
        rank(*case, device="cuda")


def test_missing_pytorch_says_how_to_install_it(case, monkeypatch):
    monkeypatch.setattr(_device, "torch", None)
    with pytest.raises(SpecError, match=r"pip install 'fullrank\[neural\]'"):
        rank(*case, backend="torch")


CODE = """
import sys
from tests.rank.test_factors import Factored, big
from fullrank.rank import rank
rank(*big(Factored, q=5, c=100, n_targets=3), k=5)
print("torch" in sys.modules)
"""


def test_pytorch_is_not_loaded_unless_asked_for():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
