"""The chart of what each size bought: its marks and labels, and files without network."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import altair as alt
import pytest
from tests.estimators.worlds import as_ranks

from fullrank.cli._run import run
from fullrank.core.errors import SpecError
from fullrank.estimators import efficiency, write_ranks
from fullrank.report import efficiency_figure, write_efficiency

# 100 targets: 60 resolved at 10, none at 20, 30 at 40, 6 at 80, 4 never.
RANKS = [2] * 60 + [2] * 30 + [3] * 6 + [1] * 4
SIZES = [10] * 60 + [40] * 30 + [80] * 10


@pytest.fixture
def sample():
    return as_ranks(RANKS, SIZES, 330)


def test_specification_is_valid_and_holds_the_stages(sample):
    figure = efficiency_figure(efficiency(sample))
    (rows,) = figure.spec["datasets"].values()
    assert [row["size"] for row in rows] == [10, 20, 40, 80]
    assert [row["cost"] for row in rows] == pytest.approx(
        [10 * 100 / 60, None, 20 * 40 / 30, 40 * 10 / 6]
    )
    assert [row["within"] for row in rows] == [True, True, True, False]
    assert "Recommended n_max: 40" in figure.caption
    assert "Nobody was resolved at 20" in figure.caption
    alt.Chart.from_dict(figure.spec)  # validates
    grid = [[cell.text for cell in row] for row in figure.grid.rows]
    assert grid[1] == ["20", "40", "0", "–"]


def test_svg_has_a_point_a_stage_and_its_labels(sample, tmp_path):
    path = write_efficiency(efficiency(sample), tmp_path / "chart.svg")
    text = path.read_text()
    root = ElementTree.fromstring(text)
    said = [x.text for x in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"10", "20", "40", "80", "60 of 100", "30 of 40", "6 of 10", "n_max 40"} <= set(said)
    assert "0 of 40" not in said  # no point there: it cost without end
    assert "size of the sample (n)" in said
    points = re.search(r'mark-symbol role-mark layer_1_marks".*?</g>', text, re.DOTALL)
    assert points is not None
    assert points[0].count("<path") == 3
    rule = re.search(r"mark-rule role-mark.*?</g>", text, re.DOTALL)
    assert rule is not None
    assert rule[0].count("<line") == 1
    assert set(re.findall(r"https?://[^\"]*", text)) == {
        "http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg",
    }  # fmt: skip


def test_page_has_the_chart_and_the_numbers_and_needs_nothing(sample, tmp_path):
    text = write_efficiency(efficiency(sample), tmp_path / "page.html").read_text()
    assert "<svg" in text
    assert "<script" not in text
    assert "<td>26.7</td>" in text
    assert not re.findall(r'(?:src|href)="http', text)


def test_other_endings_are_refused(sample, tmp_path):
    with pytest.raises(SpecError, match=r"no chart ends in '\.svgg'; did you mean '\.svg'"):
        write_efficiency(efficiency(sample), tmp_path / "chart.svgg")
    assert not list(tmp_path.iterdir())


def test_command_line(sample, tmp_path, capsys):
    write_ranks(sample, tmp_path / "ranks.csv")
    chart = tmp_path / "chart.svg"
    words = ["estimate", str(tmp_path / "ranks.csv"), "--efficiency"]
    assert run([*words, "--save", str(chart)]) == 0
    out = capsys.readouterr().out
    assert "recommended n_max: 40" in out
    assert out.endswith(f"chart: {chart}\n")
    assert "sampled" not in out
    assert "n_max 40" in chart.read_text()
    assert run([*words, "-m", "recall@5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["efficiency"] == efficiency(sample).to_dict()
    assert set(found["metrics"]) == {"Recall@5"}
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == {}
    assert run([*words, "-m", "recall@5"]) == 0
    assert "why they differ" in capsys.readouterr().out
