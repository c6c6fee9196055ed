"""Samples in folders: the rows, the catalogue that they were drawn from, and the manifest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fullrank.data import write_interactions
from fullrank.data.writing import interactions_frame
from fullrank.split import Split
from fullrank.split._base import PART_CODES
from fullrank.subsample._sample import Subsample

if TYPE_CHECKING:
    import polars as pl


def save(sample: Subsample, folder: str | Path) -> list[str]:
    """Write a sample to a folder.

    Of a split the whole split is written, as ``Split.save`` does, so that validation and test rows
    travel with the sample, and ``rows.parquet`` with all rows and their parts in a column
    ``split``, for benchmark files (not where users are folded in or the refit has rows of its
    own: ``Given`` can't say that). Of plain rows it is ``train.parquet``.

    ``catalogue.parquet`` lists the items that had training rows before (``catalogue =
    "…/catalogue.parquet"`` in a benchmark file keeps the full ranking over them). Where the
    strategy went by the importance of rows, it is in ``importance.npz``, and need not be made anew
    (``importance`` is a setting of such strategies). ``manifest.json`` is written last.

    Args:
        sample: what ``subsample`` gave.
        folder: made if it isn't there; one that was empty is removed again if the writing fails.

    Returns:
        Names of the files that hold rows, catalogue and manifest.
    """
    folder = Path(folder)
    ours = not folder.exists() or not any(folder.iterdir())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _save(sample, folder)
    except BaseException:  # Ctrl-C too: half a sample must not pass for one
        if ours:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _save(sample: Subsample, folder: Path) -> list[str]:
    import polars as pl

    names = ["train.parquet", "catalogue.parquet", "manifest.json"]
    if sample.split is not None:
        sample.split.save(folder)
        if _is_plain(sample.split):
            _labelled(sample.split).write_parquet(folder / "rows.parquet")
            names.insert(0, "rows.parquet")
    else:
        write_interactions(sample.train, folder / "train.parquet")
    if sample.importance is not None:
        sample.importance.save(folder / "importance.npz")
        names.append("importance.npz")
    items = sample.source.item_vocab.series(np.flatnonzero(sample.catalogue))
    pl.DataFrame({"item_id": items}).write_parquet(folder / "catalogue.parquet")
    text = json.dumps(sample.manifest, indent=1, ensure_ascii=False)
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return names


def _is_plain(split: Split) -> bool:
    """True if train, valid, test and what is left out say all of it."""
    histories = split.counts["valid_history"] + split.counts["test_history"]
    return not histories and split.refit is None


def _labelled(split: Split) -> pl.DataFrame:
    """All rows with the name of their part, those left out included: items stay known by them."""
    import polars as pl

    names = {code: name for name, code in PART_CODES.items()}
    labels = [names[code] for code in split.part.tolist()]
    return interactions_frame(split.data).with_columns(pl.Series("split", labels))
