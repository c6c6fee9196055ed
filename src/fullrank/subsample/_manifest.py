"""The manifest of a sample: what was asked, what was kept, and from what."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Sampler
from fullrank.subsample._select import as_fraction, asked_rows


def manifest(
    how: Sampler,
    rows: Interactions,
    kept: NDArray[np.int64],
    keep: float,
    size: str,
    seed: int,
    about: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """What a reader of results on a sample must know, ready for JSON.

    Args:
        how: the sampler.
        rows: what was sampled.
        kept: numbers of the rows that were kept.
        keep: share that was asked for.
        size: ``exact``, ``whole`` or ``faithful``.
        seed: of the draws.
        about: what the order says of itself.
        seconds: time of the steps.
    """
    asked = asked_rows(len(rows), as_fraction(keep))
    counts = {side: _counts(rows, kept, side) for side in ("users", "items")}
    realised = {"rows": _share(len(kept), len(rows)), **{k: _share(*v) for k, v in counts.items()}}
    cold = {side: whole - left for side, (left, whole) in counts.items()}
    return {
        "strategy": how.name,
        "settings": how.settings,
        "units": how.units,
        "size": size if how.exact or size == "faithful" else "nearest",
        "seed": seed,
        "keep": keep,
        "asked": {"rows": asked, "share": asked / len(rows)},
        "realised": realised,
        "exact": len(kept) == asked,
        "nested": size != "faithful",
        "cold_users": {"count": cold["users"], "policy": "apart"},
        "catalogue": {"policy": "full", "items": counts["items"][1], "cold_items": cold["items"]},
        "fingerprint": {
            "train": rows.fingerprint,
            "sample": rows.take(kept).fingerprint,
        },
        "recipe": [dict(step) for step in rows.recipe],
        "about": dict(about),
        "notes": _notes(how, size, len(kept), asked, cold["users"]),
        "seconds": dict(seconds),
        "fullrank": _version(),
    }


def _version() -> str | None:
    try:
        return version("fullrank")
    except PackageNotFoundError:
        return None


def _counts(rows: Interactions, kept: NDArray[np.int64], side: str) -> tuple[int, int]:
    """Users or items that have rows after and before."""
    codes = rows.users if side == "users" else rows.items
    whole = rows.user_counts if side == "users" else rows.item_counts
    left = np.bincount(codes[kept], minlength=1)
    return int(np.count_nonzero(left)), int(np.count_nonzero(whole))


def _share(kept: int, of: int) -> dict[str, Any]:
    return {"kept": kept, "of": of, "share": kept / of}


def _notes(how: Sampler, size: str, kept: int, asked: int, cold: int) -> list[str]:
    out = []
    if kept != asked:
        out.append(f"{kept:,} rows were kept and {asked:,} asked for")
    if size == "faithful":
        out.append("as in the published code, its mistakes included: not for new work")
    if not how.exact:
        out.append(f"{how.name} can't meet any size; the nearest one was taken")
    if cold:
        out.append(
            f"{cold:,} users have no training row left: models know nothing of them, so report "
            "them apart"
        )
    return out
