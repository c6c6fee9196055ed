"""The sizes that the house agreed on, so that files stay readable."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def length_without_docstring(node: ast.AST) -> int:
    """Lines of a function body, its docstring left out."""
    body = node.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        first = body[1]
    return body[-1].end_lineno - first.lineno + 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= 400
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module begins by saying what it is"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert length_without_docstring(node) <= 40, node.name


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_test_files_are_short(path):
    assert path.read_text("utf-8").count("\n") <= 500


def test_tests_that_need_pytorch_are_run_by_their_target():
    """``make test`` skips them, so nothing else would run them."""
    target = re.search(r"^test-torch:.*\n.* -m pytest (.+)$", (ROOT / "Makefile").read_text(), re.M)
    given = [path for pattern in target[1].split() for path in ROOT.glob(pattern)]
    run = {file for path in given for file in (path.rglob("*.py") if path.is_dir() else [path])}
    needing = [path for path in TESTS if 'importorskip("torch"' in path.read_text("utf-8")]
    assert set(needing) - {Path(__file__)} <= run
    assert "make test-torch" in (ROOT / ".ci" / "run").read_text()
