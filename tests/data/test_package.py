"""The package itself: names, laziness."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fullrank.data


def test_names_are_sorted_and_there() -> None:
    assert fullrank.data.__all__ == sorted(fullrank.data.__all__)
    for name in fullrank.data.__all__:
        assert getattr(fullrank.data, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'reed'"):
        _ = fullrank.data.reed


def test_importing_the_package_loads_no_frame_library() -> None:
    program = (
        "import sys, fullrank.data; "
        "print([m for m in ('polars', 'pandas', 'numba', 'scipy', 'pyarrow', 'narwhals') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_pandas_in_needs_no_pyarrow() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd\n"
        "from fullrank.data import read\n"
        "f = pd.DataFrame({'user_id': ['u', 'v'], 'item_id': pd.Categorical(['a', 'b']),\n"
        "  'timestamp': pd.to_datetime(['2020-01-01', None]), 'rating': [1.0, 2.0]})\n"
        "print(len(read(f).interactions))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "2"
