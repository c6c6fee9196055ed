"""The store: all or nothing, and what is half written is swept."""

import json
import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from tests.experiment.worlds import bench, run_in, tables

from fullrank.core.errors import FullrankError, StoreError
from fullrank.experiment.results import Results
from fullrank.experiment.run import run
from fullrank.experiment.store import FORMAT, Store, key_of, plain, read_json, write_json

FAST = {"model": [{"name": "Popularity"}, {"name": "Random"}], "tune": None}


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store", create=True)


def test_a_cell_is_there_whole_or_not_at_all(store, monkeypatch):
    table = pl.DataFrame({"x": [1, 2]})
    store.put_cell("a", {"n": 1}, {"ranks": table})
    assert store.has_cell("a")
    assert read_json(store.cell("a") / "cell.json") == {"n": 1}
    assert pl.read_parquet(store.cell("a") / "ranks.parquet").equals(table)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.put_cell("b", {"n": 2}, {"ranks": table})
    assert not store.cell("b").exists()
    assert [path.name for path in store.cells()] == ["a"]


def test_the_next_session_sweeps_what_a_killed_one_left(store):
    (store.folder / "tmp" / "a-1").mkdir()
    (store.folder / "tmp" / "a-1" / "ranks.parquet").write_bytes(b"half")
    trial = {"number": 0, "settings": {}, "value": 0.5}
    store.put_trial("s", 0, trial)
    aside = store.folder / "tune" / "s" / ".trial-000001.json.0123"
    aside.write_text('{"numb')
    with store.session():
        assert list((store.folder / "tmp").iterdir()) == []
        assert not aside.exists()
        assert store.trials("s") == [trial]


def _hold(folder, entered, leave):
    with Store.open(folder).session():
        entered.set()
        leave.wait(30)


def test_nothing_is_swept_while_another_process_is_at_work(store):
    context = multiprocessing.get_context("spawn")
    entered, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(store.folder, entered, leave))
    other.start()
    try:
        assert entered.wait(30)
        (store.folder / "tmp" / "theirs").mkdir()
        with store.session():
            assert (store.folder / "tmp" / "theirs").exists()
    finally:
        leave.set()
        other.join()
    with store.session():
        assert not (store.folder / "tmp" / "theirs").exists()


def test_a_lock_is_held_by_one_and_passed_over_by_others(store):
    with store.lock("a", wait=False) as mine:
        assert mine
        with store.lock("a", wait=False) as again:
            assert not again
        with store.lock("b", wait=False) as other:
            assert other
    with store.lock("a", wait=True) as mine:
        assert mine


def test_several_processes_may_make_the_same_store_at_once(tmp_path):
    for n in range(30):
        folder = tmp_path / str(n)
        with ThreadPoolExecutor(4) as pool:
            stores = list(pool.map(lambda _, at=folder: Store.open(at, create=True), range(4)))
        assert {one.folder for one in stores} == {folder}


def test_a_store_killed_while_it_was_made_is_made_again(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / ".store.json.0123").write_text('{"for')
    with Store.open(folder, create=True).session():
        assert not (folder / ".store.json.0123").exists()


def test_folders_that_are_no_store(tmp_path):
    with pytest.raises(StoreError, match=r"no store \(no store.json\)"):
        Store.open(tmp_path / "absent")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="holds other things"):
        Store.open(tmp_path, create=True)
    with pytest.raises(FullrankError):
        Store.open(tmp_path / "notes.txt", create=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("content", [{"format": FORMAT + 1}, {}, []])
def test_another_format_is_refused(tmp_path, content):
    write_json(tmp_path / "store.json", content)
    with pytest.raises(StoreError, match=f"this version reads {FORMAT}"):
        Store.open(tmp_path)


def test_numbers_that_json_does_not_know_are_never_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"value": float("nan")})
    assert not (tmp_path / "x.json").exists()


def test_keys_follow_the_content_and_not_its_order():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 1.5})
    assert len(key_of({})) == 32


def test_toml_dates_become_text():
    import tomllib

    found = tomllib.loads("a = 2011-06-01\nb = 2011-06-01T10:00:00Z\nc = 10:30:00\nd = [1, 2.5]")
    assert plain(found) == {
        "a": "2011-06-01",
        "b": "2011-06-01T10:00:00+00:00",
        "c": "10:30:00",
        "d": [1, 2.5],
    }


def damaged(tmp_path, name, content):
    """A finished store with one file of its first cell overwritten."""
    run_in(tmp_path, **FAST)
    path = sorted((tmp_path / "store").glob(f"cells/*/{name}"))[0]
    path.write_bytes(content)
    return path


def test_a_damaged_cell_is_named_and_made_anew_once_deleted(tmp_path):
    path = damaged(tmp_path, "cell.json", b'{"data": ')
    before = tables(tmp_path / "store")
    with pytest.raises(StoreError, match="is damaged") as found:
        Results.load(tmp_path / "store")
    assert str(path) in str(found.value)
    path.unlink()  # as the message says; the tables stay behind
    again = run(tmp_path / "bench.toml", tmp_path / "store")
    assert again.fresh == 1
    assert tables(tmp_path / "store") == before


@pytest.mark.parametrize("content", [b"PAR1 no more", b""])
def test_a_damaged_table_is_named(tmp_path, content):
    path = damaged(tmp_path, "ranks.parquet", content)
    results = Results.load(tmp_path / "store")
    with pytest.raises(StoreError, match="is missing or damaged") as found:
        [cell.ranked for cell in results.cells]
    assert str(path) in str(found.value)


def test_a_store_without_a_finished_benchmark(tmp_path, store):
    with pytest.raises(StoreError, match="holds no finished benchmark"):
        Results.load(store)
    write_json(store.folder / "bench.json", {"cells": []})
    with pytest.raises(StoreError, match="damaged"):
        Results.load(store)


def test_a_deleted_cell_is_said(tmp_path):
    import shutil

    run_in(tmp_path, **FAST)
    folder = sorted((tmp_path / "store" / "cells").iterdir())[0]
    shutil.rmtree(folder)
    with pytest.raises(StoreError, match=f"cell {folder.name} is missing"):
        Results.load(tmp_path / "store")


@pytest.mark.parametrize("content", ["[]", "{}", "3", '{"settings": {}}', '{"settings": []}'])
def test_a_trial_of_something_else_is_named(store, content):
    store.put_trial("s", 0, {"number": 0, "settings": {}, "value": 0.5})
    (path,) = (store.folder / "tune" / "s").glob("trial-*.json")
    path.write_text(content)
    with pytest.raises(StoreError, match=r"trial-000000.json is damaged \(it has no \w+\); delete"):
        store.trials("s")


def test_a_damaged_trial_is_named_and_runs_again_under_its_number(tmp_path):
    search = [{"name": "ItemKNN", "search": {"neighbours": {"low": 1, "high": 30}}}]
    run_in(tmp_path, model=search)
    path = next((tmp_path / "store").glob("tune/*/trial-000001.json"))
    before, manifest = json.loads(path.read_text()), tmp_path / "store" / "bench.json"
    kept = json.loads(manifest.read_text())["cells"]
    path.write_text("{")
    with pytest.raises(StoreError, match="is damaged") as found:
        run(bench(tmp_path, model=search), tmp_path / "store")
    assert str(path) in str(found.value)
    path.unlink()
    assert run(bench(tmp_path, model=search), tmp_path / "store").fresh == 1
    after = json.loads(path.read_text())
    assert [after[key] for key in ("number", "settings", "value")] == [
        before[key] for key in ("number", "settings", "value")
    ]
    assert json.loads(manifest.read_text())["cells"] == kept


def test_a_mark_swept_by_the_other_maker_of_a_store_is_no_error(tmp_path, monkeypatch):
    def swept(path, content):
        write_json(path, content)  # the other process, which then sweeps ours
        raise FileNotFoundError(path)

    monkeypatch.setattr("fullrank.experiment.store.write_json", swept)
    assert Store.open(tmp_path / "store", create=True).folder == tmp_path / "store"
