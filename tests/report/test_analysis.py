"""An analysis as text and as a page: numbers rounded, words that read them, charts that draw."""

import json
import re

import pytest
import vl_convert
from tests.experiment.analyse.stores import make_store, trial

import fullrank as fr
from fullrank.report import analysis_text, write_analysis
from fullrank.report.analysis import SHOWN, _parts, render_analysis
from fullrank.report.html import VL_VERSION

SETTINGS = {"m": {"objective": "bpr"}, "h": {"objective": "hinge"}, "p": {}}
CLASSES = {"m": "MF", "h": "MF", "p": "Popularity"}
TRIALS = [trial(0, mrr=0.5, hit=0.6), trial(1, mrr=0.4, hit=0.7)]
ONE = {"m": [2, 4, 1], "h": [1, 4, 1], "p": [3, 5, 9]}
TWO = {"m": [2, 2, 2], "h": [3, 3, 2], "p": [1, 1, 1]}


def stores(folder, label="p"):
    named = [{label if k == "p" else k: v for k, v in table.items()}
             for table in (SETTINGS, CLASSES, ONE, TWO)]  # fmt: skip
    settings, classes, one, two = named
    options = {"settings": settings, "classes": classes, "trials": {"m": TRIALS, "h": TRIALS}}
    return [
        make_store(folder / "one", one, **options),
        make_store(folder / "two", two, split={"strategy": "LeaveLast"}, **options),
    ]


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return fr.analyse(stores(tmp_path_factory.mktemp("stores")), resamples=100)


def test_words_read_the_tables(analysis):
    text = " ".join(analysis_text(analysis).split())
    for sentence in (
        "2 conditions: d, GlobalTime; d, LeaveLast. 3 models: m, h, p.",
        "Settings that are best by MRR@10 are also best by HitRate@2 in 0 % of 4 searches",
        "MRR@10 and HitRate@2 order models: tau-b",
        "Where split alone changes (1 pair), the orders of models by MRR@10 have tau-b −1.00",
        "; the best model by MRR@10 is another in 1 of them.",
        "Over all, the best model by MRR@10 is another in 1 of 1 pair of conditions.",
        "objective hinge against bpr: MRR@10",
        "over 2 contexts, users paired:",
        "Of the variance of MRR@10 over 6 scores, the largest shares are:",
        "d, GlobalTime: fits take from 0.5 s",
    ):
        assert sentence.replace("0.5 s", "500 ms") in text


def test_numbers_of_the_text_are_those_of_the_analysis(analysis):
    effect = next(e for e in analysis.effects if (e.factor, e.metric) == ("objective", "MRR@10"))
    bpr = (1 / 2 + 1 / 4 + 1) / 3 + 1 / 2
    hinge = (1 + 1 / 4 + 1) / 3 + (1 / 3 + 1 / 3 + 1 / 2) / 3
    assert effect.difference == pytest.approx((hinge - bpr) / 2)
    assert f"{abs(effect.difference):.4f}" in analysis_text(analysis)


def test_lines_keep_to_the_width(analysis):
    assert max(map(len, analysis_text(analysis, width=100).splitlines())) <= 100


def test_many_pairs_are_cut_in_text_alone(tmp_path):
    folders = [
        make_store(tmp_path / str(j), ONE, settings=SETTINGS, classes=CLASSES, data=f"d{j}")
        for j in range(6)
    ]
    found = fr.analyse(folders, only=["stability"], resamples=20)
    text = analysis_text(found, width=160)
    assert f"The {SHOWN} lowest of 15 pairs; --json and -o have all." in text
    page = render_analysis(found)
    assert page.count("d4 | d5") == 2  # both metrics, all pairs


def test_the_page_is_whole_and_loads_nothing(analysis, tmp_path):
    path = write_analysis(analysis, tmp_path / "page.html")
    page = path.read_text("utf-8")
    body = page.partition("<footer>")[0]  # behind it stands the charts' library
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", body)
    assert "://" not in body
    for part in ("Co-optimality of metrics", "Correlation of metrics", "Stability of ranks",
                 "Effects of factors", "Cost", "Conditions"):  # fmt: skip
        assert f">{part}</" in page
    assert "GlobalTime(test=0.2)" in page


def test_labels_can_not_break_the_page(tmp_path):
    found = fr.analyse(stores(tmp_path, label="<b>&p"), resamples=20)
    page = render_analysis(found)
    assert "<b>&p" not in page
    assert "&lt;b&gt;&amp;p" in page


def test_every_chart_draws(analysis):
    figures = [figure for part in _parts(analysis, charts=True) for figure in part.figures]
    # 3 matrices, 3 matrices, 2 metrics, 2 + 2 metrics, 2 conditions.
    assert len(figures) == 3 + 3 + 2 + 4 + 2
    for figure in figures:
        assert json.dumps(figure.spec, allow_nan=False)
        assert "http" not in json.dumps(figure.spec)
        svg = vl_convert.vegalite_to_svg(figure.spec, vl_version=VL_VERSION)
        assert svg.startswith("<svg")
        assert figure.spec["datasets"]["rows"]


def test_text_makes_no_charts(analysis):
    assert [part.figures for part in _parts(analysis)] == [[]] * 5


def test_what_there_is_nothing_of_is_said(tmp_path):
    folder = make_store(tmp_path / "s", ONE, classes={"m": "MF", "h": "FM", "p": "Popularity"})
    text = " ".join(analysis_text(fr.analyse(folder, only=["stability", "effects"])).split())
    assert "No two conditions share two models" in text
    assert "No factor changes while all others are equal" in text
    assert "nan" not in text
