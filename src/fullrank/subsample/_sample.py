"""``subsample``: training rows in, fewer of them out, with a manifest that says what was kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, derive, seed_of
from fullrank.data.filters.amounts import check_count, check_share
from fullrank.split import Split
from fullrank.split._base import LEFT_OUT, TRAIN
from fullrank.subsample._base import SIZES, Order, Sampler, Size
from fullrank.subsample._by_importance import ByImportance
from fullrank.subsample._importance import Importance
from fullrank.subsample._manifest import manifest
from fullrank.subsample._parse import parse_sampler
from fullrank.subsample._select import as_fraction, asked_rows, first_rows, whole_units

STEP = ("strategy", "settings", "keep", "size", "seed")
"""What the recipe of rows and splits says of a sample."""


@dataclass(frozen=True)
class Floor:
    """The least that a sample must have to be of use.

    The defaults are those below which Sachdeva, Wu & McAuley 2022 skip a run in silence.

    Attributes:
        rows: interactions.
        users: users that have any.
        items: items that have any.
    """

    rows: int = 100
    users: int = 50
    items: int = 50

    def __post_init__(self) -> None:
        for name in ("rows", "users", "items"):
            check_count("floor", name, getattr(self, name), least=1)


@dataclass(frozen=True, eq=False)
class Subsample:
    """A sample of training rows.

    Attributes:
        source: the training rows that it was drawn from.
        rows: int64 ``[k]``, numbers of the rows of ``source`` that were kept, ascending.
        manifest: asked and realised shares, cold users, catalogue, fingerprints, ready for JSON.
        split: the split with the other training rows left out and everything else untouched, if a
            split was given.
        importance: of the rows of ``source``, where the strategy went by it.
    """

    source: Interactions
    rows: NDArray[np.int64]
    manifest: Mapping[str, Any]
    split: Split | None = None
    importance: Importance | None = None

    def __repr__(self) -> str:
        share = f"{len(self.rows) / len(self.source):.2%}"
        return brief(self, self.manifest["strategy"], count(len(self.rows), "row"), share)

    @property
    def train(self) -> Interactions:
        """The rows that were kept; the vocabularies stay, and with them codes and catalogue."""
        step = {key: self.manifest[key] for key in STEP}
        return self.source.take(self.rows, step={"subsample": step})

    @property
    def catalogue(self) -> NDArray[np.bool_]:
        """Items with training rows before the sampling, bool ``[n_items]``: what to rank over."""
        return np.asarray(self.source.item_counts > 0)


def subsample(
    train: Interactions | Split,
    strategy: str | Sampler,
    keep: float,
    rng: RNG = 0,
    *,
    size: Size = "exact",
    floor: Floor | None = None,
) -> Subsample:
    """Keep a share of the training rows.

    Nothing but training rows is ever sampled: of a split those of its train part, whose
    validation and test rows stay as they are; interactions are taken for training rows whole.

    Args:
        train: a split, or training rows.
        strategy: a sampler, or its text, such as ``"RandomUsers"`` or ``"SVPCF(unit=user)"``.
        keep: share of the rows to keep, in (0, 1).
        rng: seed or Generator.
        size: ``"exact"``: just as many rows as asked, the last unit trimmed at random;
            ``"whole"``: no user, item or node is trimmed, and the sample is a little smaller;
            ``"faithful"``: as the code of Sachdeva, Wu & McAuley 2022 does, its mistakes included.
        floor: the least that a usable sample has; ``Floor()`` by default.

    Returns:
        ``Subsample`` with row numbers and manifest.

    Raises:
        SpecError: a share outside (0, 1), an unknown strategy, setting or size.
        DataError: the sample is below the floor, or the data lack what the strategy needs.

    Example:
        >>> import fullrank as fr
        >>> train = fr.read("online-retail").interactions
        >>> sample = subsample(train, "RandomUsers", 0.2)
        >>> sample.manifest["realised"]["rows"]["share"] == 0.2
        True
    """
    return subsamples(train, strategy, [keep], rng, size=size, floor=floor)[0]


def subsamples(
    train: Interactions | Split,
    strategy: str | Sampler,
    keeps: Sequence[float],
    rng: RNG = 0,
    *,
    size: Size = "exact",
    floor: Floor | None = None,
) -> list[Subsample]:
    """Samples of several sizes from one order: each lies in the larger ones.

    Arguments and errors as ``subsample``; ``keeps`` are shares in any order.
    """
    out = []
    for one in attempts(train, strategy, keeps, rng, size=size, floor=floor):
        if isinstance(one, DataError):
            raise one
        out.append(one)
    return out


def attempts(
    train: Interactions | Split,
    strategy: str | Sampler,
    keeps: Sequence[float],
    rng: RNG = 0,
    *,
    size: Size = "exact",
    floor: Floor | None = None,
    learnt: Importance | None = None,
) -> list[Subsample | DataError]:
    """``subsamples``, with the error itself in place of each sample that is below the floor.

    Args:
        train: see ``subsample``, and so are keeps, rng, size and floor.
        strategy: a sampler, or its text.
        keeps: shares, in any order.
        rng: seed or Generator.
        size: of samples.
        floor: of usable samples.
        learnt: what the ``learn`` of a strategy that goes by importance gave for ``drawn(rng)``,
            if it was made before. Its cost is told with the samples as if it had been made here.
    """
    how = parse_sampler(strategy) if isinstance(strategy, str) else strategy
    _check(how, keeps, size)
    rows = train.train if isinstance(train, Split) else train
    if not len(rows):
        raise DataError("there are no training rows to sample from; check the split and filters")
    seed, least = seed_of(rng), floor or Floor()
    own = drawn(seed)
    learnt, learning = _learnt(how, rows, own, size, learnt)
    start = time.perf_counter()
    order = None if size == "faithful" else _order(how, rows, keeps, own, learnt)
    ordered = learning + time.perf_counter() - start
    out: list[Subsample | DataError] = []
    for keep in keeps:
        begun = time.perf_counter()
        if order is None:
            mask, about = _published(how, rows, keep, own, learnt)
        else:
            mask, about = _mask(how, rows, order, keep, size, own)
        kept = np.flatnonzero(mask)
        low = _below_floor(how, rows, kept, keep, least)
        if low is not None:
            out.append(low)
            continue
        seconds = {"order": ordered, "select": time.perf_counter() - begun}
        told = manifest(how, rows, kept, keep, size, seed, about, seconds)
        cut = without_rows(train, mask, told) if isinstance(train, Split) else None
        out.append(Subsample(rows, kept, told, cut, order.importance if order else None))
    return out


def drawn(seed: int) -> int:
    """The seed that a strategy is given."""
    return derive(seed, "subsample")


def _learnt(
    how: Sampler, rows: Interactions, seed: int, size: Size, made: Importance | None
) -> tuple[Importance | None, float]:
    """The importance that a strategy goes by, and the seconds that it took; None for others."""
    if not isinstance(how, ByImportance) or (size == "faithful" and not how.published):
        return None, 0.0
    if made is not None:
        return made, float(made.about["cost"]["proxy_seconds"])
    start = time.perf_counter()
    found = how.learn(rows, seed, size)
    return found, time.perf_counter() - start


def _order(
    how: Sampler, rows: Interactions, keeps: Sequence[float], seed: int, learnt: Importance | None
) -> Order:
    if isinstance(how, ByImportance) and learnt is not None:
        return how.order_by(rows, learnt, seed)
    most = max((asked_rows(len(rows), as_fraction(keep)) for keep in keeps), default=0)
    return how.order(rows, seed, most)


def _published(
    how: Sampler, rows: Interactions, keep: float, seed: int, learnt: Importance | None
) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
    removed = 1 - as_fraction(keep)
    if isinstance(how, ByImportance) and learnt is not None:
        return how.published_by(rows, learnt, removed, seed)
    return how.as_published(rows, removed, seed)


def _check(how: Sampler, keeps: Sequence[float], size: str) -> None:
    if not isinstance(how, Sampler):
        raise SpecError(f"a strategy is a sampler or its name, got {how!r}")
    for keep in keeps:
        check_share(f"strategy {how.name}", "keep", keep)
    if size not in SIZES:
        raise SpecError(f"size must be one of {', '.join(SIZES)}, got {size!r}")


def _mask(
    how: Sampler, rows: Interactions, order: Order, keep: float, size: Size, seed: int
) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
    asked = asked_rows(len(rows), as_fraction(keep))
    if not how.exact:
        return whole_units(order.keys, asked, nearest=True), order.about
    if size == "whole":
        return whole_units(order.keys, asked), order.about
    return first_rows(order.keys, asked, rows, seed), order.about


def _below_floor(
    how: Sampler, rows: Interactions, kept: NDArray[np.int64], keep: float, least: Floor
) -> DataError | None:
    """Why a sample is of no use, if it is of none."""
    found = {
        "rows": len(kept),
        "users": int(np.count_nonzero(np.bincount(rows.users[kept], minlength=1))),
        "items": int(np.count_nonzero(np.bincount(rows.items[kept], minlength=1))),
    }
    for name, n in found.items():
        if n < getattr(least, name):
            lower = f", or lower the floor (--floor {name}={n}, Floor({name}={n}) in Python)"
            return DataError(
                f"{how} with keep = {keep:g} leaves {found['rows']:,} rows, {found['users']:,} "
                f"users and {found['items']:,} items of {len(rows):,} rows; a usable sample has "
                f"at least {getattr(least, name):,} {name}; keep more"
                f"{lower if n else ''}"
            )
    return None


def without_rows(split: Split, mask: NDArray[np.bool_], told: Mapping[str, Any]) -> Split:
    """The split without the training rows that a sample dropped.

    Args:
        split: that was sampled.
        mask: bool ``[n]`` over its training rows, true for those that were kept.
        told: the manifest of the sample.
    """
    dropped = np.flatnonzero(split.part == TRAIN)[~mask]
    part = split.part.copy()
    part[dropped] = LEFT_OUT
    refit = None if split.refit is None else split.refit.copy()
    if refit is not None:
        refit[dropped] = False
    step = {key: told[key] for key in STEP}
    note = f"{count(len(dropped), 'training row')} left out by the sample {told['strategy']}"
    return Split(
        data=split.data,
        part=part,
        recipe={**split.recipe, "subsample": step},
        ties_at_cut=split.ties_at_cut,
        repeats=split.repeats,
        notes=(*split.notes, note),
        refit=refit,
    )
