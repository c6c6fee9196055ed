"""``run``, ``demo``, ``report`` and ``schema``."""

import json
import shutil
import tomllib
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from tests.experiment.worlds import ROOT, bench, content

import fullrank.cli.bench as commands

ROW = {"data", "model", "seed", "users", "metric", "value", "low", "high", "n_queries"}
MODELS = [
    {"name": "Popularity"},
    {"name": "Random"},
    {"name": "EASE", "search": {"reg": {"low": 0.1, "high": 100.0, "log": True}}},
]


@pytest.fixture
def ran(tmp_path, cli):
    path = bench(tmp_path, model=MODELS)
    said = cli("run", path, "--store", tmp_path / "store", "--json")
    assert said.code == 0, said.err
    return tmp_path / "store", said


def test_run_gives_the_shape_of_the_contract(ran):
    _, said = ran
    found = said.json()
    assert set(found) >= {"leaderboard", "tests", "store", "provenance", "protocol", "settings"}
    assert all(set(row) >= ROW for row in found["leaderboard"])
    assert {row["users"] for row in found["leaderboard"]} == {"all", "warm", "cold"}
    assert {row["metric"] for row in found["leaderboard"]} == {"NDCG@10", "Recall@5", "MRR@10"}
    assert {row["seed"] for row in found["leaderboard"] if row["model"] == "Random"} == {None, 1, 2}
    assert {row["seed"] for row in found["leaderboard"] if row["model"] == "EASE"} == {None}
    assert {(t["model"], t["baseline"]) for t in found["tests"]} == {
        ("Random", "Popularity"),
        ("EASE", "Popularity"),
    }
    assert (found["cells"], found["fresh"]) == (4, 4 + 4)
    ease = [one for one in found["settings"] if one["model"] == "EASE"]
    assert len(ease) == 1
    assert ease[0]["tuning"]["trials"] == 4
    assert said.err == ""


def test_run_prints_the_table_and_where_the_store_is(tmp_path, cli):
    path = bench(tmp_path, model=MODELS)
    said = cli("run", path)
    assert said.code == 0
    for text in ("Popularity", "Random", "EASE", "NDCG@10", "warm", "cold", "Holm"):
        assert text in said.out
    assert f"store: {tmp_path / 'runs' / 'bench'}" in said.out
    again = cli("run", path)
    assert again.err == (
        f"fullrank: nothing to do: all 4 cells are in {tmp_path / 'runs' / 'bench'}\n"
    )
    assert again.out == said.out


@pytest.mark.parametrize("ending", ["html", "txt", "md", "tex", "csv", "json"])
def test_reports_in_every_format(ran, cli, tmp_path, ending):
    store, _ = ran
    out = tmp_path / "new" / f"report.{ending}"
    said = cli("report", store, "-o", out)
    assert said.code == 0, said.err
    assert said.out == f"{out}\n"
    text = out.read_text()
    assert "EASE" in text
    assert "NDCG@10" in text
    if ending != "html":  # whose scripts speak of NaN
        assert "nan" not in text.lower()
    else:
        assert "<script src=" not in text
        assert '<link rel="stylesheet" href=' not in text
        assert "http://" not in text.replace("http://www.w3.org", "")
    if ending == "json":
        assert json.loads(text)["leaderboard"]
    if ending == "csv":
        assert set(pl.read_csv(out).columns) >= ROW


def test_report_as_json_says_where(ran, cli, tmp_path):
    store, run_said = ran
    found = cli("report", store, "-o", tmp_path / "r.md", "--json").json()
    assert found["report"] == str(tmp_path / "r.md")
    assert found["leaderboard"] == run_said.json()["leaderboard"]
    assert found["tests"] == run_said.json()["tests"]


def test_report_refuses_what_it_can_not_write(ran, cli, tmp_path):
    store, _ = ran
    said = cli("report", store, "-o", tmp_path / "report.docx")
    assert said.code == 2
    assert ".html" in said.err
    assert not (tmp_path / "report.docx").exists()
    (tmp_path / "empty").mkdir()
    said = cli("report", tmp_path / "empty")
    assert said.code == 2
    assert "no store" in said.err


def test_report_of_a_damaged_store_names_the_file(ran, cli, tmp_path):
    store, _ = ran
    table = sorted(store.glob("cells/*/ranks.parquet"))[0]
    table.write_bytes(table.read_bytes()[:50])
    said = cli("report", store, "-o", tmp_path / "r.html")
    assert said.code == 2
    assert str(table) in said.err
    shutil.rmtree(table.parent)
    again = cli("run", tmp_path / "bench.toml", "--store", store, "--json")
    assert again.json()["fresh"] == 1
    assert cli("report", store, "-o", tmp_path / "r.html").code == 0


def test_the_demo_on_a_smaller_benchmark(tmp_path, cli, monkeypatch):
    """The demo itself takes 20 s and more; what it does around the run is tested on a small one."""
    monkeypatch.setattr(commands, "DEMO", bench(tmp_path, model=MODELS))
    said = cli("demo", "-o", tmp_path / "demo")
    assert said.code == 0, said.err
    assert f"report: {tmp_path / 'demo' / 'report.html'}" in said.out
    assert "4 trials" in said.out
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    found = cli("demo", "-o", tmp_path / "demo", "--json")
    assert found.json()["report"] == str(tmp_path / "demo" / "report.html")
    assert "nothing to do" in found.err


def files():
    return [*sorted((ROOT / "examples").glob("*.toml")), commands.DEMO]


@pytest.mark.parametrize("path", files(), ids=lambda path: Path(path).name)
def test_the_schema_accepts_the_files_that_we_ship(cli, path):
    schema = cli("schema").json()
    assert cli("schema", "--json").json() == schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(path.read_text()), schema)


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": "ndcg@10"},
        {"levle": 0.9},
        {"tune": {"metric": "ndcg@10", "trials": 0}},
        {"ranking": {"cold_users": "hide"}},
        {"model": []},
        {"model": [{"label": "x"}]},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(cli, changes):
    schema = cli("schema").json()
    jsonschema.validate(content(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content(**changes), schema)


def test_the_demo_has_at_least_six_models_and_is_small():
    found = tomllib.loads(commands.DEMO.read_text())
    assert len(found["model"]) >= 6
    assert found["tune"]["trials"] <= 5
