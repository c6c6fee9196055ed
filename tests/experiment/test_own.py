"""Models beside the benchmark file: found, told apart by their source, and refused in words."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest
from tests.experiment.worlds import bench, command, tables

import fullrank
from fullrank.core.errors import SpecError
from fullrank.experiment.run import run
from fullrank.experiment.spec import ReadSpec
from fullrank.experiment.store import read_json

MODEL = """\
from dataclasses import dataclass

import numpy as np

from fullrank import Recommender


@dataclass(eq=False)
class Mine(Recommender):
    power: float = 1.0

    def _fit(self, train, rng, monitor):
        self.scores_ = (train.item_counts ** (SIGN * self.power)).astype(np.float32)

    def _score(self, queries):
        return np.tile(self.scores_, (len(queries), 1))
"""


def by(name: str, **more: object) -> dict[str, object]:
    """Changes to a benchmark that make it one of a model of one's own."""
    return {"model": [{"name": name, **more}], "seeds": [1]}


def write(folder, module, sign="1", **more):
    path = bench(folder, **by(f"{module}:Mine", search={"power": [0.5, 1.0]}, **more))
    (folder / f"{module}.py").write_text(MODEL.replace("SIGN", sign))
    return path


def outside(folder, *options):
    """Run in a process that has nothing on its path but what is installed."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        command("run", folder / "bench.toml", "--store", folder / "store", *options),
        capture_output=True, text=True, check=False, env=clean, cwd=folder.parent, timeout=120,
    )  # fmt: skip


def test_a_module_beside_the_file_is_found_and_an_edit_of_it_is_fitted_anew(tmp_path):
    folder = tmp_path / "study"
    write(folder, "beside")
    first = outside(folder, "--jobs", "2")
    assert first.returncode == 0, first.stderr
    before = tables(folder / "store")
    again = outside(folder)
    assert "nothing to do" in again.stderr
    assert tables(folder / "store") == before
    write(folder, "beside", sign="(-1.0)")  # same settings, same version, other scores
    edited = outside(folder)
    assert edited.returncode == 0, edited.stderr
    assert "nothing to do" not in edited.stderr
    cells = [read_json(p) for p in sorted((folder / "store" / "cells").glob("*/cell.json"))]
    assert len(cells) == 2
    assert len({cell["code"] for cell in cells}) == 2
    assert len(list((folder / "store" / "tune").iterdir())) == 2


def test_the_path_is_as_before(tmp_path):
    before = list(sys.path)
    run(write(tmp_path, "passing"), tmp_path / "store")
    assert sys.path == before


def test_built_in_models_are_known_by_their_version_alone(tmp_path):
    results = run(bench(tmp_path, **by("Popularity")), tmp_path / "store")
    assert "code" not in results.cells[0].about


def test_a_module_that_is_not_there(tmp_path):
    with pytest.raises(SpecError, match=r"no module 'absent'; put it beside .* PYTHONPATH"):
        run(bench(tmp_path, **by("absent:Mine")), tmp_path / "store")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_library\n", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("1 / 0\n", "ZeroDivisionError: .*the fault is in its module"),
        ("def Mine(:\n", "SyntaxError"),
        (MODEL.replace("Mine", "Mind"), "has no 'Mine'; did you mean 'Mind'"),
    ],
)
def test_a_module_that_can_not_be_imported(tmp_path, text, said):
    name = f"faulty{abs(hash(said))}"
    (tmp_path / f"{name}.py").write_text(text)
    with pytest.raises(SpecError, match=said):
        run(bench(tmp_path, **by(f"{name}:Mine")), tmp_path / "store")


def test_two_modules_of_one_name_are_not_mixed_up(tmp_path):
    run(write(tmp_path / "a", "shared_name"), tmp_path / "a" / "store")
    with pytest.raises(SpecError, match=r"'shared_name' from .*is loaded already"):
        run(write(tmp_path / "b", "shared_name"), tmp_path / "b" / "store")


@pytest.mark.parametrize(
    "body",
    [
        "    def __init__(self, power=2.0):\n        self.power = power\n",
        "    power: float = 2.0\n",
    ],
)
def test_settings_that_no_dataclass_holds(tmp_path, body):
    name = f"plain{len(body)}"
    text = MODEL.replace("@dataclass(eq=False)\n", "").replace("    power: float = 1.0\n", body)
    (tmp_path / f"{name}.py").write_text(text.replace("SIGN", "1"))
    with pytest.raises(SpecError, match="make it a @dataclass"):
        run(bench(tmp_path, **by(f"{name}:Mine", settings={"power": 1.0})), tmp_path / "store")


def test_reading_options_of_a_file_are_those_of_read():
    known = inspect.signature(fullrank.read).parameters
    assert {*ReadSpec.model_fields, "source", "columns"} == set(known)


def test_a_file_that_needs_options_is_read_from_a_benchmark(tmp_path):
    lines = [f"{u} " + " ".join(str((u * k) % 7) for k in range(1, 6)) for u in range(1, 20)]
    (tmp_path / "seq.txt").write_text("\n".join(lines))
    data = {"name": "seq", "path": "seq.txt", "read": {"format": "sequence"}}
    split = {"strategy": "LeaveLast"}
    results = run(
        bench(tmp_path, data=[data], split=split, tune=None, **by("Popularity")), tmp_path / "store"
    )
    assert len(results.cells) == 1
