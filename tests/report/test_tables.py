"""Tables in every format: escaping, digits, marks, and that nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.test_board import paired, row

from fullrank.core.errors import SpecError
from fullrank.report import FORMATS, leaderboard_table, long_table
from fullrank.report._grid import escape_markdown
from fullrank.report._latex import escape_latex

NASTY = 'A|B & C_d <script>alert("x")</script> 100% $x$ #1 {y} ~ ^ \\ [red]'
ROWS = [
    row(NASTY, 0.123456789, seed_spread=0.00251, seeds=3),
    row(NASTY, 0.5, seed=1),
    row("B", 0.1),
    row(NASTY, 612.34, "MeanRank"),
    row("B", None, "MeanRank"),
]
TESTS = [paired(0.0234, 0.0001, model=NASTY, baseline="B")]


def test_text() -> None:
    text = leaderboard_table(ROWS, TESTS)
    first, second = (line for line in text.splitlines() if line.startswith("A|B"))
    assert NASTY in first
    assert "0.1235*▲" in first
    assert [line.strip() for line in text.splitlines()[4:6]] == ["±0.0025", "[0.1135, 0.1335]"]
    assert "612.3" in second  # in a part of its own: both together are wider than a page
    assert "[612.3, 612.4]" in text
    values = [x.split()[1:] for x in text.splitlines() if x.startswith("B ")]
    assert values == [["0.1000"], ["–"]]
    assert "±: standard deviation between 3 seeds" in text
    assert "*: best value" in text
    assert "bold" not in text.lower()


def test_markdown() -> None:
    text = leaderboard_table(ROWS, TESTS, format="markdown")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4  # three columns, whatever the labels hold
    assert "<script" not in text
    assert "**0.1235**▲" in text
    assert "Bold: best value" in text
    assert r"\*:" not in text
    assert r"A\|B &amp; C\_d &lt;script&gt;" in text


def test_latex() -> None:
    text = leaderboard_table(ROWS, TESTS, format="latex")
    assert r"\toprule" in text
    assert r"\textbf{0.1235}$^{\uparrow}$" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    for line in body.splitlines()[1:]:
        assert len(re.findall(r"(?<!\\)&", line)) == 2
    assert r"A\textbar{}B \& C\_d \textless{}script\textgreater{}" in text
    assert r"100\% \$x\$ \#1 \{y\}" in text


SEVEN = [f"NDCG@{k}" for k in range(10, 17)]


@pytest.mark.parametrize("n_models", [1, 3])
def test_text_keeps_to_a_page(n_models: int) -> None:
    rows = [row(f"model {i}", 0.1 + i, name) for i in range(n_models) for name in SEVEN]
    lines = leaderboard_table(rows).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(any(name in line for line in lines) for name in SEVEN)


def test_latex_puts_intervals_below_and_splits_what_is_wide() -> None:
    rows = [row(model, 0.5, name) for model in "AB" for name in SEVEN]
    text = leaderboard_table(rows, format="latex")
    assert text.startswith("% needs \\usepackage{booktabs}\n")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:d-all-1", "tab:d-all-2"]
    assert re.findall(r"part \d of \d", text) == ["part 1 of 2", "part 2 of 2"]
    assert r"\textbf{0.5000} \\ {\scriptsize [0.4900, 0.5100]}" in text
    assert text.count("Bold: best value") == 1
    (one,) = re.findall(r"\\label\{(.*)\}", leaderboard_table(rows[:5], format="latex"))
    assert one == "tab:d-all"


def test_a_spread_that_rounds_to_nothing_takes_no_place() -> None:
    text = leaderboard_table([row("A", 0.5, seed_spread=0.00004, seeds=3)])
    assert "±0.0000" not in text


def test_one_user_is_no_users() -> None:
    text = leaderboard_table([row("A", 0.5, n_users=1, n_queries=1)])
    assert "(1 user, 1 query)" in text


def test_csv_has_every_digit_and_reads_back() -> None:
    text = leaderboard_table(ROWS, TESTS, format="csv")
    found = list(csv.DictReader(io.StringIO(text)))
    assert [line["model"] for line in found] == [NASTY, "B"]
    assert float(found[0]["NDCG@10"]) == 0.123456789
    assert float(found[0]["NDCG@10 p_adjusted"]) == 0.0001
    assert found[0]["NDCG@10 best"] == "1"
    assert found[1]["MeanRank"] == ""


def test_json_has_rows_and_tests() -> None:
    found = json.loads(leaderboard_table(ROWS, TESTS, format="json"))
    assert [r["value"] for r in found["leaderboard"]] == [0.123456789, 0.1, 612.34, None]
    assert found["tests"][0]["p_adjusted"] == 0.0001


def test_nan_becomes_null_in_json() -> None:
    found = json.loads(long_table([row("A", float("nan"))], format="json"))
    assert found["rows"][0]["value"] is None
    assert "nan" not in long_table([row("A", float("nan"))], format="csv").lower()


def test_long_table_has_every_row() -> None:
    for name in ("text", "markdown"):
        lines = long_table(ROWS, format=name).splitlines()
        assert sum("NDCG@10" in line for line in lines) == 3
    assert len(list(csv.DictReader(io.StringIO(long_table(ROWS))))) == len(ROWS)


def test_one_table_per_data_set() -> None:
    rows = [row("A", 0.5), row("A", 0.25, data="e")]
    text = leaderboard_table(rows)
    assert text.index("d, all users") < text.index("e, all users")
    assert len(list(csv.DictReader(io.StringIO(leaderboard_table(rows, format="csv"))))) == 2


def test_a_single_model_has_neither_marks_nor_best() -> None:
    for name in FORMATS[:3]:
        text = leaderboard_table([row("A", 0.5)], format=name)
        assert "▲" not in text
        assert "arrow" not in text
        assert "0.5000*" not in text
        assert "**0.5000**" not in text


def test_unknown_formats_and_users_are_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'latex'"):
        leaderboard_table(ROWS, format="latexx")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="no leaderboard for users = 'warm'"):
        leaderboard_table(ROWS, users="warm")


@given(st.text())
def test_labels_never_break_a_table(label: str) -> None:
    assert "\n" not in escape_latex(label)
    text = escape_markdown(label)
    assert "<" not in text
    assert re.search(r"(?<!\\)(?:\\\\)*\|", text) is None
    lines = leaderboard_table([row(label, 0.5)], format="markdown").splitlines()
    assert sum(line.startswith("| ") for line in lines) == 3
    assert (
        re.search(r"(?<!\\)[&%$#_{}]", re.sub(r"\\[a-z]+\{\}|\$[^$]*\$", "", escape_latex(label)))
        is None
    )


@given(st.text(max_size=5))  # longer ones may stack the cells
def test_terminal_tables_take_any_label(label: str) -> None:
    text = leaderboard_table([row(label, 0.5, data=label)])
    assert "\x1b" not in text
    assert text.count("\n") == leaderboard_table([row("A", 0.5, data="A")]).count("\n")


def test_line_breaks_in_labels_are_shown() -> None:
    for name in ("text", "markdown"):
        assert leaderboard_table([row("A\nB", 0.5)], format=name).count("nB") == 1
    assert "A\\nB" in leaderboard_table([row("A\nB", 0.5)])
