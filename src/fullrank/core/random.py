"""Randomness per element: a hash of seed and index, so that no order, thread or chunk matters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.threads import run_chunks

_HASHED_ROWS = 1 << 16  # a block that stays in the cache

RNG = int | np.random.Generator | np.random.SeedSequence | None

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Steele, Lea & Flood 2014, SplitMix64
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def generator(rng: RNG) -> np.random.Generator:
    """Turn a seed or generator into a ``numpy.random.Generator`` (SPEC 7)."""
    known = rng is None or isinstance(
        rng, int | np.integer | np.random.Generator | np.random.SeedSequence | Sequence
    )
    if isinstance(rng, bool | str) or not known or (isinstance(rng, int | np.integer) and rng < 0):
        raise SpecError(f"rng must be a seed >= 0 or a numpy Generator, got {rng!r}")
    return np.random.default_rng(rng)


def seed_of(rng: RNG) -> int:
    """Return one 63-bit seed for per-element hashing; a seed is returned as it is."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    return int(generator(rng).integers(0, 2**63 - 1))


def derive(seed: int, *names: object) -> int:
    """Derive a 63-bit seed from a seed and a path of names; stable across versions and machines."""
    text = "\x1f".join([str(int(seed)), *(str(name) for name in names)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Finalise 64-bit values by SplitMix64: a bijection that passes for random bits."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX1
        z = (z ^ (z >> np.uint64(27))) * _MIX2
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def hash_elements(seed: int, *columns: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Hash rows of integer columns with a seed: uint64[n], one independent draw an element."""
    state = mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    out = np.broadcast_to(state, columns[0].shape) if columns else state
    for column in columns:
        out = mix(out ^ mix(np.ascontiguousarray(column).astype(np.uint64, copy=False)))
    return np.array(out, dtype=np.uint64)


def row_hash_sums(
    seeds: Sequence[int], n: int, columns: Sequence[Callable[[slice], NDArray[np.uint64]]]
) -> NDArray[np.uint64]:
    """Sum of ``hash_elements(seed, *columns)`` for each seed, free of the order of rows.

    Args:
        seeds: of the sums.
        n: number of rows.
        columns: gives the uint64 of a slice of rows; so no column is made as a whole.

    Returns:
        uint64 ``[len(seeds)]``, modulo 2**64.
    """
    from fullrank.kernels.hash_sums import absorb

    begin = mix(np.array([seed & 0xFFFFFFFFFFFFFFFF for seed in seeds], dtype=np.uint64))

    def part(start: int, stop: int) -> NDArray[np.uint64]:
        states = np.repeat(begin[:, None], stop - start, axis=1)
        for column in columns:
            absorb(states, column(slice(start, stop)))
        return np.asarray(states.sum(axis=1, dtype=np.uint64))

    parts = run_chunks(part, n, _HASHED_ROWS)
    return np.asarray(np.sum([np.zeros(len(seeds), np.uint64), *parts], axis=0, dtype=np.uint64))


def hash_of_rows(*columns: NDArray[np.generic]) -> str:
    """128 bits of hex over a set of rows of integer columns, free of their order."""
    with np.errstate(over="ignore"):
        sums = [int(hash_elements(seed, *columns).sum(dtype=np.uint64)) for seed in (1, 2)]
    text = f"{len(columns[0])}|{sums[0]}|{sums[1]}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def uniform_elements(seed: int, *columns: NDArray[np.generic]) -> NDArray[np.float64]:
    """Uniform draws in [0, 1), one an element, from ``hash_elements``."""
    bits = hash_elements(seed, *columns) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def hash_labels(labels: Iterable[object]) -> NDArray[np.uint64]:
    """Hash text labels to uint64 by blake2b of their UTF-8 bytes; stable everywhere."""
    joined = bytearray()
    for label in labels:
        joined += hashlib.blake2b(str(label).encode(), digest_size=8).digest()
    return np.frombuffer(bytes(joined), dtype="<u8").astype(np.uint64)
