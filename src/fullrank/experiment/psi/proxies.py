"""Importance of a fold's training rows, learnt once and kept in the store for all samplers."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fullrank.core.errors import DataError, StoreError
from fullrank.experiment.bench import Fold
from fullrank.experiment.store import Store, key_of
from fullrank.subsample import Importance
from fullrank.subsample._by_importance import ByImportance, estimator_of
from fullrank.subsample._proxy import proxy_model
from fullrank.subsample._sample import drawn

if TYPE_CHECKING:
    from fullrank.experiment.psi.samples import Draw


def learnt(store: Store, fold: Fold, how: Draw) -> Importance | None:
    """The importance that a strategy goes by: read from the store, or learnt and kept there.

    Strategies that ask the same proxy about the same rows with the same seed share it.

    Args:
        store: of the run.
        fold: with the split to sample.
        how: strategy, sizes and seed.

    Returns:
        None for a strategy that goes by none, or by a file that its settings name.

    Raises:
        DataError: the rows lack what the proxy needs.
        StoreError: a kept importance is damaged.
    """
    sampler = how.how
    if not isinstance(sampler, ByImportance) or sampler.importance:
        return None
    train, key = fold.split.train, _key(fold, how, sampler)
    place = store.folder / "importance" / f"{key}.npz"
    with store.lock(f"importance-{key}", wait=True):
        if not place.exists():
            found = sampler.learn(train, drawn(how.seed), how.size)
            aside = store.folder / "tmp" / f"importance-{uuid.uuid4().hex}" / place.name
            aside.parent.mkdir(parents=True)
            found.save(aside)
            place.parent.mkdir(exist_ok=True)
            aside.replace(place)
    try:
        return Importance.load(place, train)
    except (StoreError, DataError) as error:
        raise StoreError(
            f"{place} is damaged ({error}); delete it and run again: it is learnt anew"
        ) from error


def _key(fold: Fold, how: Draw, sampler: ByImportance) -> str:
    """All that the importance depends on."""
    return key_of(
        {
            "split": fold.split.fingerprint,
            "proxy": sampler.proxy,
            "version": type(proxy_model(sampler.proxy, sampler.scenario)).version,
            "scenario": sampler.scenario,
            "estimator": estimator_of(how.size),
            "seed": how.seed,
        }
    )


def with_proxy(
    drawing: Mapping[str, float | None], proxy: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Resources of drawing samples, the proxy's whole training included as if it had no other use.

    Args:
        drawing: ``sample_seconds`` and so on.
        proxy: ``proxy_seconds`` and so on.
    """
    out = {}
    for name, own in drawing.items():
        other = proxy.get(name.replace("sample_", "proxy_"))
        join = max if name.endswith("_peak_mib") else sum
        out[name] = None if own is None or other is None else join((own, other))
    return out
