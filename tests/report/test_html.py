"""The report: complete, self-contained, and safe with any label."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from tests.report.stores import make_results, ranks_of

from fullrank.core.errors import SpecError, StoreError
from fullrank.core.ranked import TargetRanks
from fullrank.experiment.leaderboard import paired_tests
from fullrank.experiment.results import Results
from fullrank.report import render_report, summary_text, write_report, write_table
from fullrank.report._curves import cutoffs
from fullrank.report.board import mark_of
from fullrank.report.html import script_json

N = 40
NASTY = "a</script><b>|&_\"x'<img src=http://evil>"
BASE, GOOD = ranks_of(0.0, N, 1), ranks_of(0.8, N, 2)
TRIALS = [
    {
        "number": i,
        "settings": {"reg": float(i)},
        "value": value,
        "error": None if value is not None else "too large <b>",
        "resources": {"trial_seconds": 0.5},
    }
    for i, value in enumerate([0.1, None, 0.3])
]


class Page(HTMLParser):
    """Collects references, scripts, ids and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.specs: list[dict[str, Any]] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self._inside = found.get("type", tag) if tag in ("script", "style") else ""
        self.ids += [found["id"]] if "id" in found else []
        for name in ("src", "href", "xlink:href", "data", "action", "srcset"):
            self.references += [(tag, found[name])] if name in found else []

    def handle_data(self, data: str) -> None:
        if self._inside == "application/json":
            self.specs.append(json.loads(data))
        elif not self._inside:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two data sets, warm and cold users, seeds, a search, a nasty label."""
    return make_results(
        tmp_path_factory.mktemp("report") / "store",
        {"base": BASE, NASTY: [GOOD, ranks_of(0.8, N, 3)], "third": ranks_of(0.3, N, 4)},
        data=("one", "two <i>"),
        name="Title </title><b>",
        metrics=["ndcg@10", "recall@10", "meanrank"],
        cold=0.25,
        tune={"metric": "ndcg@10", "trials": 3},
        tuning={
            "third": {
                "key": "k",
                "trials": 3,
                "failed": 1,
                "best": 2,
                "value": 0.3,
                "seconds": 1.5,
            }
        },
        trials={"k": TRIALS},
        counts={"base": {"unranked_targets": 1234, "odd_count": 5}},
    )


@pytest.fixture(scope="module")
def html(results: Results) -> str:
    return render_report(results)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_nothing_comes_from_a_network(page: Page, html: str) -> None:
    assert [ref for _, ref in page.references if not ref.startswith("#")] == []
    assert "link" not in page.tags
    assert "img" not in page.tags
    assert "iframe" not in page.tags
    assert "default-src 'none'" in html
    css = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in css
    assert "@import" not in css


def test_contents_point_to_parts_that_exist(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    for _, ref in page.references:
        assert ref.removeprefix("#") in page.ids


def test_labels_are_text_everywhere(page: Page, html: str) -> None:
    assert page.text.count(NASTY) > 5
    assert "</script><b>" not in html
    assert "<img src=http" not in html
    assert "Title </title><b>" in page.text
    assert any(
        NASTY in json.dumps(spec["datasets"], ensure_ascii=False).replace('\\"', '"')
        for spec in page.specs
    )


def test_every_chart_is_valid_vega_lite(page: Page) -> None:
    assert len(page.specs) >= 2 * (3 * 3 + 3 * 3 + 2 + 2 + 1)
    kinds = {}
    for spec in page.specs:
        shape = {**spec, "datasets": {"rows": spec["datasets"]["rows"][:2]}}
        kinds[json.dumps(sorted(str(layer) for layer in spec.get("layer", [spec])))] = shape
    for spec in kinds.values():
        alt.Chart.from_dict(spec, validate=True)
        assert "http" not in json.dumps(spec).replace("http://evil", "")
        assert "url" not in spec.get("data", {})


def test_nothing_shows_nan(page: Page) -> None:
    assert "NaN" not in json.dumps(page.specs)
    measured = page.text[: page.text.index("Metrics and their conventions")]
    assert not re.search(r"\bnan\b", measured, re.IGNORECASE)


def test_what_a_reader_must_know_is_there(page: Page) -> None:
    text = " ".join(page.text.split())
    for part in (
        "CC BY 4.0",
        "Hand 2020 <i>",
        "https://example.org/data",
        "beef",
        "core = users = 5",
        "GlobalTime",
        "1 users (3 rows) without a history that models may use, and 2 items (4 rows) without a",
        "25 % of fitted rows later than the earliest held-out row",
        "test: 2 rows with the time of the cut",
        "as each model ranks them",
        "targets in the history are dropped",
        "expectation over the orders that equal scores leave open",
        "protocol-one",
        "NDCG@10 on validation queries only (warm users)",
        "3 trials",
        "too large <b>",
        "gain 2^grade - 1",
        "divided by R, not by min(R, k)",
        "1,234",
        "odd count",
        "openblas 0.3 Haswell",
        "fullrank 0.1.0, numpy 2.4.6",
        "2.00 GiB",
        "500 ms",
        "Warm users",
        "Cold users",
        "Across data sets",
    ):
        assert part in text, part


def test_reading_is_the_same_as_in_the_terminal(page: Page) -> None:
    assert "Over all users (40), " in page.text


def test_curves_agree_with_the_leaderboard(page: Page, results: Results) -> None:
    from fullrank.experiment.leaderboard import leaderboard

    wanted = next(
        row["value"]
        for row in leaderboard(results)
        if (row["data"], row["model"], row["users"], row["metric"], row["seed"])
        == ("one", NASTY, "all", "NDCG@10", None)
    )
    curve = next(s for s in page.specs if "k" in s["datasets"]["rows"][0])
    found = next(r for r in curve["datasets"]["rows"] if (r["model"], r["k"]) == (NASTY, 10))
    assert found["value"] == pytest.approx(wanted, rel=1e-4)
    assert found["low"] < found["value"] < found["high"]
    assert {r["k"] for r in curve["datasets"]["rows"]} == set(range(1, 101))


@pytest.mark.parametrize("models", [{"only": GOOD}, {"a": BASE, "b": BASE}])
def test_small_benchmarks(tmp_path: Path, models: dict[str, TargetRanks]) -> None:
    results = make_results(tmp_path / "s", models, resources={"fit_seconds": 1, "rank_seconds": 0})
    page = Page(render_report(results))
    assert "Across data sets" not in page.text
    assert ("nothing to compare" in page.text) == (len(models) == 1)
    assert "none: all settings are fixed" in page.text


def test_marks_of_the_page_are_those_of_the_tests(results: Results, html: str) -> None:
    marks = [mark_of(test) for test in paired_tests(results)]
    assert html.count('aria-label="better than the baseline"') == marks.count("▲") > 0
    assert html.count('aria-label="worse than the baseline"') == marks.count("▼")


def test_rating_metric_that_no_model_has(tmp_path: Path) -> None:
    results = make_results(tmp_path / "s", {"a": BASE, "b": GOOD}, metrics=["rmse"])
    assert "rating metrics need models that predict ratings" in summary_text(results)
    assert "rating metrics need models that predict ratings" in Page(render_report(results)).text


@pytest.mark.parametrize(("n", "length"), [(10, 100), (100_000, 100), (100_001, 28), (10**6, 7)])
def test_curves_are_thinned_for_very_many_queries(n: int, length: int) -> None:
    assert len(cutoffs(n)) == length


def test_several_folds(tmp_path: Path) -> None:
    results = make_results(tmp_path / "s", {"a": BASE, "b": [GOOD, BASE]}, folds=2)
    page = Page(render_report(results))
    text = " ".join(page.text.split())
    assert "Fold 1: Strategy" in text.replace("Strategy", " Strategy").replace("  ", " ")
    assert "train, fold 1" in text
    assert "80 queries" in text


def test_queries_without_targets(tmp_path: Path) -> None:
    empty = TargetRanks.of([[], [], []], n_candidates=[50] * 3)
    page = Page(render_report(make_results(tmp_path / "s", {"a": empty, "b": empty})))
    assert "–" in page.text
    assert "NaN" not in json.dumps(page.specs)


def test_rating_metrics(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "user_id": list(range(N)),
            "item_id": [0] * N,
            "predicted": [3.0] * N,
            "observed": [1.0, 5.0] * (N // 2),
        }
    )
    close = table.with_columns(predicted=pl.col("observed") - 0.5)
    results = make_results(
        tmp_path / "s",
        {"a": BASE, "b": GOOD},
        metrics=["rmse", "ndcg@10"],
        predictions={"a": table, "b": close},
    )
    page = Page(render_report(results))
    assert "b has the lowest RMSE, 0.5000" in page.text
    assert "loss per row, left is better" in json.dumps(page.specs)
    only = make_results(tmp_path / "t", {"a": BASE}, metrics=["mae"], predictions={"a": table})
    assert "MAE" in Page(render_report(only)).text


def test_store_path_and_results_give_the_same_file(tmp_path: Path) -> None:
    results = make_results(tmp_path / "store", {"a": BASE})
    one = write_report(tmp_path / "store", tmp_path / "one.html")
    two = write_report(results, str(tmp_path / "two.html"))
    assert one.read_bytes() == two.read_bytes()
    assert sorted(p.name for p in tmp_path.glob("*.html")) == ["one.html", "two.html"]
    assert not list(tmp_path.glob(".*"))


def test_no_store_is_an_error_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        write_report(tmp_path / "nothing", tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".md", ".tex", ".csv", ".json", ".txt"])
def test_tables_in_files(results: Results, tmp_path: Path, ending: str) -> None:
    text = write_table(results, tmp_path / f"t{ending}").read_text()
    assert "NDCG@10" in text
    assert "cold" in text


def test_unknown_ending(results: Results, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"ends in '\.xls'"):
        write_table(results, tmp_path / "t.xls")


def test_script_json_cannot_end_its_script() -> None:
    text = script_json({"x": "</script><!--\u2028&"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"x": "</script><!--\u2028&"}


def test_charts_are_drawn_without_network(html: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium on this machine: the report is not opened")
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    flags = [
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "virtual-time-budget=15000",
        "dump-dom",
    ]
    command = [browser, *(f"--{flag}" for flag in flags), f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    drawn = Page(done.stdout)
    assert len(re.findall(r'<svg[^>]*class="marks"', done.stdout)) == 2 * (3 + 3 + 2 + 2 + 1)
    assert "could not be drawn" not in drawn.text
    assert [ref for _, ref in drawn.references if re.match(r"(https?:)?//", ref)] == []
