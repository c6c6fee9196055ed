"""Pieces of graphs, whole and drawn."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from tests.subsample.worlds import rows, shuffled, world

from fullrank.advise import InfoGraph, Pieces
from fullrank.core.errors import DataError, SpecError

TRAIN = world(2)
DRAWN = Pieces(whole=0, egos=5, fanout=3, hops=2)


def edges_of(piece):
    return {tuple(edge) for edge in piece.edges.T.tolist()}


def test_a_small_log_is_taken_whole():
    piece = Pieces().of(rows([0, 0, 1], ["a", "b", "a"]))
    np.testing.assert_allclose(np.expm1(piece.inputs[:, 0]), [2, 1, 2, 1], rtol=1e-6)
    assert piece.inputs[:, 1].tolist() == [1, 1, 0, 0]
    assert edges_of(piece) == {(0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1)}


def test_neighbourhoods_follow_edges_and_no_more_than_asked():
    piece = DRAWN.of(TRAIN, 1)
    edges = edges_of(piece)
    assert edges == {(b, a) for a, b in edges}
    assert len(edges) == piece.edges.shape[1]  # each once
    users = piece.inputs[:, 1] == 1
    assert all(users[a] != users[b] for a, b in edges)
    assert 5 < len(piece.inputs) <= 5 * (1 + 3 + 9)
    followed = np.bincount(piece.edges[0], minlength=len(users))
    assert followed.min() >= 1  # no node that no edge led to
    degrees = {(int(d), True) for d in TRAIN.csr().getnnz(axis=1)}
    degrees |= {(int(d), False) for d in TRAIN.csr().getnnz(axis=0)}
    kept = np.round(np.expm1(piece.inputs[:, 0])).astype(int)
    assert set(zip(kept.tolist(), users.tolist())) <= degrees


def test_all_partners_are_followed_where_they_are_few():
    """One ego, and room for all: its component out to the hops."""
    chain = rows([0, 1, 1, 2], ["a", "a", "b", "b"])
    for hops, n in ((1, {2, 3}), (2, {3, 4, 5}), (4, {5})):
        piece = Pieces(whole=0, egos=1, fanout=9, hops=hops).of(chain, 0)
        assert len(piece.inputs) in n
        assert len(edges_of(piece)) == 2 * (len(piece.inputs) - 1)


def test_draws_are_of_the_seed_and_not_of_the_order_of_rows():
    one = DRAWN.of(TRAIN, 1)
    assert np.array_equal(one.edges, DRAWN.of(shuffled(TRAIN), 1).edges)
    other = DRAWN.of(TRAIN, 2)
    assert one.edges.shape != other.edges.shape or not np.array_equal(one.edges, other.edges)


def test_refusals():
    with pytest.raises(DataError, match="no rows to make a graph of"):
        Pieces().of(TRAIN.take(np.zeros(len(TRAIN), bool)))
    with pytest.raises(SpecError, match="egos must be a whole number >= 1"):
        Pieces(egos=0)
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(SpecError, match="need PyTorch, which is not installed"):
            InfoGraph().fit([Pieces().of(TRAIN)] * 2)
