"""Screening with exact survivors: unbiased for any distribution of ranks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.test_designs import world
from tests.estimators.worlds import as_ranks

from fullrank.core.errors import EstimateError, SpecError
from fullrank.estimators import HorvitzThompson, ScreenedExact, estimate
from fullrank.rank import rank

N = 1500
DESIGN = ScreenedExact(sizes=(20, 60), k_max=20, eps=0.2)


def block(seed: int, m: int = 600) -> np.ndarray:
    """A quarter of the users at ranks 8 to 30 over a uniform background: what no fit expects."""
    rng = np.random.default_rng(seed)
    inside = rng.random(m) < 0.25
    return np.where(inside, rng.integers(8, 31, m), rng.integers(1, N + 1, m))


def test_survival_is_what_simulation_finds():
    ranks = np.array([1, 5, 20, 60, 200])
    expected = DESIGN.survival(ranks, N)
    rng, found = np.random.default_rng(0), np.zeros(len(ranks))
    most = [int(DESIGN.most_hits(s, np.array([N - 1]))[0]) for s in (1, 2)]
    repeats = 20_000
    for j, r in enumerate(ranks):
        first = rng.hypergeometric(r - 1, N - r, 19, repeats) if r > 1 else np.zeros(repeats, int)
        left = N - 1 - 19
        more = np.array([rng.hypergeometric(r - 1 - h, left - (r - 1 - h), 40) if r - 1 - h > 0
                         else 0 for h in first])  # fmt: skip
        found[j] = ((first <= most[0]) & (first + more <= most[1])).mean()
    assert expected[0] == pytest.approx(1.0)
    assert np.abs(found - expected).max() < 5 * np.sqrt(0.25 / repeats)


def test_survivors_are_exact_and_the_estimate_is_unbiased():
    off = []
    for seed in range(30):
        places = block(seed)
        model, queries = world(places)
        found = rank(model, queries, candidates=DESIGN, seed=seed).targets
        sample = found.sample
        whole = sample.sizes == sample.catalog_sizes
        assert np.array_equal(sample.ranks[whole], places[whole])
        assert set(sample.sizes[~whole].tolist()) <= {20, 60}
        value = estimate(found, "recall@20", method=HorvitzThompson(design=DESIGN))[0]
        off.append(value.value - (places <= 20).mean())
    off = np.array(off)
    assert abs(off.mean()) < 3 * off.std(ddof=1) / np.sqrt(len(off))
    assert off.std() > 0


def test_other_designs_and_deeper_cut_offs_are_refused():
    with pytest.raises(EstimateError, match="were not drawn by"):
        estimate(as_ranks([1, 2], 50, N), "recall@5", method=HorvitzThompson(design=DESIGN))
    places = block(0)
    found = rank(*world(places), candidates=DESIGN).targets
    with pytest.raises(EstimateError, match="cut-offs up to 20"):
        estimate(found, "recall@50", method=HorvitzThompson(design=DESIGN))
    for bad in ({"sizes": (1, 5)}, {"sizes": (9, 5)}, {"k_max": 0}, {"eps": 1.0}):
        with pytest.raises(SpecError):
            ScreenedExact(**bad)
