"""Per-element randomness: known outputs, independence of order, and bad seeds."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.random import (
    derive,
    generator,
    hash_elements,
    hash_labels,
    mix,
    seed_of,
    uniform_elements,
)

# First outputs of SplitMix64 from state 1234567 (Steele, Lea & Flood's algorithm, as published
# in test vectors of several implementations).
SPLITMIX = [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_mix_is_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    states = [(1234567 + i * golden) % 2**64 for i in range(3)]
    assert mix(np.array(states, dtype=np.uint64)).tolist() == SPLITMIX


def test_elements_do_not_depend_on_their_neighbours() -> None:
    a, b = np.arange(1000), np.arange(1000) % 7
    whole = hash_elements(5, a, b)
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(hash_elements(5, a[order], b[order]), whole[order])
    assert len(np.unique(whole)) == 1000
    assert not np.any(whole == hash_elements(6, a, b))
    assert not np.any(whole == hash_elements(5, b, a)[np.arange(1000)[::-1]])


def test_integer_types_hash_alike() -> None:
    codes = np.arange(10)
    assert np.array_equal(hash_elements(0, codes.astype(np.int32)), hash_elements(0, codes))


def test_uniform_elements_are_uniform() -> None:
    u = uniform_elements(3, np.arange(100_000))
    assert u.min() >= 0
    assert u.max() < 1
    counts = np.bincount((u * 20).astype(int), minlength=20)
    assert ((counts - 5000) ** 2 / 5000).sum() < 43.8  # chi-square, 19 degrees, p = 0.001


def test_derive_is_stable_and_tells_paths_apart() -> None:
    assert derive(0, "a") == 3269621562527583764  # printf "0\x1fa" | b2sum -l 64, halved
    paths = {derive(0, "a", "b"), derive(0, "ab"), derive(1, "a", "b"), derive(0, "b", "a")}
    assert len(paths) == 4
    assert all(0 <= seed < 2**63 for seed in paths)


def test_labels_are_stable() -> None:
    # printf a | b2sum -l 64, little-endian
    assert hash_labels(["a", "b"]).tolist() == [3405396810240292928, 8453121595177857668]
    assert hash_labels([]).shape == (0,)


def test_seed_of() -> None:
    assert seed_of(7) == 7
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    rng = np.random.default_rng(1)
    assert seed_of(rng) != seed_of(rng)


@pytest.mark.parametrize("bad", [-1, True, np.int64(-3)])
def test_bad_seeds(bad: object) -> None:
    with pytest.raises(SpecError, match="seed >= 0"):
        generator(bad)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="seed >= 0"):
        seed_of(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [1.5, "x", float("nan"), {}, True])
def test_a_seed_of_the_wrong_type(given: object) -> None:
    for read in (generator, seed_of):
        with pytest.raises(SpecError, match="rng must be a seed >= 0 or a numpy Generator, got"):
            read(given)  # type: ignore[arg-type]
