"""The folder of inputs, written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bad_input.inputs import write_inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with every input; no test may leave anything in it."""
    folder = tmp_path_factory.mktemp("bad-input").resolve()
    write_inputs(folder)
    return folder
