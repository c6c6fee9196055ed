"""What the documentation shows runs, and gives what is shown."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import fullrank
from fullrank.experiment.run import check
from fullrank.experiment.spec import parse_spec, read_spec

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- run -->\n```(\w+)\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
BLOCKS = [
    pytest.param(*match.groups(), id=f"{page.name}-{j}")
    for page in PAGES
    for j, match in enumerate(BLOCK.finditer(page.read_text("utf-8")))
]
MODULES = [m.name for m in pkgutil.walk_packages(fullrank.__path__, "fullrank.") if not m.ispkg]


@pytest.mark.parametrize(("language", "code", "output"), BLOCKS)
def test_block(language, code, output):
    if language == "toml":
        check(parse_spec(tomllib.loads(code), "README", code))
        return
    assert language == "python"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README", "exec"), {"__name__": "example"})
    assert printed.getvalue() == output


def test_every_python_and_toml_block_runs():
    for page in PAGES:
        shown = re.findall(r"^```(?:python|toml)$", page.read_text("utf-8"), re.MULTILINE)
        marked = list(BLOCK.finditer(page.read_text("utf-8")))
        assert len(shown) == len(marked), page


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / "examples").glob("*.toml")), ROOT / "src/fullrank/cli/demo.toml"]
)
def test_benchmark_files_can_be_run(path):
    spec, _ = read_spec(path)
    assert check(spec)


def test_commands_in_the_readme_exist():
    from fullrank.cli._app import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"`fullrank ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))
    assert named
    assert named <= known
