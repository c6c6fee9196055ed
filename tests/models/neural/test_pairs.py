"""The family of pairs: rows, negatives, objectives and warm starts (by LightGCN)."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import polars as pl
import torch

import fullrank as fr
from fullrank.core.errors import NotFittedError, SpecError
from fullrank.models import IALS, ItemKNN, LightGCN, NeuMF
from fullrank.models.neural._others import others
from fullrank.models.neural._pairs import PairTask, dots
from fullrank.testing.recommender import checkerboard, queries_of, small_world, threads

OBJECTIVES = ["squared", "crossentropy", "bpr", "hinge", "top1", "softmax", "warp", "multinomial"]


def _model(**settings) -> LightGCN:
    return LightGCN(**{"embedding_dim": 8, "layers": 1, "epochs": 1, "batch_size": 32, **settings})


def _task(model: LightGCN) -> PairTask:
    data = small_world()
    return PairTask(model, model._pairs(data), data, 5)


def _rows(model: LightGCN, epoch: int) -> dict[str, np.ndarray]:
    batches = list(_task(model).batches(epoch))
    return {key: np.concatenate([one[key].numpy() for one in batches]) for key in batches[0]}


def test_an_epoch_has_each_pair_once_in_a_new_order():
    log = small_world().csr("binary")
    first, second = (_rows(_model(), epoch) for epoch in (0, 1))
    for rows in (first, second):
        pairs = sorted(zip(rows["users"], rows["items"], strict=True))
        assert pairs == sorted(zip(*log.nonzero(), strict=True))
    assert (first["items"] != second["items"]).any()


@pytest.mark.parametrize(
    "negatives", ["uniform", "popularity(exponent=1)", "hardest(uniform, of=4)"]
)
def test_negatives_are_never_the_users_own_and_are_drawn_anew(negatives):
    model, log = _model(negatives=negatives, negatives_per_positive=3), small_world().csr("binary")
    per_epoch = []
    for epoch in (0, 1):
        rows = _rows(model, epoch)
        users = np.repeat(rows["users"][:, None], rows["negatives"].shape[1], axis=1)
        assert log[users.ravel(), rows["negatives"].ravel()].sum() == 0
        order = np.lexsort((rows["items"], rows["users"]))
        per_epoch.append(rows["negatives"][order])
    assert (per_epoch[0] != per_epoch[1]).any()


def test_negatives_do_not_hang_on_the_batch_size():
    def sorted_rows(size: int) -> np.ndarray:
        rows = _rows(_model(batch_size=size, negatives_per_positive=2), 3)
        return rows["negatives"][np.lexsort((rows["items"], rows["users"]))]

    np.testing.assert_array_equal(sorted_rows(7), sorted_rows(1000))


@pytest.mark.parametrize("m", [1, 5, 99])
def test_the_other_rows_of_a_batch_without_the_users_own(m):
    log, rng = small_world().csr("binary"), np.random.default_rng(0)
    every = np.argwhere(log.toarray() > 0).astype(np.int32)
    users, items = rng.permutation(every)[:30].T
    found, there = others(users, items, log, m)
    assert found.shape == there.shape == (30, min(m, 29))
    for row in range(30):
        for j in range(found.shape[1]):
            assert found[row, j] == items[(row + j + 1) % 30]
            assert there[row, j] == (log[users[row], found[row, j]] == 0)


def test_the_hardest_draw_is_that_of_most_score():
    model = _model(negatives="hardest(uniform, of=5)", negatives_per_positive=2)
    task = _task(model)
    model._initialise(task.network, 1)
    batch = next(task.batches(0))
    shared = task.shared(None)
    found, _ = task._negatives(batch, shared)
    scores = torch.einsum("bd,bmd->bm", shared[0][batch["users"]], shared[1][batch["negatives"]])
    for row in range(len(found)):
        for j in range(2):
            part = slice(5 * j, 5 * j + 5)
            best = int(scores[row, part].argmax())
            assert found[row, j] == batch["negatives"][row, part][best]


def test_products_by_a_gather_and_by_all_named_items_are_equal():
    make = torch.Generator().manual_seed(0)
    vectors, table = torch.randn(9, 4, generator=make), torch.randn(20, 4, generator=make)
    items = torch.randint(0, 20, (9, 40), generator=make)
    apart = torch.cat([dots(vectors, table, part) for part in items.split(8, dim=1)], dim=1)
    torch.testing.assert_close(dots(vectors, table, items), apart)


@pytest.mark.parametrize("text", OBJECTIVES)
@pytest.mark.parametrize("negatives", ["uniform", "in_batch"])
def test_every_objective_learns_the_hidden_diagonal(text, negatives):
    train, queries = checkerboard()
    model = LightGCN(
        objective=text, negatives=negatives, negatives_per_positive=8, layers=1, epochs=25,
        embedding_dim=16, batch_size=128, learning_rate=0.02, reg=0.0,
    ).fit(train, rng=2)  # fmt: skip
    scores = model.score(queries)
    scores[queries.history_csr().toarray() > 0] = -np.inf
    assert (scores.argmax(axis=1) == np.arange(len(queries))).mean() > 0.9


def test_parts_of_a_batch_and_threads_change_nothing():
    class Small(LightGCN):
        part_rows = 16

    found = []
    for n in (1, 3):
        with threads(n):
            found.append(Small(epochs=2, embedding_dim=8, layers=1).fit(small_world(), rng=1))
    np.testing.assert_array_equal(found[0].item_factors_, found[1].item_factors_)


def test_a_warm_start_takes_the_other_models_vectors():
    data = small_world()
    source = IALS(embedding_dim=8, epochs=3).fit(data, rng=0)
    model = _model(learning_rate=1e-12, layers=0, epochs=1).warm_start(source).fit(data, rng=1)
    np.testing.assert_allclose(model.item_factors_, source.item_factors_, atol=1e-6)
    known = queries_of(data)[:40]
    np.testing.assert_allclose(
        model.query_factors(known), source.query_factors(known), rtol=1e-5, atol=1e-6
    )


def test_a_warm_start_matches_outside_ids():
    data = small_world()
    source = IALS(embedding_dim=8, epochs=3).fit(data, rng=0)
    few = data.take(data.items % 2 == 0).compact()
    model = _model(learning_rate=1e-12, layers=0).warm_start(source).fit(few, rng=1)
    wanted = source.item_factors_[source.item_vocab_.encode(few.item_vocab.ids)]
    np.testing.assert_allclose(model.item_factors_, wanted, atol=1e-6)


def test_a_warm_start_that_can_not_be_is_refused():
    data = small_world()
    with pytest.raises(NotFittedError, match="IALS"):
        _model().warm_start(IALS())
    with pytest.raises(SpecError, match="embedding_dim=4"):
        _model().warm_start(IALS(embedding_dim=4, epochs=1).fit(data)).fit(data)
    with pytest.raises(SpecError, match="no vectors of items"):
        _model().warm_start(ItemKNN().fit(data)).fit(data)


@pytest.mark.parametrize(
    "setting",
    [{"objective": "bprr"}, {"negatives": "unifrom"}, {"negatives_per_positive": 0}, {"reg": -1}],
)
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        _model(**setting)


def test_a_warm_start_from_what_knows_nothing_here_is_refused():
    rows = pl.DataFrame({"user_id": ["x", "y"], "item_id": ["a", "b"]})
    other = IALS(embedding_dim=8, epochs=1).fit(fr.read(rows).interactions, rng=0)
    model = NeuMF(embedding_dim=8, epochs=1, part="gmf").warm_start(other)
    with pytest.raises(SpecError, match=r"NeuMF: IALS has a vector of none of the .*'i00'.*'a'"):
        model.fit(small_world(), rng=0)
    with pytest.raises(SpecError, match=r"NeuMF.warm_start takes a fitted model.*got NoneType"):
        model.warm_start(None)
