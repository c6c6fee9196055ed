"""``list``: what can be named in a benchmark file or on the command line."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, Literal

import typer

from fullrank.cli._output import print_json, print_line, print_table

Kind = Literal[
    "models", "metrics", "splits", "filters", "negatives", "objectives", "estimators", "subsamplers"
]  # fmt: skip


def list_names(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """List what can be named of a kind, with settings and defaults."""
    rows = [_describe(kind, name) for name in _names(kind)]
    if json:
        print_json(rows)
        return
    head = ["name", "settings", "about"]
    table = [[row["name"], _settings(row["settings"]), row["about"]] for row in rows]
    if kind == "metrics":
        head.insert(1, "also")
        for line, row in zip(table, rows, strict=True):
            line.insert(1, ", ".join(row["aliases"]))
    print_table(head, table)
    if kind == "negatives":
        _print_forms()


def _print_forms() -> None:
    from fullrank.negatives.training import FORMS

    print_line("")
    print_line(
        f"The setting `negatives` of models that are trained takes {FORMS}; how many are drawn is "
        "their negatives_per_positive."
    )


def _names(kind: Kind) -> list[str]:
    from fullrank.core.registry import names

    return names(_registry(kind))


def _registry(kind: Kind) -> str:
    return kind if kind == "negatives" else kind.removesuffix("s")


def _describe(kind: Kind, name: str) -> dict[str, Any]:
    from fullrank.core.registry import find

    if kind == "models" and _lacks_pytorch(name):
        return {"name": name, "settings": {}, "about": _NEEDS}
    target = find(_registry(kind), name)
    shape = target if isinstance(target, type) else type(target)
    about = (shape.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    known = fields(shape) if is_dataclass(shape) else ()
    spelled = getattr(shape, "name", name) if kind == "filters" else name
    return {
        "name": spelled if isinstance(spelled, str) else name,
        **({"aliases": list(target.aliases)} if kind == "metrics" else {}),
        "settings": {f.name: _default(f) for f in known if f.init},
        "about": " ".join(about.split()),
    }


def _default(field: Any) -> Any:
    if field.default is not MISSING:
        return field.default
    if field.default_factory is not MISSING:
        made = field.default_factory()
        if is_dataclass(made):
            return repr(made)
        return made.tolist() if hasattr(made, "tolist") else made
    return "(needed)"


_NEEDS = "Needs PyTorch, which is not installed: pip install 'fullrank[neural]'."


def _lacks_pytorch(name: str) -> bool:
    """True for a neural model where PyTorch is not installed."""
    from importlib.util import find_spec

    from fullrank.models import NEURAL

    return name in NEURAL and find_spec("torch") is None


def _settings(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
