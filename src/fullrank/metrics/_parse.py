"""The grammar of metrics: ``name(option=value,…)@k,k``, without regard to case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from fullrank.core import registry
from fullrank.core.errors import SpecError, suggest
from fullrank.metrics._base import Metric

_MOST_DIGITS = 1000  # Python refuses to read a number of some thousand digits
_SPEC = re.compile(
    r"""\s*(?P<name>[A-Za-z][\w-]*)\s*
        (?:\((?P<options>[^()]*)\)\s*)?
        (?:@(?P<ks>[^,;()@]*(?:,\s*[-+]?[\d.][^,;()@]*)*))?
        \s*(?:,|;|$)""",
    re.VERBOSE,
)


def parse(text: str) -> Metric:
    """Read one metric.

    Args:
        text: such as ``"ndcg@10"``, ``"map(denominator=relevant)@20"`` or ``"auc"``.

    Raises:
        SpecError: unknown name, option or value, or a missing or misplaced cut-off.

    Example:
        >>> parse("ndcg(gain=linear)@10")
        NDCG(gain=linear)@10
    """
    found = _read(text)
    if len(found) != 1:
        raise SpecError(
            f"expected one metric, got {len(found)} in {text!r}; parse_many reads several"
        )
    return found[0]


def parse_many(texts: str | Iterable[str]) -> tuple[Metric, ...]:
    """Read metrics, each with one or several cut-offs; each once, in the order given.

    Args:
        texts: such as ``"recall(rel=4)@5,10,20"``, ``"ndcg@10, auc"``, or a list of those.

    Raises:
        SpecError: as ``parse``.

    Example:
        >>> parse_many(["recall(rel=4)@5,10", "hr@1"])
        (Recall(rel=4)@5, Recall(rel=4)@10, HitRate@1)
    """
    parts = [texts] if isinstance(texts, str) else list(texts)
    return tuple(dict.fromkeys(metric for part in parts for metric in _read(part)))


def _read(text: str) -> list[Metric]:
    if not isinstance(text, str):
        raise SpecError(f"a metric is written as text, such as 'ndcg@10'; got {text!r}")
    found: list[Metric] = []
    place = 0
    while place < len(text) or not found:
        match = _SPEC.match(text, place)
        if match is None:
            raise SpecError(
                f"can't read the metric {text[place:].strip()!r}; expected a form like ndcg@10, "
                "recall@5,10 or map(denominator=relevant)@20"
            )
        place = match.end()
        metric = lookup(match["name"])(**_options(match["options"], text))
        found += [m.check() for m in _cut(metric, match["ks"], text)]
    return found


def _cut(metric: Metric, ks: str | None, text: str) -> list[Metric]:
    if ks is None:
        return [metric]
    out = []
    for k in ks.split(","):
        if not re.fullmatch(r"\d+", k.strip()):
            raise SpecError(
                f"the cut-off of {metric.name} must be a whole number >= 1, got {k.strip()!r} in "
                f"{text!r}"
            )
        out.append(metric @ _whole(k.strip()))
    return out


def _whole(digits: str) -> int:
    """A cut-off; one of more digits than any ranking needs is told apart from others no more."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def _options(text: str | None, whole: str) -> dict[str, object]:
    options: dict[str, object] = {}
    for part in (text or "").split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name and not equals and not (text or "").strip():
            continue
        if not equals or not name or not value:
            raise SpecError(f"options are written name=value, got {part.strip()!r} in {whole!r}")
        if name.lower() in options:
            raise SpecError(f"the option {name!r} is given twice in {whole!r}")
        options[name.lower()] = _value(value)
    return options


def _value(text: str) -> object:
    """A number where the text is one, lower-case text otherwise."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip("'\"").lower()


def lookup(name: str) -> Metric:
    """Find a metric by name or alias; case, ``-`` and ``_`` don't matter.

    Raises:
        SpecError: there is none; suggests the nearest name.
    """
    known = _names()
    plain = _plain(name)
    if plain in known:
        return known[plain]
    plugins = registry.names("metric")
    for plugin in plugins:
        if _plain(plugin) == plain:
            found = registry.find("metric", plugin)
            if isinstance(found, Metric):
                return found
            raise SpecError(f"the plug-in {plugin!r} is no Metric but {type(found).__name__}")
    shown = sorted({*(str(metric.name) for metric in known.values()), *plugins})
    raise SpecError(f"unknown metric {name!r}{suggest(plain, {*known, *plugins}, shown)}")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


@cache
def _names() -> dict[str, Metric]:
    """The package's own metrics by plain name and alias."""
    from fullrank import metrics

    own: list[Metric] = [getattr(metrics, name) for name in metrics.REGISTRY]
    return {_plain(name): metric for metric in own for name in (metric.name, *metric.aliases)}
