"""Analysis of variance against a published table, scikit-learn's residuals, and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder

from fullrank.core.errors import DataError
from fullrank.stats import Anova, anova

TEETH = {
    ("VC", "0.5"): [4.2, 11.5, 7.3, 5.8, 6.4, 10.0, 11.2, 11.2, 5.2, 7.0],
    ("VC", "1"): [16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5],
    ("VC", "2"): [23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5],
    ("OJ", "0.5"): [15.2, 21.5, 17.6, 9.7, 14.5, 10.0, 8.2, 9.4, 16.5, 9.7],
    ("OJ", "1"): [19.7, 23.3, 23.6, 26.4, 20.0, 25.2, 25.8, 21.2, 14.5, 27.3],
    ("OJ", "2"): [25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23.0],
}
"""Crampton 1947, ``ToothGrowth`` of R: length by supplement and dose."""


def table(found: Anova) -> dict[str, tuple[int, float]]:
    return {term.name: (term.df, float(term.sum_squares)) for term in found.terms}


def test_a_published_table() -> None:
    """What R's ``summary(aov(len ~ supp * factor(dose), ToothGrowth))`` prints."""
    values = [value for group in TEETH.values() for value in group]
    supp = [key[0] for key, group in TEETH.items() for _ in group]
    dose = [key[1] for key, group in TEETH.items() for _ in group]
    found = anova(values, {"supp": supp, "dose": dose})
    printed = {name: (df, round(squares, 1)) for name, (df, squares) in table(found).items()}
    assert printed == {"supp": (1, 205.4), "dose": (2, 2426.4), "supp × dose": (2, 108.3)}
    assert (found.residual_df, round(float(found.residual), 1)) == (54, 712.1)
    assert found.balanced


def test_by_hand_without_room_for_interactions() -> None:
    """One value a cell: means 3 and 7 by a, 4 and 6 by b; the interaction is the residual."""
    found = anova([1.0, 5.0, 7.0, 7.0], {"a": "xxyy", "b": "ijij"})
    assert table(found) == {"a": (1, pytest.approx(16)), "b": (1, pytest.approx(4))}
    assert (float(found.residual), found.residual_df) == (pytest.approx(4), 1)
    assert float(found.total) == pytest.approx(24)


def residual(values: np.ndarray, *parts: np.ndarray) -> float:
    """Sum of squares that a fit by scikit-learn leaves."""
    design = np.column_stack([np.ones(len(values)), *parts])
    return float(((values - LinearRegression().fit(design, values).predict(design)) ** 2).sum())


def test_an_unbalanced_design_against_scikit_learn() -> None:
    """Type II: what a term saves when it is added to all terms that don't contain it."""
    rng = np.random.default_rng(1)
    cells = [*product("xyz", "ij", "pq")]
    rows = [cells[j] for j in rng.integers(0, len(cells), 60)]
    values = rng.normal(size=60) + [ord(a) + 0.5 * (b == "i") * (a == "x") for a, b, _ in rows]
    factors = {name: [row[j] for row in rows] for j, name in enumerate("abc")}
    found = anova(values, factors)
    one = {n: OneHotEncoder().fit_transform(np.array(f)[:, None]).toarray()
           for n, f in factors.items()}  # fmt: skip
    for m, n in (("a", "b"), ("a", "c"), ("b", "c")):
        one[f"{m} × {n}"] = (one[m][:, :, None] * one[n][:, None, :]).reshape(60, -1)
    assert not found.balanced
    assert [term.name for term in found.terms] == list(one)
    for term in found.terms:
        free = [one[name] for name in one if not set(term.factors) <= set(name.split(" × "))]
        saved = residual(values, *free) - residual(values, *free, one[term.name])
        assert float(term.sum_squares) == pytest.approx(saved, rel=1e-9, abs=1e-9)
    assert float(found.residual) == pytest.approx(residual(values, *one.values()))


def test_balanced_parts_add_up() -> None:
    rows = [*product("xyz", "ij", range(3))]
    values = np.random.default_rng(2).normal(size=len(rows))
    found = anova(values, {"a": [r[0] for r in rows], "b": [r[1] for r in rows]})
    parts = sum(float(term.sum_squares) for term in found.terms) + float(found.residual)
    assert found.balanced
    assert parts == pytest.approx(float(found.total))


def test_factors_that_change_together_have_no_share_of_their_own() -> None:
    found = anova([1.0, 2.0, 5.0, 7.0], {"a": "xxyy", "b": "iijj"})
    assert table(found) == {"a": (0, 0), "b": (0, 0)}


def test_a_factor_of_one_level_is_none() -> None:
    found = anova([1.0, 2.0, 6.0], {"a": "xyy", "b": "iii"})
    assert [term.name for term in found.terms] == ["a"]
    assert float(found.terms[0].sum_squares) == pytest.approx(6)


def test_leading_axes_are_decomposed_each_on_its_own() -> None:
    values = np.random.default_rng(3).normal(size=(4, 12))
    factors = {"a": "xy" * 6, "b": "iiijjj" * 2}
    many = anova(values, factors)
    for j, row in enumerate(values):
        alone = anova(row, factors)
        assert many.residual[j] == pytest.approx(float(alone.residual))
        for term, one in zip(many.terms, alone.terms, strict=True):
            assert term.sum_squares[j] == pytest.approx(float(one.sum_squares))


def test_what_rounding_leaves_is_none() -> None:
    found = anova([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], {"a": "xxyy", "b": "ijij"})
    assert (float(found.total), float(found.residual)) == (0, 0)
    assert [float(term.sum_squares) for term in found.terms] == [0, 0]


@pytest.mark.parametrize(
    ("values", "factors", "message"),
    [
        ([1.0, 2.0], {"a": "xy"}, "three numbers or more"),
        ([1.0, 2.0, np.nan], {"a": "xyx"}, "three numbers or more"),
        ([1.0, 2.0, 3.0], {"a": "xy"}, "'a' has 2 levels for 3 values"),
        ([1.0, 2.0, 3.0], {"a": "xxx"}, "a factor with two levels"),
    ],
)
def test_refused(values: list[float], factors: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        anova(values, factors)
