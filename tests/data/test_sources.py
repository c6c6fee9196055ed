"""Named data sets: published counts, terms, tables; what is said when they aren't at hand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from fullrank.core.errors import DataError
from fullrank.data import list_sources, read, source_info

NO_LOGS = {"ml-1m-ncf", "movielens-format-samples", "obd-men", "trec-eval"}
NAMES = [info.name for info in list_sources()]


@pytest.fixture
def data_env(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLRANK_DATA", str(real_data))
    return real_data


def test_every_folder_has_an_entry(real_data: Path) -> None:
    folders = {path.name for path in real_data.iterdir() if path.is_dir()}
    assert folders <= set(NAMES)


@pytest.mark.parametrize("name", sorted(set(NAMES) - NO_LOGS))
def test_published_counts(name: str, data_env: Path) -> None:
    info = source_info(name)
    if not info.available:
        pytest.skip(f"{name} is not in the folder with real data")
    data = read(name)
    assert data.source.name == name
    assert data.source.licence == info.licence
    assert info.rows == len(data.interactions)
    assert data.interactions.recipe[0]["source"] == name


@pytest.mark.parametrize("name", sorted(NO_LOGS))
def test_sets_that_hold_no_interactions_say_so(name: str, data_env: Path) -> None:
    with pytest.raises(DataError, match=f"{name} holds no interactions: it .*(read|load|take) "):
        read(name)


@pytest.mark.parametrize("info", list_sources(), ids=NAMES)
def test_entries_are_complete(info: object) -> None:
    entry = source_info(info.name)  # type: ignore[attr-defined]
    assert entry.licence
    assert entry.url.startswith("https://")
    assert entry.title


def test_side_tables(data_env: Path) -> None:
    small = read("ml-100k")
    assert small.users is not None
    assert small.items is not None
    assert small.users.row(0) == (1, 24, "M", "technician", "85711")
    assert small.items["title"][0] == "Toy Story (1995)"
    assert "Misérables, Les (1995)" in small.items["title"]  # the file is in Latin-1
    assert small.users["zip_code"].dtype == pl.String
    large = read("ml-1m")
    assert large.items is not None
    assert large.items.columns == ["item_id", "title", "genres"]
    assert len(large.items) == 3883
    journey = read("complete-journey").items
    assert journey is not None
    assert journey.columns[0] == "item_id"
    coat = read("coat")
    assert coat.users is not None
    assert coat.users.shape == (290, 15)
    assert coat.users.columns[1] == "gender:men"


def test_ml_1m_lacks_a_third_of_its_times(data_env: Path) -> None:
    data = read("ml-1m").interactions
    assert data.times is not None
    assert int((data.times == min(data.times)).sum()) == 1_000_209 - 664_759


def test_extras_and_units(data_env: Path) -> None:
    assert set(read("retailrocket-multi").interactions.extras["event"]) == {
        "view", "addtocart", "transaction"
    }  # fmt: skip
    assert read("yoochoose-100k").interactions.time_unit == "ms"
    sessions = read("diginetica-sample").interactions
    first = sessions.take(sessions.user_ids == 1)
    assert first.times is not None
    # 2016-05-09 is day 16,930; the file's first line has 526,309 ms.
    assert 16_930 * 86_400_000 + 526_309 in first.times


def test_several_folders(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "filmtrust").mkdir()
    shutil.copy(real_data / "filmtrust/native/ratings.txt", tmp_path / "filmtrust/ratings.txt")
    monkeypatch.setenv("FULLRANK_DATA", os.pathsep.join(["/nowhere", str(tmp_path)]))
    assert len(read("filmtrust").interactions) == 35_497


def test_other_counts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ml-100k"
    folder.mkdir()
    (folder / "u.data").write_text("1\t2\t3\t881250949\n1\t3\t3\t881250949\n")
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"expected 100,000 rows .*, found 2 in .*u\.data"):
        read("ml-100k")


def test_without_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    assert not source_info("ml-1m").available
    with pytest.raises(DataError, match=r"grouplens.org.*environment variable FULLRANK_DATA"):
        read("ml-1m")
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"ml-1m/ratings\.dat is not in FULLRANK_DATA"):
        read("ml-1m")


def test_names_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no data set 'ml1m'; did you mean 'ml-1m'"):
        read("ml1m")
    with pytest.raises(DataError, match=r"there is no file ratings\.csv"):
        read("ratings.csv")
    with pytest.raises(DataError, match="takes no options"):
        read("online-retail", separator=",")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text("user,item\nu,i\n")
    assert len(read("log").interactions) == 1


def test_interactions_and_datasets_pass_through() -> None:
    data = read({"user_id": [1], "item_id": [2]})
    assert read(data) is data
    assert read(data.interactions).interactions is data.interactions
    with pytest.raises(DataError, match="already read"):
        read(data, separator=",")
