"""DCF: users and items as binary codes, learnt bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, seed_of
from fullrank.models._base import Monitor, Recommender
from fullrank.models._ridge import gram_of
from fullrank.models._sparse import history_values, transpose, triple
from fullrank.models._threads import one_blas_thread, run_chunks
from fullrank.models._training import Stop, train_arrays
from fullrank.models._values import check_values
from fullrank.models.ials import IALS
from fullrank.models.mf import MF

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_CHUNK = 64

# Cycles over the bits of a row; the paper's code takes 5 in training. A query's settle well before.
_TRAIN, _FOLD_IN = 5, 50


@dataclass(eq=False)
class DCF(Recommender):
    """Score by ``b_u · d_i``, codes of ±1: the Hamming similarity of user and item.

    Zhang, Shen, Liu, He, Luan & Chua 2016, "Discrete collaborative filtering", equation 6. With n
    the length of the codes and S the matrix, scaled from -n to n, it minimises

        sum over cells (S_ui - b_u · d_i)^2 + unobserved_weight sum over others (-n - b_u · d_i)^2
            - 2 alpha tr(BᵀX) - 2 beta tr(DᵀY)

    over codes B, D and their delegates X, Y: real matrices that are balanced (columns sum to 0) and
    decorrelated (``XᵀX = m I``), which pulls codes to bits that split users and items in halves and
    tell different things. An epoch sets the bits of all users, those of all items, each to the
    sign that lowers the objective, and the delegates to ``sqrt(m) J B (BᵀJB)^-½``, J the centring
    (the paper's SVD; directions in which codes don't vary are left out).

    Departures. Implicit data: cells are n, and the paper's sum over rated cells alone, which says
    nothing then, has all others at -n beside it, as in iALS. With ``values=True`` cells are
    values, their range scaled to -n … n, and others count only if ``unobserved_weight`` says so.
    Items start from the signs of the decorrelated factors of IALS, or of MF (the paper solves a
    relaxed problem of its own). A query is folded in by the users' step without delegate: bits one
    after another from 0, until none changes; so equal histories score alike. Without a history,
    and for items without training rows, codes and scores are 0.

    Defaults are the best of three settings on validation parts of MovieLens 100K (last row of each
    user, and a global cut): NDCG@10 0.042 and 0.103, with ``alpha`` and ``beta`` of 100 0.038 and
    0.102; Popularity 0.033 and 0.118: codes of 64 bits order the best items coarsely, with ties.

    Attributes:
        embedding_dim: bits of a code.
        alpha: pull of users' codes to their delegate, >= 0.
        beta: pull of items' codes to theirs, >= 0.
        unobserved_weight: weight of cells that aren't there, >= 0; above 0 if not ``values``.
        values: cells are values, not ones.
        epochs: cycles over all users and items.
    """

    embedding_dim: int = 64
    alpha: float = 1.0
    beta: float = 1.0
    unobserved_weight: float = 0.1
    values: bool = False
    epochs: int = 4

    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_", "range_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "alpha": {"low": 1e-2, "high": 1e4, "log": True},
        "beta": {"low": 1e-2, "high": 1e4, "log": True},
        "unobserved_weight": {"low": 1e-3, "high": 1.0, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding_dim", "epochs"):
            if getattr(self, name) < 1:
                raise SpecError(f"DCF: {name} must be >= 1, got {getattr(self, name)!r}")
        for name in ("alpha", "beta", "unobserved_weight"):
            value = getattr(self, name)
            if not 0 <= value < np.inf:
                raise SpecError(f"DCF: {name} must be >= 0 and finite, got {value!r}")
        if self.unobserved_weight == 0 and not self.values:
            raise SpecError(
                "DCF: unobserved_weight must be > 0 if values=False: cells that are all alike say "
                "nothing alone"
            )

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        if self.values and train.values is None:
            raise DataError(
                "DCF(values=True) codes values and the training rows have none; name the column, "
                "or take values=False"
            )
        if self.values:
            check_values(train, "DCF(values=True)")
        matrix = train.csr("values" if self.values else "binary")
        self.range_ = np.array([matrix.data.min(), matrix.data.max()], dtype=np.float64)
        matrix = self._scaled(matrix)
        by_item = transpose(matrix)
        seed = seed_of(rng)
        items = self._start(train, seed)
        users = np.zeros((train.n_users, self.embedding_dim), dtype=np.float32)
        near_users, near_items = np.zeros(users.shape), np.zeros(items.shape)
        with one_blas_thread():
            near_items[:] = self.beta * _delegate(items)

        def epoch(_: int, __: Stop) -> None:
            self._set_bits(matrix, items, near_users, _TRAIN, users)
            near_users[:] = self.alpha * _delegate(users)
            self._set_bits(by_item, users, near_items, _TRAIN, items)
            near_items[:] = self.beta * _delegate(items)

        def publish() -> None:
            self.item_factors_ = items.copy()

        arrays: dict[str, NDArray[Any]] = {
            "users": users, "items": items, "near_users": near_users, "near_items": near_items
        }  # fmt: skip
        train_arrays(self, self.epochs, epoch, arrays=arrays, publish=publish, rows=train, rng=seed)

    def _start(self, train: Interactions, rng: RNG) -> NDArray[np.float32]:
        """Signs of balanced and decorrelated real factors; 0 for items without rows."""
        d = self.embedding_dim
        model = MF(embedding_dim=d) if self.values else IALS(embedding_dim=d)
        factors = model.fit(train, rng=rng).item_factors()[:, :d].copy()
        factors[~self.known_items_] = 0.0
        with one_blas_thread():
            signs = np.where(_delegate(factors) >= 0, 1.0, -1.0)
        signs[~self.known_items_] = 0.0
        return signs.astype(np.float32)

    def _scaled(self, matrix: csr_matrix) -> csr_matrix:
        """Cells from -n to n; n where all are alike."""
        low, high = self.range_
        n = float(self.embedding_dim)
        data = np.full(matrix.nnz, n)
        if high > low:
            data = np.clip((matrix.data - low) / (high - low) * 2 * n - n, -n, n)
        parts = (data.astype(np.float32), matrix.indices, matrix.indptr)
        return type(matrix)(parts, shape=matrix.shape)

    def _set_bits(
        self,
        rows: csr_matrix,
        codes: NDArray[np.float32],
        near: NDArray[np.float64],
        cycles: int,
        out: NDArray[np.float32],
    ) -> None:
        """Set the bits of ``out`` (``[n, d]``), given the codes of the other side."""
        from fullrank.kernels.bits import code_rows

        sums = (gram_of(codes), codes.sum(axis=0, dtype=np.float64))
        turned_codes = np.ascontiguousarray(codes.T)
        weight = float(self.unobserved_weight)
        rest = (triple(rows, np.float32), turned_codes, sums, weight, near, cycles, out)
        run_chunks(lambda start, stop: code_rows(start, stop, *rest), len(out), _CHUNK)

    def item_factors(self) -> NDArray[np.float32]:
        """Codes of ±1 (0 without training rows), float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """Codes of the histories, float32 ``[q, d]``."""
        self.check(queries)
        rows = history_values(queries, "DCF(values=True)") if self.values else queries.history_csr()
        out = np.zeros((len(queries), self.item_factors_.shape[1]), dtype=np.float32)
        with one_blas_thread():
            self._set_bits(
                self._scaled(rows), self.item_factors_, np.zeros(out.shape), _FOLD_IN, out
            )
        return out


def _delegate(codes: NDArray[np.float32]) -> NDArray[np.float64]:
    """The balanced, decorrelated matrix that is nearest to codes ``[m, d]``; zero rows stay so."""
    there = codes.any(axis=1)
    some = codes[there].astype(np.float64)
    if len(some) == 0:
        return np.zeros(codes.shape)
    some -= some.mean(axis=0)
    values, vectors = np.linalg.eigh(some.T @ some)
    kept = values > values.max() * len(values) * np.finfo(float).eps * len(some)
    half = vectors[:, kept] / np.sqrt(values[kept]) @ vectors[:, kept].T
    out = np.zeros(codes.shape)
    out[there] = np.sqrt(len(some)) * (some @ half)
    return out
