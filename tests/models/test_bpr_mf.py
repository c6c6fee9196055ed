"""BPRMF, WARPMF and FM: factors by stochastic gradient descent."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.kernels import descent as kernel
from fullrank.kernels.slopes import WARP as WARP_CODE
from fullrank.kernels.slopes import slopes_of
from fullrank.models import BPRMF, FM, WARPMF, Recommender
from fullrank.models._descent import Descent, How
from fullrank.models._optimiser import SGD, AdaGrad
from fullrank.objectives import BPR, objective
from fullrank.testing.recommender import RecommenderContract, small_world
from fullrank.testing.split import interactions

OBJECTIVES = (
    "bpr",
    "hinge(margin=0.5)",
    "top1",
    "squared",
    "cross_entropy",
    "softmax(log_q=false)",
)


class TestBPRMF(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self) -> Recommender:
        return BPRMF(embedding_dim=8, epochs=60, reg=0.001, learning_rate=0.1)


class TestWARPMF(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self) -> Recommender:
        return WARPMF(embedding_dim=2, learning_rate=0.1)


class TestFM(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self) -> Recommender:
        return FM(embedding_dim=8, epochs=60, objective="cross_entropy", reg=0.001,
                  learning_rate=0.1, negatives_per_positive=2)  # fmt: skip


def how(**changes):
    given = {
        "objective": BPR(), "negatives": "uniform", "negatives_per_positive": 2,
        "learning_rate": 0.05, "reg": 0.02, "l1_reg": 0.0, "optimiser": SGD(), "user_bias": True,
    }  # fmt: skip
    return How(**{**given, **changes})


def start_of(train, kept=0, seed=0):
    rng = np.random.default_rng(seed)

    def one(*shape):
        return rng.normal(0, 0.5, shape).astype(np.float32)

    squares = [np.zeros((n if kept else 1, max(kept, 1)), np.float32)
               for n in (train.n_users, train.n_items)]  # fmt: skip
    return kernel.Factors(one(train.n_users, 4), one(train.n_items, 4), one(train.n_users),
                          one(train.n_items), *squares)  # fmt: skip


def copy_of(factors):
    return kernel.Factors(*(np.array(part, np.float64) for part in factors))


def slow_epoch(descent, factors, number, settings, goal):
    """The same steps in plain NumPy, by the objective's own gradient; draws are the kernel's."""
    blocks, b = descent._blocks(number), descent.groups
    seen = []
    for cell in range(b * b):
        stratum = cell // b
        group = (cell % b + stratum) % b
        for at in range(blocks.starts[cell], blocks.starts[cell + 1]):
            u, i, key = blocks.users[at], blocks.items[at], blocks.keys[at]
            own = descent.positives.items[slice(*descent.positives.indptr[u : u + 2])]
            drawn = [kernel._draw(key, j, u, descent.positives, group, blocks)
                     for j in range(settings.negatives_per_positive)]  # fmt: skip
            drawn = [j for j in drawn if j >= 0]
            if not drawn:
                continue
            assert not set(drawn) & set(own)
            seen += [(u, i, j) for j in drawn]
            _slow_step(factors, u, i, drawn, settings, goal)
    return seen


def _slow_step(f, u, i, drawn, settings, goal):
    def score(item):
        return f.users[u] @ f.items[item] + f.item_bias[item] + f.user_bias[u]

    loss = goal.loss(np.array([score(i)]), np.array([[score(j) for j in drawn]]))
    slopes = [loss[1][0], *loss[2][0]]
    mine, gradient = f.users[u].copy(), np.zeros(4)
    for item, slope in zip([i, *drawn], slopes):
        gradient += slope * f.items[item]
    reg, rate = settings.reg, settings.learning_rate
    f.users[u] -= rate * (gradient + reg * f.users[u])
    f.user_bias[u] -= rate * (sum(slopes) + reg * f.user_bias[u])
    for item, slope in zip([i, *drawn], slopes):
        f.items[item] -= rate * (slope * mine + reg * f.items[item])
        f.item_bias[item] -= rate * (slope + reg * f.item_bias[item])


@pytest.mark.parametrize("text", OBJECTIVES)
def test_steps_are_those_of_the_objective(text):
    train, goal = small_world(), objective(text)
    settings = how(objective=goal)
    descent = Descent(train, settings, 5, "test")
    factors = start_of(train)
    expected = copy_of(factors)
    for number in (0, 1):
        slow_epoch(descent, expected, number, settings, goal)
        descent.epoch(number, False, factors)
    for found, wanted in zip(factors, expected):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("negatives", ["uniform", "popularity(exponent=0.7)"])
def test_the_faster_steps_are_those_of_the_general_kernel(negatives):
    rng = np.random.default_rng(3)
    users, items = rng.integers(0, 90, 9000), (rng.random(9000) ** 2 * 300).astype(int)
    users[-300:], items[-300:] = 90, np.arange(300)  # a user with every item takes no step
    log = interactions([f"u{u}" for u in users], [f"i{i}" for i in items])
    found = []
    for plain in (True, False):
        descent = Descent(log, how(objective=BPR(), negatives=negatives, user_bias=False,
                          negatives_per_positive=1), 4, "test")  # fmt: skip
        assert descent.plain
        descent.plain = plain
        factors = start_of(log)
        for number in range(3):
            descent.epoch(number, False, factors)
        found.append(factors)
    assert np.abs(found[0].item_bias).max() > 0.05
    for fast, general in zip(*found):
        np.testing.assert_allclose(fast, general, rtol=1e-4, atol=1e-6)


def test_cells_of_a_stratum_share_no_rows():
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 300, 4000), rng.integers(0, 700, 4000)
    import polars as pl

    import fullrank as fr

    log = fr.read(pl.DataFrame({"user_id": users, "item_id": items})).interactions
    descent = Descent(log, how(negatives="popularity(exponent=0.5)"), 1, "test")
    assert descent.groups == 8
    blocks, b = descent._blocks(3), descent.groups
    pairs = set(zip(descent.positives.users, descent.positives.items))
    assert set(zip(blocks.users, blocks.items)) == pairs
    assert len(blocks.users) == len(pairs)
    for stratum in range(b):
        starts = blocks.starts[stratum * b : (stratum + 1) * b + 1]
        for side in (blocks.users, blocks.items):
            sets = [set(side[starts[g] : starts[g + 1]]) for g in range(b)]
            assert sum(map(len, sets)) == len(set().union(*sets))


def test_negatives_follow_their_weights():
    """Over many epochs each item of the pool comes as often as its weight says."""
    train = small_world()
    descent = Descent(train, how(negatives="popularity(exponent=1)"), 9, "test")
    factors = copy_of(start_of(train))
    seen = [x for e in range(120) for x in slow_epoch(descent, factors, e, how(reg=0.0,
            learning_rate=0.0), BPR())]  # fmt: skip
    user = 7
    drawn = np.array([j for u, _, j in seen if u == user])
    own = train.items[slice(*train.user_indptr[user : user + 2])]
    weights = train.item_counts.astype(float)
    weights[own] = 0.0
    share = np.bincount(drawn, minlength=train.n_items) / len(drawn)
    np.testing.assert_allclose(share, weights / weights.sum(), atol=4 / np.sqrt(len(drawn)))


def test_a_user_with_every_item_takes_no_step_and_hangs_nothing():
    import polars as pl

    import fullrank as fr

    rows = [(0, i) for i in range(20)] + [(u, u) for u in range(1, 5)]
    log = fr.read(pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")).interactions
    model = BPRMF(embedding_dim=4, epochs=2, reg=0.0).fit(log, rng=1)
    before = BPRMF(embedding_dim=4, epochs=1, learning_rate=1e-30, reg=0.0).fit(log, rng=1)
    np.testing.assert_array_equal(model.user_factors_[0], before.user_factors_[0])
    assert (model.user_factors_[1] != before.user_factors_[1]).any()


def test_warp_weighs_by_the_looks_that_it_took():
    out = np.empty(1)
    by_positive = slopes_of(WARP_CODE, 1.0, 101, 0.0, np.zeros(1), 30, out)
    assert by_positive == pytest.approx(-(1 + 1 / 2 + 1 / 3))
    assert out[0] == pytest.approx(1 + 1 / 2 + 1 / 3)


def test_hardest_negatives_score_higher():
    train = small_world()
    drawn = {}
    for text in ("uniform", "hardest(uniform, of=8)"):
        descent = Descent(train, how(negatives=text), 3, "test")
        factors, blocks = start_of(train), descent._blocks(0)
        items, scores = np.empty(2, np.int64), np.empty(2)
        found = []
        for u in range(40):
            n = kernel._negatives(
                factors, u, descent.positives, 0, np.uint64(u), blocks, descent.step, items, scores
            )
            found += list(scores[:n])
        drawn[text] = np.mean(found)
    assert drawn["hardest(uniform, of=8)"] > drawn["uniform"] + 0.2


def test_adagrad_shortens_steps():
    train = small_world()
    descent = Descent(train, how(optimiser=AdaGrad()), 5, "test")
    factors = start_of(train, kept=5)
    before = factors.items.copy()
    descent.epoch(0, False, factors)
    assert (factors.item_squares[:24, :4] > 0).any()
    assert np.abs(factors.items - before).max() < 0.05 * 60


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding_dim": -3}, "embedding_dim must be a whole number >= 1, got -3"),
        ({"negatives_per_positive": 0}, "negatives_per_positive must be a whole number"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0"),
        ({"reg": float("nan")}, "reg must be a finite number, got nan"),
        ({"objective": "multinomial"}, "compares an item with the whole catalogue"),
        ({"objective": "bprr"}, "did you mean 'bpr'"),
        ({"negatives": "in_batch"}, "in_batch need batches"),
        ({"optimiser": "adam"}, "optimiser must be sgd or adagrad"),
        ({"init": "normal(std=-1)"}, "std >= 0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(SpecError, match=message):
        BPRMF(**settings)


def test_what_diverges_is_said():
    with pytest.raises(SpecError, match="not finite with learning_rate"):
        BPRMF(objective="squared", learning_rate=1e6, epochs=5).fit(small_world())
