"""The table of quality says what its numbers say, and keeps the rows of other runs."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.quality import ENDS, HEAD, Case, lines_of, written

from fullrank.models import EASE

CASE = Case("EASE", "other", "quality:none", (), EASE, {}, seeds=2)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_errors_are_of_users_and_of_seeds():
    # per query [seeds, queries, metrics]: the second metric is the same everywhere
    ours = np.array([[[0.5, 1.0], [0.7, 1.0]], [[0.7, 1.0], [0.9, 1.0]]])
    theirs = np.array([[[0.1, 1.0], [0.5, 1.0]], [[0.1, 1.0], [0.5, 1.0]]])
    first, second = (cells(line) for line in lines_of(CASE, "toy", ours, theirs))
    # differences of users 0.5 and 0.3: variance 0.02, of the mean 0.01; ours 0.6 and 0.8 by seeds:
    # variance 0.02, of the mean 0.01; theirs none
    assert first[4:8] == ["0.7000", "0.3000", "+0.4000", f"{np.sqrt(0.02):.4f}"]
    assert first[8] == "better"
    assert second[4:] == ["1.0000", "1.0000", "+0.0000", "0.0000", "within two"]


@pytest.mark.parametrize(("gap", "said"), [(0.0, "within two"), (-0.5, "**worse**")])
def test_verdicts(gap, said):
    rng = np.random.default_rng(0)
    theirs = rng.random((2, 400, 2))
    lines = lines_of(CASE, "toy", theirs + gap, theirs)
    assert all(cells(line)[8] == said for line in lines)


def test_rows_of_the_same_case_are_replaced_and_others_kept():
    page = f"before\n{ENDS[0]}\n{ENDS[1]}\nafter\n"
    one, other = "| a | EASE | x | ndcg@10 | 1 |", "| a | SLIM | x | ndcg@10 | 2 |"
    page = written(written(page, [one]), [other])
    again = written(page, [one.replace("1 |", "3 |")])
    assert page.splitlines()[2] == HEAD
    assert [x for x in again.splitlines() if x.startswith("| a")] == [
        other,
        "| a | EASE | x | ndcg@10 | 3 |",
    ]
    assert again.startswith("before\n")
    assert again.endswith("\nafter\n")
