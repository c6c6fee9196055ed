"""IALS: matrix factorisation of implicit feedback by alternating ridge regressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, seed_of, uniform_elements
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._base import Monitor, Recommender
from fullrank.models._product import product
from fullrank.models._sparse import Triple, transpose, triple
from fullrank.models._threads import run_chunks

_ROWS = 128
_GRAM_ROWS = 8192


@dataclass(eq=False)
class IALS(Recommender):
    """Score by ``w_u · h_i``, factors that minimise a weighted squared loss over all cells.

    Rendle et al. 2022, "Revisiting the performance of iALS on item recommendation benchmarks",
    equations 1 to 5; what is minimised is

        sum_S (1 - w_u · h_i)^2 + unobserved_weight sum_{u,i} (w_u · h_i)^2
            + reg (sum_u (|S_u| + unobserved_weight |I|)^nu |w_u|^2
                   + sum_i (|S_i| + unobserved_weight |U|)^nu |h_i|^2)

    with S the set of observed cells, ``S_u`` and ``S_i`` its rows and columns, I and U the items
    and users with training rows. ``nu = 1`` scales regularisation by frequency, ``nu = 0`` is the
    plain one of Hu, Koren & Volinsky 2008, whose confidence ``1 + alpha`` is
    ``unobserved_weight = 1 / alpha`` here, up to the scale of ``reg`` and of the scores. A good
    ``reg`` depends much on ``nu``.

    An epoch solves all users exactly, then all items, in float64. Item factors start as normal
    draws of standard deviation ``0.1 / sqrt(embedding_dim)``, each a hash of seed, item and
    dimension. A query is folded in by the users' own step from its history, so a training user
    whose history is the training row gets the factors that the next epoch would give. Without a
    history, and for items without training rows, factors and scores are 0.

    Attributes:
        embedding_dim: number of factors.
        reg: regularisation, > 0.
        unobserved_weight: weight of every cell as a zero (the paper's alpha_0), > 0.
        nu: exponent of the frequency in the regularisation.
        epochs: alternations.
    """

    embedding_dim: int = 64
    reg: float = 0.003
    unobserved_weight: float = 0.3
    nu: float = 1.0
    epochs: int = 16

    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_", "gram_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "reg": {"low": 1e-4, "high": 0.1, "log": True},
        "unobserved_weight": {"low": 0.01, "high": 2.0, "log": True},
    }

    def __post_init__(self) -> None:
        for name in ("embedding_dim", "epochs"):
            if getattr(self, name) < 1:
                raise SpecError(f"IALS: {name} must be >= 1, got {getattr(self, name)!r}")
        for name in ("reg", "unobserved_weight"):
            if not getattr(self, name) > 0:
                raise SpecError(f"IALS: {name} must be > 0, got {getattr(self, name)!r}")
        if not self.nu >= 0:
            raise SpecError(f"IALS: nu must be >= 0, got {self.nu!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        matrix = train.csr("binary")
        by_user, by_item = triple(matrix), triple(transpose(matrix))
        n_users = int(self.known_users_.sum())
        items = _initial(train.item_vocab, self.embedding_dim, seed_of(rng))
        items[~self.known_items_] = 0.0
        for epoch in range(self.epochs):
            users = self._solve(by_user, items, self._weighted_gram(items), self._n_known())
            items = self._solve(by_item, users, self._weighted_gram(users), n_users)
            if monitor is not None or epoch == self.epochs - 1:
                self._set_items(items)
            if monitor is not None and monitor(epoch, self):
                break

    def _n_known(self) -> int:
        return int(self.known_items_.sum())

    def _set_items(self, items: NDArray[np.float64]) -> None:
        """Keep float32 factors, and the Gram matrix of what is kept."""
        self.item_factors_ = items.astype(np.float32)
        self.gram_ = self._weighted_gram(self.item_factors_.astype(np.float64))

    def _weighted_gram(self, factors: NDArray[np.float64]) -> NDArray[np.float64]:
        """``unobserved_weight * FᵀF`` (upper triangle), summed in chunks of fixed size."""
        from fullrank.kernels.ials import gram_of

        parts = run_chunks(
            lambda start, stop: gram_of(start, stop, factors), len(factors), _GRAM_ROWS
        )
        total = np.zeros((factors.shape[1], factors.shape[1]))
        for part in parts:
            total += part
        return self.unobserved_weight * total

    def _solve(
        self, rows: Triple, factors: NDArray[np.float64], gram: NDArray[np.float64], n_others: int
    ) -> NDArray[np.float64]:
        """One half of an epoch: the factors of all rows, given those of the other side.

        Args:
            rows: ``[n]`` sparse rows over the other side.
            factors: float64 ``[m, d]`` of the other side.
            gram: float64 ``[d, d]``, weighted.
            n_others: users or items of the other side that have training rows.
        """
        from fullrank.kernels.ials import solve_rows

        indptr, indices, _ = rows
        frequency = np.diff(indptr) + self.unobserved_weight * n_others
        regs = self.reg * frequency**self.nu
        out = np.zeros((len(regs), factors.shape[1]))
        run_chunks(
            lambda start, stop: solve_rows(start, stop, indptr, indices, factors, gram, regs, out),
            len(regs),
            _ROWS,
        )
        return out

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        return product(self.query_factors(queries), self.item_factors_)

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """The users' step from each history: float32 ``[q, d]``."""
        self.check(queries)
        indptr, items, data = triple(queries.history_csr())
        met, places = np.unique(items, return_inverse=True)
        rows = (indptr, places.astype(np.int32), data)
        factors = self.item_factors_[met].astype(np.float64)
        return self._solve(rows, factors, self.gram_, self._n_known()).astype(np.float32)


def _initial(items: Vocabulary, d: int, seed: int) -> NDArray[np.float64]:
    """Normal draws ``[n_items, d]`` by Box and Muller, from hashes of item and dimension."""
    hashes = np.repeat(items.hashes, d)
    dims = np.tile(np.arange(d), len(items))
    radius = uniform_elements(derive(seed, "IALS", "radius"), hashes, dims)
    angle = uniform_elements(derive(seed, "IALS", "angle"), hashes, dims)
    normal = np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)
    return np.asarray(normal * (0.1 / np.sqrt(d))).reshape(len(items), d)
