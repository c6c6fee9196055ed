"""Samples in folders: the rows, the catalogue that they were drawn from, and the manifest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fullrank.data import write_interactions
from fullrank.subsample._sample import Subsample


def save(sample: Subsample, folder: str | Path) -> list[str]:
    """Write a sample to a folder.

    Of a split the whole split is written, as ``Split.save`` does, so that validation and test rows
    travel with the sample; of plain rows ``train.parquet``. ``catalogue.parquet`` lists the items
    that had training rows before (``catalogue = "…/catalogue.parquet"`` in a benchmark file keeps
    the full ranking over them), and ``manifest.json`` is written last. Where the
    strategy went by the importance of rows, it is in ``importance.npz``, and need not be made anew
    (``importance`` is a setting of such strategies).

    Args:
        sample: what ``subsample`` gave.
        folder: made if it isn't there.

    Returns:
        Names of the files that hold rows, catalogue and manifest.
    """
    import polars as pl

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if sample.split is not None:
        sample.split.save(folder)
    else:
        write_interactions(sample.train, folder / "train.parquet")
    names = ["train.parquet", "catalogue.parquet", "manifest.json"]
    if sample.importance is not None:
        sample.importance.save(folder / "importance.npz")
        names.append("importance.npz")
    items = sample.source.item_vocab.series(np.flatnonzero(sample.catalogue))
    pl.DataFrame({"item_id": items}).write_parquet(folder / "catalogue.parquet")
    text = json.dumps(sample.manifest, indent=1, ensure_ascii=False)
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return names
