"""Negatives for training: never the user's own, by the stated chances, the same in any batch."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fullrank as fr
from fullrank.core.errors import SpecError
from fullrank.negatives import Mixture, Popularity, TrainingNegatives, Uniform
from fullrank.negatives.training import recipe
from fullrank.testing.recommender import small_world, threads

TEXTS = (
    "uniform",
    "popularity(exponent=0.75)",
    "popularity(exponent=-1)",
    "mixture(uniform, popularity(exponent=1), share=0.3)",
    "hardest(uniform, of=4)",
)


@pytest.mark.parametrize("text", TEXTS)
def test_draws_are_never_the_users_own(text):
    train = small_world()
    drawn = TrainingNegatives(text, train, seed=1)
    found = drawn.draw(drawn.users, drawn.items, 20, epoch=2)
    assert found.shape == (len(drawn.users), 20)
    own = train.csr("binary").toarray()
    assert not own[drawn.users[:, None], found].any()
    assert train.item_counts[found].min() > 0
    assert drawn.hardest == (4 if "hardest" in text else 1)


@pytest.mark.parametrize("text", TEXTS[:4])
def test_draws_follow_the_chances(text):
    train = small_world()
    drawn = TrainingNegatives(text, train, seed=1)
    row = 11
    user, item = drawn.users[row : row + 1], drawn.items[row : row + 1]
    found = np.concatenate([drawn.draw(user, item, 500, epoch=e)[0] for e in range(40)])
    counts = train.item_counts.astype(float)
    weights = {
        "uniform": (counts > 0).astype(float),
        "popularity(exponent=0.75)": counts**0.75,
        "popularity(exponent=-1)": np.where(counts > 0, np.maximum(counts, 1) ** -1.0, 0),
    }
    own = train.csr("binary").toarray()[user[0]] > 0

    def chances(which):
        q = np.where(own, 0.0, weights[which])
        return q / q.sum()

    if "mixture" in text:
        weights["popularity"] = counts
        wanted = 0.7 * chances("uniform") + 0.3 * chances("popularity")
    else:
        wanted = chances(text)
    share = np.bincount(found, minlength=train.n_items) / len(found)
    np.testing.assert_allclose(share, wanted, atol=4.5 * np.sqrt(0.25 / len(found)))
    if "mixture" not in text:  # a mixture excludes within its parts: its q is up to a factor
        log_q = drawn.log_q(user, found[None, :5], m=1)[0]
        np.testing.assert_allclose(np.exp(log_q), wanted[found[:5]], rtol=1e-5)


@pytest.mark.parametrize("text", TEXTS)
def test_any_batch_order_and_thread_gives_the_same_draws(text):
    train = small_world()
    drawn = TrainingNegatives(text, train, seed=1)
    whole = drawn.draw(drawn.users, drawn.items, 6, epoch=4)
    order = np.random.default_rng(0).permutation(len(whole))
    for n in (1, 2):
        with threads(n):
            again = TrainingNegatives(text, train, seed=1)
            found = np.vstack(
                [again.draw(again.users[p], again.items[p], 6, epoch=4)
                 for p in np.array_split(order, 7)]
            )  # fmt: skip
        np.testing.assert_array_equal(found, whole[order])
    assert (drawn.draw(drawn.users, drawn.items, 6, epoch=5) != whole).any()
    assert (
        TrainingNegatives(text, train, seed=2).draw(drawn.users, drawn.items, 6, 4) != whole
    ).any()


def test_a_user_who_has_everything_is_marked_and_hangs_nothing():
    rows = [(0, i) for i in range(6)] + [(1, 0), (1, 3)]
    log = fr.read(pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")).interactions
    for text in TEXTS:
        drawn = TrainingNegatives(text, log, seed=0)
        assert drawn.free.tolist() == [False, True]
        assert drawn.usable.tolist() == [False] * 6 + [True] * 2
        some = drawn.usable
        found = drawn.draw(drawn.users[some], drawn.items[some], 50, epoch=0)
        assert set(np.unique(found)) <= {1, 2, 4, 5}


def test_in_batch_draws_have_the_chances_of_popularity():
    train = small_world()
    drawn = TrainingNegatives("in_batch", train, seed=0)
    assert drawn.in_batch
    q = train.item_counts / train.item_counts.sum()
    items = np.array([[3, 5]], np.int32)
    np.testing.assert_allclose(
        drawn.log_q(np.array([0], np.int32), items, m=9)[0], np.log(9 * q[[3, 5]]), rtol=1e-6
    )


def test_texts_are_read():
    assert recipe("uniform").base == Uniform(m=1, replacement=True)
    assert recipe("Popularity(exponent=0.5)").base == Popularity(m=1, exponent=0.5)
    mixed = recipe("mixture(popularity(exponent=-1), uniform, share=0.2)").base
    assert isinstance(mixed, Mixture)
    assert (mixed.share, mixed.first) == (0.2, Popularity(m=1, exponent=-1))
    assert recipe("hardest(popularity, of=3)").hardest == 3
    assert recipe("in_batch").base is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unifrom", "unknown sampler 'unifrom'; did you mean 'uniform'"),
        ("popularity(exponent=x)", "exponent must be finite, got 'x'"),
        ("mixture(uniform)", "mixture takes two distributions"),
        ("mixture(uniform, popularity, share=2)", "share must be from 0 to 1"),
        ("hardest(uniform, of=1)", "a whole number >= 2"),
        ("hardest(in_batch)", "unknown sampler"),
        ("in_batch(3)", "in_batch has no options"),
        ("uniform(replacement=false)", "replacement is no option in training"),
    ],
)
def test_wrong_texts_are_named(text, message):
    with pytest.raises(SpecError, match=message):
        recipe(text, "Mine")
