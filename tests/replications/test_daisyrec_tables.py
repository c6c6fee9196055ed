"""Tables of the DaisyRec study."""

from __future__ import annotations

import numpy as np
import pytest
from replications.daisyrec import factors, page, reading, tables

from fullrank.experiment.analyse.matrix import MetricMatrix


def board(values, key=("ML-1M", "10-filter", "TSBR"), metric="NDCG@10"):
    """Rows of a leaderboard from ``{(model, users): (value, n)}``."""
    names = dict(zip(("data", "view", "split"), key, strict=True))
    return [
        {**names, "model": model, "users": users, "metric": metric, "value": value, "n_queries": n}
        for (model, users), (value, n) in values.items()
    ]


def test_far_is_three_standard_deviations_of_one_more_draw():
    spread = 0.01 * np.sqrt(1 + 1 / 4)
    assert not tables.far(0.5 + 3 * spread, 0.5, 0.01, 4)
    assert tables.far(0.5 + 3 * spread + 0.0001, 0.5, 0.01, 4)
    assert not tables.far(0.2569, 0.25694, 0.0, 5)  # rounding of the published value
    assert tables.far(0.2569, 0.2571, 0.0, 5)


def test_compatible_marks_what_is_not_explained():
    draws = np.full((5, 3, 6), np.nan)
    draws[:, 0] = [0.2569, 0.0532, 0.7024, 0.1745, 0.8339, 0.4]
    cells = {("ML-1M", "10-filter", "mine"): draws}
    text = tables.compatible(cells, {"mine": "MostPop"}).splitlines()
    assert "**0.4975**" in text[2]
    assert "0.4000 ± 0*" in text[3]
    assert text[3].count("*") == 1
    draws[:, 0, 5] = 0.4975
    assert tables.compatible(cells, {"mine": "MostPop"}).endswith("all six |")


def test_fallback_takes_the_cold_users_of_popularity():
    rows = board(
        {
            ("MostPop", "all"): (0.25, 40), ("MostPop", "warm"): (0.1, 30),
            ("MostPop", "cold"): (0.7, 10), ("ItemKNN", "all"): (0.2, 40),
            ("ItemKNN", "warm"): (0.2, 30), ("ItemKNN", "cold"): (0.2, 10),
        }
    )  # fmt: skip
    lines = reading.fallback(rows).splitlines()
    assert lines[2].endswith("| 0.2500 |")
    assert lines[3] == "| ItemKNN | 0.2000 | 0.2000 | 0.2000 | 0.3250 |"


def test_orders_by_hand():
    """Of the three pairs one is turned round: tau is 1/3."""
    first = board({("A", "all"): (3, 1), ("B", "all"): (2, 1), ("C", "all"): (1, 1)})
    other = ("ML-1M", "origin", "TSBR")
    second = board({("A", "all"): (2, 1), ("B", "all"): (3, 1), ("C", "all"): (1, 1)}, other)
    lines = reading.orders(first + second).splitlines()
    assert "A > B > C | -" in lines[2]
    assert "B > A > C | 0.33" in lines[3]


def test_matrix_goes_from_rows_to_columns():
    values = np.array([[1.0, 0.25], [0.5, 1.0]])
    found = MetricMatrix("all", ("A", "B"), values, values - 0.1, values + 0.1, values > 0, "cases")
    lines = reading.matrix(found).splitlines()
    assert lines[2] == "| A | 1 | 0.25 (0.15 … 0.35) |"
    assert lines[3] == "| B | 0.50 (0.40 … 0.60) | 1 |"


def test_page_is_filled_between_marks(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("a\n<!-- t -->\nold\n<!-- /t -->\nb")
    page.fill({"t": "| new |"}, path)
    assert path.read_text() == "a\n<!-- t -->\n\n| new |\n\n<!-- /t -->\nb"
    with pytest.raises(ValueError, match="has 0 places for 'u'"):
        page.fill({"u": ""}, path)


def test_every_level_of_a_factor_is_run_fixed_and_tuned():
    models = factors.spec().model
    assert len(models) == 2 * (1 + sum(len(levels) for levels in factors.LEVELS.values()))
    assert sum(model.search is not None for model in models) == len(models) / 2
