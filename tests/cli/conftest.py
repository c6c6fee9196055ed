"""A command line run in this process, and small inputs for it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.experiment.worlds import no_constant

from fullrank.cli._run import run

REPR = re.compile(r"np\.\w+\(|array\(|dtype")


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one document on stdout; nothing else may be there, nor NaN."""
        return json.loads(self.out, parse_constant=no_constant)


@pytest.fixture
def cli(capsys):
    """Run a command line; numbers must never be printed as NumPy writes them."""

    def go(*arguments: object) -> Said:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert not REPR.search(out + err), out + err
        assert "Traceback" not in err
        return Said(code, out, err)

    return go


@pytest.fixture
def lists(tmp_path):
    """Two systems' lists, the truth, what users had before, and a table of users."""
    rng = np.random.default_rng(1)

    def frame(per_user, **more):
        rows = [(u, int(i)) for u in range(1, 31) for i in 500 + rng.permutation(25)[:per_user]]
        return pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row").with_columns(**more)

    a, b = frame(8), frame(8)
    for name, part in (("a", a), ("b", b)):
        ranked = part.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user_id"))
        ranked.write_csv(tmp_path / f"{name}.csv")
    frame(4, rating=pl.lit(3)).write_csv(tmp_path / "truth.csv")
    frame(3).write_csv(tmp_path / "train.csv")
    users = pl.DataFrame({"user_id": list(range(1, 31)), "plan": ["free", "paid", "paid"] * 10})
    users.write_csv(tmp_path / "users.csv")
    return tmp_path
