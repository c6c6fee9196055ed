"""The data set that comes with fullrank."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl

import fullrank.data
from fullrank.core.interactions import NO_TIME
from fullrank.data import read

FOLDER = Path(fullrank.data.__file__).parent / "bundled"


def test_counts_titles_and_terms() -> None:
    data = read("online-retail")
    log = data.interactions
    assert (len(log), log.n_users, log.n_items) == (273_840, 4_285, 4_006)
    assert log.item_vocab.kind == "text"
    assert log.times is not None
    assert NO_TIME not in log.times
    assert data.items is not None
    assert set(log.item_vocab.ids) <= set(data.items["item_id"])
    assert data.items["title"].null_count() == 0
    assert "CC BY 4.0" in data.source.licence
    assert "Chen" in data.source.citation


def test_size_and_attribution() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.parquet")) < 1_000_000
    text = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for needed in ("CC BY 4.0", "Chen, D.", "Sain", "What was changed", "archive.ics.uci.edu"):
        assert needed in text


def test_script_makes_the_committed_files(real_data: Path, tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "build_bundled.py"
    spec = importlib.util.spec_from_file_location("build_bundled", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(real_data / "online-retail-ii", tmp_path)
    for name in ("online_retail.parquet", "online_retail_items.parquet"):
        assert pl.read_parquet(tmp_path / name).equals(pl.read_parquet(FOLDER / name))


def test_first_purchases(real_data: Path) -> None:
    """Against a plain reference on the first thousand pairs of the full set."""
    full = pl.read_parquet(real_data / "online-retail-ii" / "interactions.parquet")
    first: dict[tuple[int, str], int] = {}
    for user, item, time in full.select("user_id", "item_id", "timestamp").iter_rows():
        first[user, item] = min(time, first.get((user, item), time))
    log = read("online-retail").interactions
    assert log.times is not None
    found = dict(zip(zip(log.user_ids.tolist(), log.item_ids), log.times.tolist(), strict=True))
    assert found == first
