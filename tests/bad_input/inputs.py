"""Write the folder of inputs: the files beside this one, and those that are no text."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path

import polars as pl

from fullrank.experiment.evaluate import evaluate
from fullrank.experiment.run import run

HERE = Path(__file__).parent


def write_inputs(folder: Path) -> None:
    """Write every input, good and bad, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in ("good", "files"):
        shutil.copytree(HERE / source, folder, dirs_exist_ok=True)
    log = (folder / "log.csv").read_bytes()
    for name, content in {**_archives(log), **_tables()}.items():
        (folder / name).write_bytes(content)
    (folder / "full").mkdir()
    (folder / "full" / "notes.txt").write_text("not ours\n")
    for name in ("nothing", "folder.html"):
        (folder / name).mkdir()
    _stores(folder)
    _evaluations(folder)


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _zip(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def _archives(log: bytes) -> dict[str, bytes]:
    return {
        "half.zip": _half(_zip(log=log)),
        "two_tables.zip": _zip(a=log, b=log),
        "no_table.zip": _zip(),
        "sheet.xlsx": _zip(**{"[Content_Types].xml": b"<x/>"}),
        "half.csv.gz": _half(gzip.compress(log, mtime=0)),
        "log.csv.bz2": b"BZh91AY&SY" + b"\0" * 20,
        "model.pkl": b"\x80\x04\x95\x00",
    }


def _parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def _tables() -> dict[str, bytes]:
    whole = _parquet(user_id=list(range(500)), item_id=list(range(500)))
    return {
        "half.parquet": _half(whole),
        "list_ids.parquet": _parquet(user_id=[1, 2], item_id=[[1, 2], [3]]),
        "float_ids.parquet": _parquet(user_id=[1, 2], item_id=[1.0, 2.5]),
        "missing_id.parquet": _parquet(user_id=[1, 2, 3], item_id=[1, None, 3]),
        "plain.parquet": whole,
    }


def _stores(folder: Path) -> None:
    """A store, and copies of it that are damaged."""
    whole = folder / "store"
    run(folder / "bench.toml", whole)
    other = folder / "other_store"
    (folder / "other.toml").write_text(
        (folder / "bench.toml").read_text().replace("test = 0.2", "test = 0.3")
    )
    run(folder / "other.toml", other)
    first = sorted((whole / "cells").iterdir())[0].relative_to(whole)
    for name, file in {
        "store_cell_cut": first / "cell.json",
        "store_ranks_cut": first / "ranks.parquet",
        "store_queries_cut": first / "queries.parquet",
        "store_manifest_cut": Path("bench.json"),
        "store_mark_cut": Path("store.json"),
    }.items():
        damaged = folder / name
        shutil.copytree(whole, damaged)
        (damaged / file).write_bytes(_half((damaged / file).read_bytes()))
    for name, part in {"store_cell_gone": first, "store_unfinished": Path("bench.json")}.items():
        shutil.copytree(whole, folder / name)
        gone = folder / name / part
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    manifest = json.loads((whole / "bench.json").read_text())
    newer = {**manifest, "spec": {**manifest["spec"], "engine": "quantum"}}
    for name, file, content in (
        ("store_newer", Path("store.json"), {"format": 99}),
        ("store_list", Path("store.json"), [1]),
        ("store_manifest_bare", Path("bench.json"), {}),
        ("store_manifest_newer", Path("bench.json"), newer),
        ("store_one_model", Path("bench.json"), {**manifest, "cells": manifest["cells"][:1]}),
        ("store_cell_bare", first / "cell.json", {}),
    ):
        shutil.copytree(whole, folder / name)
        (folder / name / file).write_text(json.dumps(content))
    ranks = pl.read_parquet(whole / first / "ranks.parquet")
    for name, table in {
        "store_ranks_other": ranks[:-3],
        "store_ranks_bare": ranks[["best"]],
    }.items():
        shutil.copytree(whole, folder / name)
        table.write_parquet(folder / name / first / "ranks.parquet")


def _evaluations(folder: Path) -> None:
    """Saved evaluations of one system against two truths."""
    recs, truth = folder / "recs.csv", pl.read_csv(folder / "truth.csv")
    evaluate(recs, truth, ["ndcg@3"]).save(folder / "evaluation.parquet")
    evaluate(recs, truth[:5], ["ndcg@3"]).save(folder / "other_evaluation.parquet")
