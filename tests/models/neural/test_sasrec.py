"""SASRec, and what all models of sequences share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from tests.models.neural.sequences import cycle, diagonal, follows

from fullrank.core.errors import DataError, SpecError
from fullrank.models import Recommender, SASRec
from fullrank.models.neural._sequences import _windows, pad, recent
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._torch import Noise
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world


class TestSASRec(RecommenderContract):
    ties_twins = False
    learns_checkerboard = False  # nothing follows its last item: shuffled below

    def make(self) -> Recommender:
        return SASRec(embedding_dim=16, max_length=5, epochs=2, batch_size=8, learning_rate=0.01)


@pytest.mark.parametrize(
    ("objective", "negatives"),
    [
        ("multinomial", "uniform"),
        ("crossentropy(calibration=0.75)", "uniform"),
        ("softmax", "popularity(exponent=0.5)"),
        ("softmax", "in_batch"),
        ("bpr", "hardest(uniform, of=2)"),
        ("top1", "mixture(uniform, popularity, share=0.5)"),
        ("warp", "uniform"),
        ("hinge", "in_batch"),
        ("squared", "uniform"),
    ],
)
def test_every_objective_learns_what_comes_next(objective: str, negatives: str) -> None:
    model = SASRec(objective=objective, negatives=negatives, negatives_per_positive=3, blocks=1,
                   embedding_dim=16, batch_size=16, epochs=30, learning_rate=0.02, dropout=0.0,
                   max_length=8)  # fmt: skip
    assert follows(model) > 0.9


def test_the_diagonal_of_a_shuffled_checkerboard() -> None:
    model = SASRec(embedding_dim=16, max_length=14, epochs=40, batch_size=8, blocks=1,
                   learning_rate=0.01, dropout=0.5)  # fmt: skip
    assert diagonal(model) == 1.0


@pytest.mark.parametrize("learnt", [True, False])
def test_the_softmax_of_a_catalogue_is_the_plain_one(learnt: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(150, 6, generator=generator, requires_grad=True)
    table = torch.randn(40, 6, generator=generator, requires_grad=learnt)
    bias = torch.randn(40, generator=generator)
    bias[:3] = -torch.inf  # left out
    bias.requires_grad_(learnt)
    counts = torch.randint(0, 4, (150,), generator=generator)
    items = torch.randint(3, 40, (int(counts.sum()),), generator=generator)
    logs = torch.log_softmax(hidden @ table.T + bias, dim=1)
    plain = -logs[torch.repeat_interleave(torch.arange(150), counts), items].sum()
    fused = catalogue_sum(hidden, table, items, counts, bias)
    torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-4)
    inputs = [hidden, table, bias] if learnt else [hidden]
    wanted = torch.autograd.grad(plain / 7, inputs)
    torch.testing.assert_close(torch.autograd.grad(fused / 7, inputs), wanted, rtol=1e-4, atol=1e-5)


def test_windows_hold_each_target_once() -> None:
    data = small_world()
    users, starts, counts, _ = _windows(data, 4, 1)
    targets = [range(s + 1, s + c) for s, c in zip(starts, counts, strict=True)]
    flat = np.sort(np.concatenate([np.array(t) for t in targets]))
    first = data.user_indptr[:-1][data.user_counts > 0]
    np.testing.assert_array_equal(flat, np.setdiff1d(np.arange(len(data)), first))
    assert counts.max() == 5
    np.testing.assert_array_equal(data.users[starts], users)
    np.testing.assert_array_equal(data.users[starts + counts - 1], users)


def test_recent_items_keep_order_and_repeats() -> None:
    data = small_world()
    queries = queries_of(data)[:2]
    queries = replace(
        queries,
        history_indptr=np.array([0, 5, 5]),
        history_items=np.array([7, 2, 7, 24, 7], np.int32),
        history_values=None,
        history_times=None,
    )
    items, counts = recent(queries, np.arange(25) < 24, 3)
    np.testing.assert_array_equal(items, [[2, 7, 7], [0, 0, 0]])
    np.testing.assert_array_equal(counts, [3, 0])
    np.testing.assert_array_equal(pad(np.arange(9), np.array([3, 9]), np.array([1, 2])),
                                  [[2, 0], [7, 8]])  # fmt: skip


def test_no_place_sees_later_ones_or_padding() -> None:
    model = SASRec(embedding_dim=8, max_length=6, heads=2)
    network = model._network(9)
    model._initialise(network, 1)
    items = torch.tensor([[1, 2, 3, 4, 0, 0]])
    other = torch.tensor([[1, 2, 5, 6, 8, 8]])
    lengths = torch.tensor([4])
    one, two = network.states(items, lengths), network.states(other, lengths)
    torch.testing.assert_close(one[:, :2], two[:, :2], rtol=0, atol=0)
    assert not torch.equal(one[:, 2], two[:, 2])
    noise = Noise(1, on=torch.device("cpu"))
    assert not torch.equal(network.states(items, lengths, noise), one)


def test_a_log_without_times_has_no_order() -> None:
    with pytest.raises(DataError, match="SASRec needs a time for every row"):
        SASRec(epochs=1).fit(replace(small_world(), times=None))


def test_order_matters() -> None:
    data = cycle()
    model = SASRec(embedding_dim=16, epochs=3, batch_size=8).fit(data)
    queries = queries_of(data)
    back = replace(queries, history_items=queries.history_items[::-1].copy(), history_times=None)
    assert (model.score(queries) != model.score(back)).any()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"max_length": 0}, "max_length"),
        ({"blocks": 0}, "blocks"),
        ({"heads": 3}, "heads"),
        ({"negatives_per_positive": 0}, "negatives_per_positive"),
        ({"negatives": "unifrom"}, "negatives"),
        ({"objective": "bprr"}, "objective"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_wrong_settings(settings: dict[str, object], named: str) -> None:
    with pytest.raises(SpecError, match=named):
        SASRec(**settings)
