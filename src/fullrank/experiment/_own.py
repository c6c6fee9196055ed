"""Models of one's own: found beside the benchmark file, told apart by their source."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from fullrank.core.errors import SpecError
from fullrank.core.registry import find
from fullrank.models import Recommender


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Let modules beside a benchmark file be imported by name, while this is open.

    Args:
        folder: of the benchmark file; None changes nothing.
    """
    if folder is None:
        yield
        return
    place = str(folder.resolve())
    importlib.invalidate_caches()  # a module may be younger than the last look into the folder
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def check_module(name: str, folder: Path) -> None:
    """Refuse a plug-in whose file beside the benchmark hides behind a loaded module of its name.

    Args:
        name: ``package.module:Class``; registered names pass.
        folder: of the benchmark file.

    Raises:
        SpecError: this process has loaded another module of that name.
    """
    top = name.partition(":")[0].partition(".")[0]
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if ":" not in name or loaded is None:
        return
    beside = [folder / f"{top}.py", folder / top / "__init__.py"]
    if any(path.exists() for path in beside) and not any(
        path.exists() and path.samefile(loaded) for path in beside
    ):
        raise SpecError(
            f"{name!r}: a module {top!r} from {loaded} is loaded already and hides the one in "
            f"{folder}; rename one of them, or begin a new process"
        )


def code_of(name: str) -> dict[str, str]:
    """What a key must hold beside the version of a model: ``{"code": hash}``, or nothing.

    Args:
        name: of a model in a benchmark file. A registered model is known by its ``version``; one
            named as ``package.module:Class`` is edited without raising it.
    """
    if ":" not in name:
        return {}
    digest = _digest(find("model", name))
    return {"code": digest} if digest else {}


@cache  # once a class: what was read when it was imported, not what the file became since
def _digest(model: type[Recommender]) -> str:
    """Hash of the modules that define a model and the models that it inherits from, ours apart."""
    mine = {c.__module__ for c in model.__mro__ if issubclass(c, Recommender)}
    texts = []
    for module in sorted(mine):
        if module.partition(".")[0] == "fullrank":
            continue
        try:
            texts.append(f"{module}\n{inspect.getsource(sys.modules[module])}")
        except (OSError, TypeError, KeyError):  # no Python source: a compiled module, a session
            texts.append(module)
    if not texts:
        return ""
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()
