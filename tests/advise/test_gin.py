"""InfoGraph on tiny graphs: free of names, a loss that falls, families told apart."""

from __future__ import annotations

import numpy as np
import pytest
from tests.subsample.worlds import rows, world

from fullrank.advise import InfoGraph, Pieces
from fullrank.core.errors import DataError, SpecError, TrainingError

pytest.importorskip("torch", reason="needs PyTorch (make test-torch)")

SMALL = InfoGraph(embedding_dim=8, layers=2, epochs=30)


def log(kind: int, seed: int):
    """Blocks of complete graphs, or rows at random, with like numbers of rows."""
    rng = np.random.default_rng(seed)
    if kind:
        users = rng.integers(0, 24, 100)
        return rows(users, 6 * (users // 6) + rng.integers(0, 6, 100))
    return rows(rng.integers(0, 60, 100), rng.integers(0, 60, 100))


KINDS = [0, 1] * 10
PIECES = [Pieces().of(log(kind, seed)) for seed, kind in enumerate(KINDS)]
ENCODER = SMALL.fit(PIECES, 1)


def vector(piece, encoder=ENCODER):
    return np.array(list(encoder.embed(piece).values()))


def test_the_loss_falls_below_what_no_information_gives():
    """With T = 0 everywhere it is 0, both means being ln 2 - ln 2."""
    assert len(ENCODER.losses) == 30
    assert ENCODER.losses[-1] < min(ENCODER.losses[0], 0) - 0.1


def test_families_of_unseen_graphs_are_told_apart():
    new = np.array([vector(Pieces().of(log(kind, 100 + s))) for s, kind in enumerate(KINDS)])
    kinds = np.array(KINDS)
    centres = np.array([[vector(p) for p, k in zip(PIECES, KINDS) if k == kind] for kind in (0, 1)])
    gaps = np.linalg.norm(new[:, None] - centres.mean(axis=1), axis=2)
    assert (gaps.argmin(axis=1) == kinds).all()


def test_names_of_nodes_change_nothing():
    for seed in (3, 4):
        one = log(seed % 2, seed)
        order = np.random.default_rng(0).permutation(100)
        renamed = Pieces().of(rows(order[one.user_ids], order[one.item_ids]))
        assert not np.array_equal(renamed.edges, Pieces().of(one).edges)
        np.testing.assert_allclose(vector(renamed), vector(Pieces().of(one)), atol=1e-5)


def test_a_seed_gives_the_same_encoder_and_leaves_the_global_state_alone():
    import torch

    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    again = SMALL.fit(PIECES, 1)
    assert torch.rand(1) == wanted
    assert again.losses == ENCODER.losses
    assert again.embed(PIECES[0]) == ENCODER.embed(PIECES[0])
    assert SMALL.fit(PIECES, 2).losses != ENCODER.losses


def test_embedding_has_a_number_for_each_unit_of_each_layer_and_a_batch_is_no_matter():
    assert list(ENCODER.embed(PIECES[0])) == [f"gin.{j}" for j in range(1, 17)]
    few = InfoGraph(embedding_dim=4, layers=1, epochs=2, batch_graphs=2).fit(PIECES[:5], 0)
    assert len(few.losses) == 2


def test_refusals():
    with pytest.raises(DataError, match="at least 2 of them, got 1"):
        SMALL.fit(PIECES[:1])
    with pytest.raises(SpecError, match="learning_rate must be in"):
        InfoGraph(learning_rate=0.0)
    with pytest.raises(TrainingError, match="lower learning_rate"):
        InfoGraph(learning_rate=1e30, epochs=3).fit(PIECES)


def test_large_logs_are_read_by_neighbourhoods():
    big = Pieces(whole=50).of(world())
    assert 50 < len(big.inputs) < 32 * (1 + 6 + 36)
    assert np.isfinite(vector(big)).all()
