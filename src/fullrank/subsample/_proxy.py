"""Proxies: the cheap models whose errors tell which training rows matter."""

from __future__ import annotations

from typing import Any

from fullrank.core.call import Call, plain, read_call
from fullrank.core.errors import SpecError, suggest
from fullrank.core.registry import build, names
from fullrank.models import Recommender
from fullrank.subsample._parse import call_text

EPOCHS = 50
"""Sachdeva, Wu & McAuley's proxies train so long, without early stopping."""

_FACTORS = 10
_NAMED: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "mf": {
        "implicit": ("BPRMF", {"embedding_dim": _FACTORS, "epochs": EPOCHS}),
        "explicit": ("MF", {"embedding_dim": _FACTORS, "epochs": EPOCHS, "solver": "sgd"}),
    },
    "biasonly": {
        # Factors that start at 0 have no gradient and stay there: only item biases are learnt.
        "implicit": (
            "BPRMF",
            {"embedding_dim": 1, "epochs": EPOCHS, "init": "normal(std=0)"},
        ),
        "explicit": ("BiasOnly", {"epochs": EPOCHS}),
    },
}


def proxy_model(text: str, scenario: str) -> Recommender:
    """The model that a setting names.

    Args:
        text: ``mf``, ``bias_only``, or a model with settings, such as ``EASE(reg=300)``.
        scenario: ``implicit`` or ``explicit``.

    Raises:
        SpecError: an unknown name or setting, or a model that predicts no ratings where explicit.
    """
    call = read_call(text, "proxy")
    if call.parts:
        raise SpecError(
            f"the proxy {call.name!r} takes settings by name only, name=value; got "
            f"{call.parts[0]!r}"
        )
    options = {
        key: call_text(value) if isinstance(value, Call) else value
        for key, value in (call.options or {}).items()
    }
    if plain(call.name) in _NAMED and call.name not in names("model"):
        name, settings = _NAMED[plain(call.name)][scenario]
        options = {**settings, **options}
    else:
        name = _model(call.name)
    model: Recommender = build("model", name, options)
    if scenario == "explicit" and not model.predicts_ratings:
        raise SpecError(
            f"the proxy {name} predicts no ratings, which scenario 'explicit' needs; take mf, "
            "bias_only or another model that does, or scenario 'implicit'"
        )
    return model


def _model(name: str) -> str:
    if ":" in name:
        return name
    known = {plain(one): one for one in names("model")}
    if plain(name) not in known:
        raise SpecError(
            f"unknown proxy {name!r}{suggest(name, ['mf', 'bias_only', *known.values()])}"
        )
    return known[plain(name)]
