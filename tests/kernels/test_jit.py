"""Kernels are cached where a cache can be written, and work without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fullrank.kernels import _jit

KERNELS = """
from fullrank.kernels._jit import jit

@jit()
def double(x):
    return 2 * x

@jit()
def triple(x):
    return 3 * x
"""


def run(folder, **environment):
    (folder / "some_kernels.py").write_text(KERNELS)
    env = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    code = "import some_kernels as k; print(k.double(4), k.triple(4))"
    return subprocess.run(
        [sys.executable, "-W", "always", "-B", "-c", code],
        capture_output=True,
        check=False,
        text=True,
        env={**env, "PYTHONPATH": str(folder), **environment},
    )


def test_compiled_code_is_kept(tmp_path):
    done = run(tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "8 12")
    assert len(list((tmp_path / "__pycache__").glob("*.nbi"))) == 2


def test_read_only_install_works_and_says_so_once(tmp_path):
    # A file in the place of the cache folder, and a home that nobody can write to, root included.
    (tmp_path / "__pycache__").write_text("")
    done = run(tmp_path, HOME="/proc/none")
    assert (done.returncode, done.stdout.strip()) == (0, "8 12")
    assert done.stderr.count("no writable folder for compiled kernels") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_a_named_cache_folder_is_used(tmp_path):
    (tmp_path / "__pycache__").write_text("")
    done = run(tmp_path, HOME="/proc/none", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "cache").rglob("*.nbi"))


def test_a_change_in_a_kernel_that_is_called_reaches_its_callers(tmp_path):
    """Numba's cache looks at a kernel's own file alone: ours looks at all files of kernels."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = Path(_jit.__file__).read_text()
    (package / "_jit.py").write_text(source)
    caller = "from kernels._jit import jit\nfrom kernels.callee import two\n"
    (package / "caller.py").write_text(caller + "\n@jit()\ndef four():\n    return two() + two()\n")
    callee = "from kernels._jit import jit\n\n@jit()\ndef two():\n    return {}\n"
    command = [sys.executable, "-c", "from kernels.caller import four; print(four())"]
    found = []
    for value in (2, 2, 30):
        (package / "callee.py").write_text(callee.format(value))
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        found.append(done.stdout.strip())
    assert found == ["4", "4", "60"]
