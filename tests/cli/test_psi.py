"""``fullrank psi``: text, JSON and a page of one small grid, and what it refuses."""

import re

import pytest
import vl_convert
from tests.experiment.psi.worlds import FUSSY, MODELS, psi_file, scenario

from fullrank.experiment.psi import psi
from fullrank.report import psi_text
from fullrank.report._figure import Looks
from fullrank.report._psi_figures import psi_figures
from fullrank.report.html import VL_VERSION


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A Psi file, its store, and what was found."""
    folder = tmp_path_factory.mktemp("psi")
    seeds, fixed = {"sampler": [1, 2, 3]}, [MODELS[0], MODELS[2], {"name": "PureSVD"}]
    path = psi_file(
        folder,
        keep=[0.6, 0.3, 0.02],
        seeds=seeds,
        baseline="RandomInteractions",
        scenario=[scenario(model=fixed, tune=None)],
    )
    return path, folder / "store", psi(path, folder / "store")


def test_text_and_a_page(cli, ready, tmp_path):
    path, store, found = ready
    page = tmp_path / "pages" / "psi.html"
    said = cli("psi", path, "--store", store, "--report", page)
    assert said.code == 0
    assert said.err == f"fullrank: nothing to do: all trials and cells are in {store}\n"
    flat = " ".join(said.out.split())
    for text in (
        "lambda = 4 of 6 terms", "the mean of 3 repeats (3 draws of the samplers)",
        "12 agreements could not be had, which takes 2 terms from all samplers",
        "Tau by size", "Samplers compared", "RandomUsers − RandomInteractions",
        "p and interval: t over users and 3 draws of one split", "full data – ",
        "Missing terms", "(1) Random", "a usable sample has at least 50 rows",
        f"store: {store} report: {page}",
    ):  # fmt: skip
        assert text in flat
    html = page.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert not re.search(r"(src|href)=.http", html)
    for heading in ("Tau by size", "Time and tau", "Pairs of algorithms", "Samples", "Settings"):
        assert heading in html
    assert psi_text(found, width=120) in said.out


def test_charts_draw(ready):
    _, _, found = ready
    figures = psi_figures(found, Looks(found.terms.samplers, ""))
    assert [figure.title for figure in figures] == ["Tau by size", "Time and tau"]
    for figure in figures:
        svg = vl_convert.vegalite_to_svg(figure.spec, vl_version=VL_VERSION)
        assert "RandomUsers" in svg or svg.count("<path") > 4


def test_json(cli, ready):
    path, store, _ = ready
    found = cli("psi", path, "--store", store, "--json").json()
    assert (found["lambda"], found["asked"], found["repeats_of"]) == (4, 6, "sampler")
    assert [row["sampler"] for row in found["psi"]] == ["RandomInteractions", "RandomUsers"]
    assert found["psi"][0]["own_terms"] == 4
    assert set(found["psi"][0]["by_size"]) == {"0.6", "0.3"}
    terms = [t["tau"] for t in found["terms"] if t["sampler"] == "RandomUsers"]
    assert found["psi"][1]["psi"]["tau"]["value"] == pytest.approx(sum(terms) / len(terms))
    assert len(found["missing"]) == 12
    (only,) = found["comparisons"]
    assert (only["first"], only["second"]) == ("RandomUsers", "RandomInteractions")
    assert found["fresh"] == 0
    costs = {(row["sampler"], row["keep"]): row["share"] for row in found["costs"]}
    assert costs["", 1.0] == 1.0
    assert costs["RandomUsers", 0.02] is None
    assert {"cold_users", "realised", "fingerprint"} <= set(found["samples"][0])


def test_failures_that_are_kept_are_said(cli, tmp_path):
    few = scenario(model=[MODELS[0], FUSSY], tune=None, metrics=["ndcg@10"])
    path = psi_file(tmp_path, keep=[0.3], sampler=SAMPLER, scenario=[few])
    said = cli("psi", path, "--store", tmp_path / "store", "--json")
    assert said.code == 0
    assert said.err.startswith("fullrank: 1 fits or searches failed (see missing terms)")
    (kept,) = (tmp_path / "store" / "failures").iterdir()
    assert str(kept.parent) in said.err
    assert "rows are too few" in said.json()["missing"][0]["reason"]


SAMPLER = [{"name": "RandomUsers"}]
SEARCH = scenario(split={"strategy": "RandomRows", "seed": 3})
REFIT = scenario(tune={"metric": "ndcg@10", "trials": 2, "refit": "train+valid"})


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"kep": [0.1]}, r"line \d+: ", "unknown key 'kep'; did you mean 'keep'"),
        ({"sampler": [{"name": "RandomUsers", "setings": {}}]}, r"line \d+: ", "'settings'"),
        ({"scenario": [scenario(metric=["auc"])]}, r"line \d+: ", "did you mean 'metrics'"),
        ({"refit": "train"}, r"line \d+: ", "refit in tune = { } under [[scenario]]"),
        ({"keep": [0.5, 1.0]}, r"line 1: keep\[1\]: ", "must be less than 1, got 1.0"),
        ({"keep": [0.0]}, r"line 1: keep\[0\]: ", "must be greater than 0, got 0.0"),
        ({"keep": [10]}, r"line 1: keep\[0\]: ", "must be less than 1, got 10"),
        ({"keep": [0.5, 0.5]}, r"line 1: ", "share '0.5' is used twice"),
        ({"keep": None}, "", "the key 'keep' is missing; add a line keep = … above the first"),
        ({"scenario": None}, "", "the key 'scenario' is missing; add a table [[scenario]]"),
        ({"data": [{"name": "x"}]}, r"line \d+: data: ", "write [data] with one bracket"),
        ({"sampler": {"name": "x"}}, r"line \d+: ", "write [[sampler]] with two brackets"),
        ({"sampler": [{"name": "RandomUser"}]}, r"line \d+: ", "did you mean 'RandomUsers'"),
        ({"sampler": [{"name": "SVPCF(unit=row)"}]}, r"line \d+: ", "unit must be"),
        ({"sampler": SAMPLER * 2}, r"line \d+: ", "give one of them a label of its own"),
        ({"baseline": "RandomUser"}, r"line \d+: ", "did you mean 'RandomUsers'"),
        ({"size": "faithful", "sampler": [{"name": "KCore"}]}, r"line \d+: ", "published code"),
        ({"scenario": [scenario(metrics=["rmse"])]}, r"line \d+: ", "a model that predicts"),
        ({"scenario": [scenario(metrics=["ndgc@5"])]}, r"line \d+: ", "did you mean 'ndcg'"),
        ({"scenario": [scenario(model=MODELS[:1])]}, r"line \d+: ", "at least two, not 1"),
        ({"scenario": [SEARCH]}, r"line \d+: ", "seed stands in [seeds]"),
        ({"scenario": [REFIT]}, r"line \d+: ", "training rows alone"),
        ({"seeds": {"training": [1, 2]}}, r"line \d+: ", "no model here draws random numbers"),
        ({"scenario": [scenario(split={"strategy": "KFold", "k": 3, "valid": 0.2})]},
         r"line \d+: ", "gives 3 folds"),
        ({"seeds": {"split": [1, 2]}, "scenario": [scenario(split={"strategy": "LeaveLast"})]},
         r"line \d+: ", "the split draws nothing (LeaveLast)"),
        ({"data": {"name": "x", "path": "absent.csv"}}, r"line \d+: ", "absent.csv"),
    ],
)  # fmt: skip
def test_what_is_refused(cli, tmp_path, changes, place, message):
    path = psi_file(tmp_path, **changes)
    said = cli("psi", path, "--store", tmp_path / "store")
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert re.match(rf"fullrank: .*psi\.toml {place}" if place else "fullrank: ", said.err), (
        said.err
    )
    assert message in said.err
    assert not (tmp_path / "store").exists()


def test_what_the_data_lack_is_said_before_any_work(cli, tmp_path):
    timed = psi_file(tmp_path, without=["timestamp"], sampler=[{"name": "Temporal"}])
    said = cli("psi", timed, "--store", tmp_path / "store")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert re.search(r"psi\.toml line \d+: the strategy Temporal .* have no time column", said.err)
    models = [{"name": "BiasOnly"}, {"name": "BiasOnly", "label": "b"}]
    rated = psi_file(
        tmp_path, without=["rating"], scenario=[scenario(metrics=["mae"], tune=None, model=models)]
    )
    said = cli("psi", rated, "--store", tmp_path / "store")
    assert "need rows with values" in said.err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.toml"], "there is no Psi file absent.toml"),
        (["."], "name the Psi file in it"),
        (["psi.toml", "--report", "x.pdf"], "Psi is written as one HTML file"),
    ],
)
def test_bad_usage(cli, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    said = cli("psi", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert message in said.err
