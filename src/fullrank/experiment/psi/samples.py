"""Samples of a fold's training rows, drawn once and kept in the store beside the cells."""

from __future__ import annotations

import shutil
import uuid
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fullrank.core.errors import DataError, StoreError
from fullrank.core.resources import measured
from fullrank.experiment.bench import Fold, Sampled
from fullrank.experiment.psi.proxies import learnt, with_proxy
from fullrank.experiment.store import Store, key_of, plain, read_json, write_json
from fullrank.subsample import Floor, Importance, Sampler, Subsample
from fullrank.subsample._base import Size
from fullrank.subsample._by_importance import ByImportance
from fullrank.subsample._sample import attempts, without_rows

_DAMAGED = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class Draw:
    """How samples are drawn.

    Attributes:
        how: the strategy.
        keeps: shares to keep.
        seed: of the draws.
        size: exact, whole units, or as the published code has it.
        floor: of usable samples.
        catalogue: what is ranked, see ``Sampled``.
        dropped: whether items of dropped rows are ranked, see ``Sampled``.
    """

    how: Sampler
    keeps: tuple[float, ...]
    seed: int
    size: Size
    floor: Floor
    catalogue: Literal["full", "subset"]
    dropped: Literal["candidates", "masked"]

    def key(self, fold: Fold) -> str:
        """Name of the samples in the store."""
        return key_of(
            {
                "split": fold.split.fingerprint,
                "strategy": f"{type(self.how).__module__}:{self.how.name}",
                "settings": plain(self.how.settings),
                "keeps": list(self.keeps),
                "seed": self.seed,
                "size": self.size,
                "floor": vars(self.floor),
                **self._given(),
            }
        )

    def _given(self) -> dict[str, str]:
        """Fingerprint of the file of importances that the settings name: its name says little."""
        path = Path(getattr(self.how, "importance", ""))
        if not path.is_file():  # none is named, or the drawing will say that it is not there
            return {}
        return {"importance": blake2b(path.read_bytes(), digest_size=16).hexdigest()}


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of all sizes from one order.

    Attributes:
        key: in the store.
        folds: by share kept, for those that are of use.
        manifests: of these.
        unusable: by share why there is none.
        resources: time and energy of drawing all of them, a proxy's training included.
    """

    key: str
    folds: Mapping[float, Fold]
    manifests: Mapping[float, Mapping[str, Any]]
    unusable: Mapping[float, str]
    resources: Mapping[str, float | None]


def draw(store: Store, fold: Fold, how: Draw, label: str) -> Samples:
    """Samples of a fold's training rows: read from the store, or drawn and kept there.

    Args:
        store: of the run.
        fold: with the split to sample.
        how: strategy, sizes and seed.
        label: of the strategy, for messages.

    Raises:
        DataError: the rows lack what the strategy needs.
        StoreError: kept samples are damaged.
    """
    key = how.key(fold)
    folder = store.folder / "samples" / key
    with store.lock(f"samples-{key}", wait=True):
        if not (folder / "samples.json").exists():
            _make(store, fold, how, folder)
    return _read(fold, how, folder, label)


def _drawn(
    store: Store, fold: Fold, how: Draw
) -> tuple[list[Subsample | DataError], dict[str, float | None]]:
    """Samples of all sizes, and what they cost, a proxy that others share included in full."""
    importance = learnt(store, fold, how)
    resources: dict[str, float | None] = {}
    with measured(resources, "sample"):
        found = attempts(
            fold.split,
            how.how,
            how.keeps,
            how.seed,
            size=how.size,
            floor=how.floor,
            learnt=importance,
        )
    if importance is not None:
        resources = with_proxy(resources, importance.about["cost"])
    return found, resources


def _make(store: Store, fold: Fold, how: Draw, folder: Path) -> None:
    found, resources = _drawn(store, fold, how)
    manifests, unusable, masks = {}, {}, {}
    for keep, sample in zip(how.keeps, found, strict=True):
        if isinstance(sample, DataError):
            # The message goes on with how `fullrank subsample` lowers the floor.
            unusable[f"{keep:g}"] = str(sample).partition("; keep more")[0]
            continue
        mask = np.zeros(len(sample.source), dtype=bool)
        mask[sample.rows] = True
        manifests[f"{keep:g}"], masks[f"{keep:g}"] = plain(sample.manifest), np.packbits(mask)
    aside = store.folder / "tmp" / f"samples-{uuid.uuid4().hex}"
    aside.mkdir(parents=True)
    np.savez(aside / "rows.npz", allow_pickle=False, **masks)
    content = {"manifests": manifests, "unusable": unusable, "resources": resources}
    write_json(aside / "samples.json", content)
    if folder.exists():  # its samples.json was deleted, as damage is mended
        shutil.rmtree(folder)
    folder.parent.mkdir(exist_ok=True)
    aside.rename(folder)


def _read(fold: Fold, how: Draw, folder: Path, label: str) -> Samples:
    content = read_json(folder / "samples.json")
    train = fold.split.train
    folds: dict[float, Fold] = {}
    manifests: dict[float, Mapping[str, Any]] = {}
    unusable: dict[float, str] = {}
    try:
        with (folder / "rows.npz").open("rb") as handle, np.load(handle) as rows:
            masks = {name: np.unpackbits(rows[name], count=len(train)) for name in rows.files}
        for keep in how.keeps:
            name = f"{keep:g}"
            if name in content["unusable"]:
                unusable[keep] = content["unusable"][name]
                continue
            told, mask = content["manifests"][name], masks[name].astype(bool)
            if train.take(mask).fingerprint != told["fingerprint"]["sample"]:
                raise ValueError(f"the rows at {name} are not those of its manifest")
            folds[keep] = _fold(fold, how, without_rows(fold.split, mask, told), f"{label} {name}")
            manifests[keep] = told
        resources = content["resources"]
    except _DAMAGED as error:
        raise StoreError(
            f"{folder} is damaged ({error}); delete the folder and run again: it draws the samples "
            "anew"
        ) from error
    return Samples(folder.name, folds, manifests, unusable, resources)


def _fold(fold: Fold, how: Draw, split: Any, label: str) -> Fold:
    assert fold.sampled is not None
    sampled = Sampled(fold.split, f"{fold.sampled.label}, {label}", how.catalogue, how.dropped)
    return replace(fold, split=split, sampled=sampled)


def check_rows(fold: Fold, samplers: Sequence[Sampler], explicit: bool) -> None:
    """Refuse data that a strategy or the metrics can't do with, before any work.

    Args:
        fold: with the rows.
        samplers: strategies; those that fit a proxy are not tried.
        explicit: predicted ratings are measured.

    Raises:
        DataError: no values, or what the strategy says is missing.
    """
    train = fold.split.train
    if explicit and train.values is None:
        raise DataError(
            f"{fold.title}: metrics of predicted ratings need rows with values, and these data "
            "have none; name the column (columns = { rating = … } under [data])"
        )
    for how in samplers:
        if not hasattr(how, "proxy"):
            how.order(train, 0, 1)
        elif isinstance(how, ByImportance) and how.importance:
            Importance.load(how.importance, train)
