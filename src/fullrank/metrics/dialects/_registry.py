"""Find the dialect of a metric and a tool."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from fullrank.core.errors import SpecError, suggest
from fullrank.metrics.dialects._base import Dialect

TOOLS = (
    "daisyrec",
    "implicit",
    "irspack",
    "lenskit",
    "ranx",
    "recbole",
    "recommenders",
    "rectools",
    "sklearn",
    "svpcf",
    "trec",
)


@cache
def dialects_of(tool: str) -> dict[str, Dialect]:
    """The dialects of one tool by the name of the metric."""
    module = import_module(f"fullrank.metrics.dialects.{tool}")
    return {dialect.metric: dialect for dialect in module.DIALECTS}


def find_dialect(metric: str, tool: str) -> Dialect:
    """How a tool defines a metric.

    Args:
        metric: registered name, such as ``"NDCG"``.
        tool: name of the tool, without regard to case.

    Raises:
        SpecError: unknown tool, or one that has no such metric (or we know no source for it).
    """
    name = str(tool).lower()
    if name not in TOOLS:
        raise SpecError(f"{metric}: unknown dialect {tool!r}{suggest(name, TOOLS)}")
    known = dialects_of(name)
    if metric not in known:
        raise SpecError(f"{metric} has no dialect {name!r}; it covers {', '.join(sorted(known))}")
    return known[metric]
