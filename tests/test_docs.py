"""What the documentation shows runs, and gives what is shown."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import itertools
import pkgutil
import re
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import fullrank
from fullrank.core.registry import find, names
from fullrank.data.filters import filter_names
from fullrank.experiment.psi import PsiSpec, check_psi, parse_psi
from fullrank.experiment.psi.shapes import FloorSpec, SamplerSpec, ScenarioSpec, SeedsSpec
from fullrank.experiment.run import check
from fullrank.experiment.spec import (
    BenchSpec,
    DataSpec,
    FilterSpec,
    ModelSpec,
    RankingSpec,
    ReadSpec,
    SplitSpec,
    TuneSpec,
    parse_spec,
    read_spec,
)

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- run -->\n```(\w+)\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
ELSEWHERE = re.compile(r"<!-- run with implicit and lenskit -->\n```python\n")
"""Before a block that ``python -m benchmarks.adapters`` runs, with libraries not installed here."""
FILE = re.compile(r"# (\w+\.(?:py|toml))\n")
"""First line of a block that a reader saves under this name."""

BLOCKS = [
    pytest.param(page, *match.groups(), id=f"{page.name}-{j}")
    for page in PAGES
    for j, match in enumerate(BLOCK.finditer(page.read_text("utf-8")))
]
MODULES = [m.name for m in pkgutil.walk_packages(fullrank.__path__, "fullrank.") if not m.ispkg]


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Save the files of a page to a folder of its own, and go there."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def save(page):
        for _, code, _ in BLOCK.findall(page.read_text("utf-8")):
            if name := FILE.match(code):
                Path(name[1]).write_text(code, "utf-8")
        return tmp_path

    yield save
    for name in set(sys.modules) - before:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


@pytest.mark.parametrize(("page", "language", "code", "output"), BLOCKS)
def test_block(saved, page, language, code, output):
    folder = saved(page)
    if language == "toml":
        content = tomllib.loads(code)
        if "scenario" in content:
            check_psi(parse_psi(content, page.name, code), folder)
            return
        spec = parse_spec(content, page.name, code)
        check(spec, folder if FILE.match(code) else None)
        return
    assert language == "python"
    printed, names = io.StringIO(), {"__name__": "example"}
    with contextlib.redirect_stdout(printed):
        if name := FILE.match(code):
            names = vars(importlib.import_module(Path(name[1]).stem))
        else:
            exec(compile(code, page.name, "exec"), names)
    assert printed.getvalue() == (output or "")
    for shown in [value for name, value in names.items() if name.startswith("Test")]:
        for name in [name for name in dir(shown) if name.startswith("test_")]:
            getattr(shown(), name)()


def test_every_python_and_toml_block_runs():
    for page in PAGES:
        shown = re.findall(r"^```(?:python|toml)$", page.read_text("utf-8"), re.MULTILINE)
        marked = list(BLOCK.finditer(page.read_text("utf-8")))
        elsewhere = ELSEWHERE.findall(page.read_text("utf-8"))
        assert len(shown) == len(marked) + len(elsewhere), page


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_docstring_examples(name):
    if name.startswith("fullrank.models.neural.") and importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch; tests/models/neural runs it")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / "examples").glob("*.toml")), ROOT / "src/fullrank/cli/demo.toml"]
)
def test_benchmark_files_can_be_run(path):
    spec, _ = read_spec(path)
    assert check(spec)


def test_every_key_setting_and_filter_is_on_the_page_of_benchmark_files():
    text = (ROOT / "docs" / "benchmark-file.md").read_text("utf-8")
    shapes = (
        BenchSpec,
        DataSpec,
        ReadSpec,
        FilterSpec,
        SplitSpec,
        RankingSpec,
        TuneSpec,
        ModelSpec,
    )
    keys = {key for shape in shapes for key in shape.model_fields}
    for name in names("split"):
        assert f"`{name}`" in text
        keys |= {field.name for field in fields(find("split", name))}
    for spelling, name in filter_names().items():
        assert f"{{ {spelling} = " in text
        keys |= {field.name for field in fields(find("filter", name))}
    written = set(re.findall(r"(\w+) = ", text)) | set(re.findall(r"\[([a-z.]+)\]", text))
    assert keys - written - {"read"} == set()


def test_every_key_of_psi_files_is_on_their_page():
    text = (ROOT / "docs" / "psi.md").read_text("utf-8")
    shapes = (PsiSpec, SeedsSpec, FloorSpec, SamplerSpec, ScenarioSpec)
    keys = {key for shape in shapes for key in shape.model_fields}
    written = set(re.findall(r"(\w+) = |`(\w+)`|\[([a-z.]+)\]", text))
    assert keys - {name.split(".")[-1] for found in written for name in found} == set()


def test_commands_in_the_readme_exist():
    from fullrank.cli._app import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"`fullrank ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))
    assert named
    assert named <= known


def docstrings():
    """Each docstring of the sources, with where it stands."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                yield f"{path.name} {getattr(node, 'name', '')}", text or ""


def test_no_line_of_a_paragraph_begins_like_a_list():
    """Markdown, which the API pages are made with, would begin one there."""
    for where, text in docstrings():
        lines = text.splitlines()
        for before, line in itertools.pairwise(lines):
            marked = re.match(r"\s*([-+*]|\d+\.) ", line) and not line.startswith("        ")
            if marked and before.strip():
                assert re.match(r"\s*([-+*]|\d+\.) |\s{2,}", before), f"{where}: {line}"


def test_guides_are_built_and_private_modules_are_not():
    build = (ROOT / "docs" / "build.py").read_text("utf-8")
    for page in PAGES[1:]:
        assert f'"{page.stem}"' in build
        assert f"docs/{page.name}" in (ROOT / "README.md").read_text("utf-8")
    private = re.compile(re.search(r'PRIVATE = r"!(.*)"', build)[1])
    assert private.match("fullrank.experiment._own")
    assert not private.match("fullrank.experiment.run")
