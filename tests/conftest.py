"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


def data_folder() -> Path | None:
    """The folder with real data sets, or None."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FULLRANK_DATA", str(beside)).split(os.pathsep)[0])
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with real data sets; skips where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("no real data: set FULLRANK_DATA to a folder with the data sets")
    return folder
