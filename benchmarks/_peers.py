"""Environments of their own for other tools, so that none of them touches ours.

``python_of("implicit")`` gives the interpreter of an environment in which that tool is installed,
making it at the first call under ``FULLRANK_PEERS`` (``~/.cache/fullrank-peers`` by default).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ARRAYS = ("numpy==2.4.6", "scipy==1.17.1", "threadpoolctl==3.8.0")
TORCH = "torch==2.13.0"  # without a pin pip fetches gigabytes of GPU packages
PEERS: dict[str, tuple[str, ...]] = {
    "implicit": ("implicit==0.7.3", *ARRAYS),
    "irspack": ("irspack==0.5.2", *ARRAYS),
    "torch": (TORCH, *ARRAYS),
    "lenskit": ("lenskit==2025.8.1", TORCH, *ARRAYS),
    # implicit and LensKit beside what fullrank needs, for the snippet of docs/your-own-model.md
    "adapters": (
        "implicit==0.7.3",
        "lenskit==2025.8.1",
        TORCH,
        *ARRAYS,
        "numba==0.68.1",
        "polars==2.1.0",
        "narwhals==2.29.0",
        "pydantic>=2.7",
        "safetensors>=0.5",
    ),
    "fastslim": ("fastslim==0.3.0", *ARRAYS),
    "lightfm": ("lightfm==1.17", *ARRAYS),
    # RecBole reads frames and builds matrices as pandas 2 and SciPy 1.11 had them
    "recbole": ("recbole==1.2.1", TORCH, "numpy==1.26.4", "scipy==1.11.4", "pandas==2.1.4"),
}


class PeerUnavailableError(RuntimeError):
    """A tool can't be installed here; the message says why, for the table."""


def folder() -> Path:
    """Where the environments are kept."""
    given = os.environ.get("FULLRANK_PEERS")
    return Path(given) if given else Path.home() / ".cache" / "fullrank-peers"


def python_of(name: str, requirements: tuple[str, ...] = ()) -> Path:
    """Interpreter of the environment of a tool.

    Args:
        name: of the tool; the requirements of known ones stand in ``PEERS``.
        requirements: pinned, as pip takes them, for one that isn't there.

    Raises:
        PeerUnavailableError: it could not be installed; says pip's reason. The failure is kept, so
            that it is not tried again until the requirements change or the folder is removed.
    """
    wanted = requirements or PEERS[name]
    home = folder() / name
    python, done, failed = home / "bin" / "python", home / ".installed", home / ".failed"
    key = hashlib.sha256("\n".join((sys.version, *wanted)).encode()).hexdigest()
    if done.exists() and done.read_text() == key:
        return python
    if failed.exists() and failed.read_text().startswith(key):
        raise PeerUnavailableError(failed.read_text().partition("\n")[2])
    home.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    made = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)
    if made.returncode:
        lines = [x for x in made.stderr.splitlines() if x.strip()]
        errors = [x for x in lines if "error" in x.lower()] or lines or ["pip gave no reason"]
        reason = errors[0].strip()[:160]
        failed.write_text(f"{key}\n{reason}")
        raise PeerUnavailableError(reason)
    done.write_text(key)
    return python


if __name__ == "__main__":
    for tool in sys.argv[1:] or PEERS:
        try:
            print(f"{tool}: {python_of(tool)}")
        except PeerUnavailableError as error:
            print(f"{tool}: {error}")
