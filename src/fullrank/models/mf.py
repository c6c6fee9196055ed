"""MF: matrix factorisation of ratings, with biases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, hash_elements, seed_of
from fullrank.models._base import Monitor, Recommender
from fullrank.models._draws import normal_draws
from fullrank.models._sparse import history_values, transpose, triple
from fullrank.models._threads import one_blas_thread, run_chunks
from fullrank.models._training import Stop, train_arrays

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Solver = Literal["als", "sgd"]
Arrays = dict[str, NDArray[np.float32]]

_CHUNK = 64

# Parts that users and items are cut into for gradient descent: no more threads than that can help.
_PARTS = 16


@dataclass(eq=False)
class MF(Recommender):
    """Predict ratings by ``mean + b_u + b_i + p_u · q_i``.

    Koren, Bell & Volinsky 2009, "Matrix factorization techniques for recommender systems",
    equations 4 and 5; over the training cells (of several rows of a pair the last one) it minimises

        sum (r - mean - b_u - b_i - p_u · q_i)^2
            + reg (sum_u s_u (|p_u|^2 + b_u^2) + sum_i s_i (|q_i|^2 + b_i^2))

    with s the number of cells of the user or item (Zhou, Wilkinson, Schreiber & Pan 2008, "Large-
    scale parallel collaborative filtering for the Netflix prize", equation 3: ALS-WR, there without
    biases), or 1 with ``weighted=False``.

    ``solver="als"`` sets all users to their optimum, factors and bias jointly, then all items: the
    objective never rises. ``solver="sgd"`` takes a step for each cell, in a new random order each
    epoch; its regularisation is weighted by nature. Cells are cut into 16 times 16 blocks by
    hashes of user and item, and 16 blocks that share neither are walked in parallel (Gemulla et al.
    2011, "Large-scale matrix factorization with distributed stochastic gradient descent"), so that
    the result hangs on the seed and not on threads.

    Factors start as normal draws of standard deviation 0.1, a hash of seed, id and dimension. A
    query is folded in by the users' step of ALS from the values of its history, after either
    solver, so that equal histories score alike. Without a history ``p_u`` and ``b_u`` are 0; so
    are those of items without rows. ``score`` orders by ``b_i + p_u · q_i``.

    Defaults come from a search on a random tenth of MovieLens 100K: RMSE 0.906 by ALS with
    ``reg=0.12`` (0.908 with 0.15, 0.922 with 0.08; 32 factors, 20 epochs) and 0.907 by SGD with
    ``reg=0.1`` in 40 epochs; BiasOnly had 0.944. For lists take another model: what is rated
    is no random choice, and a model of ratings alone, which learns nothing from that, had an
    NDCG@10 of 0.005 where Popularity had 0.033 (Cremonesi, Koren & Turrin 2010 explain it).

    Attributes:
        embedding_dim: number of factors.
        reg: regularisation, > 0.
        epochs: alternations, or passes over the cells.
        solver: ``als`` or ``sgd``.
        weighted: regularise by frequency (ALS only; SGD does always).
        learning_rate: length of a step of SGD, > 0.
    """

    embedding_dim: int = 32
    reg: float = 0.12
    epochs: int = 30
    solver: Solver = "als"
    weighted: bool = True
    learning_rate: float = 0.01

    folds_in: ClassVar[bool] = True
    uses_values: ClassVar[bool] = True
    predicts_ratings: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("mean_", "item_factors_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": {"low": 8, "high": 128, "log": True},
        "reg": {"low": 0.01, "high": 1.0, "log": True},
        "solver": ["als", "sgd"],
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding_dim", "epochs"):
            if getattr(self, name) < 1:
                raise SpecError(f"MF: {name} must be >= 1, got {getattr(self, name)!r}")
        for name in ("reg", "learning_rate"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise SpecError(f"MF: {name} must be > 0 and finite, got {value!r}")
        if self.solver not in get_args(Solver):
            hint = suggest(self.solver, get_args(Solver))
            raise SpecError(f"MF: unknown solver {self.solver!r}{hint}")
        if self.solver == "sgd" and not self.weighted:
            raise SpecError("MF: weighted=False needs solver='als'; a step of SGD weighs each cell")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        if train.values is None:
            raise DataError(
                "MF needs ratings and the training rows have no values; name the column "
                "(columns rating=…) or take IALS"
            )
        matrix = train.csr("values")
        self.mean_ = float(matrix.data.mean(dtype=np.float64))
        seed = seed_of(rng)
        arrays = {side: self._start(train, seed, side) for side in ("user", "item")}
        arrays["item"][~self.known_items_] = 0.0
        make = self._alternation if self.solver == "als" else self._descent
        move = make(train, matrix, seed, arrays)

        def epoch(number: int, _: Stop) -> None:
            move(number)
            if not bool(np.isfinite(arrays["item"]).all()):
                raise SpecError(
                    f"MF: factors are not finite after epoch {number + 1} with "
                    f"learning_rate={self.learning_rate:g} and reg={self.reg:g}; lower "
                    "learning_rate, or take solver='als'"
                )

        def publish() -> None:
            self.item_factors_ = arrays["item"].copy()
            """Float32 ``[n_items, d + 1]``: q_i, and last b_i."""

        train_arrays(self, self.epochs, epoch, arrays=arrays, publish=publish, rows=train, rng=seed)

    def _alternation(
        self, train: Interactions, matrix: csr_matrix, seed: int, arrays: Arrays
    ) -> Callable[[int], None]:
        """An epoch of ALS."""
        by_item = transpose(matrix)

        def move(_: int) -> None:
            try:
                arrays["user"][:] = self._solve(matrix, arrays["item"])
                arrays["item"][:] = self._solve(by_item, arrays["user"])
            except np.linalg.LinAlgError as error:
                raise SpecError(
                    f"MF: the equations can't be solved with reg={self.reg:g} and values up to "
                    f"{np.abs(matrix.data).max():g}; raise reg, or scale the values"
                ) from error

        return move

    def _descent(
        self, train: Interactions, matrix: csr_matrix, seed: int, arrays: Arrays
    ) -> Callable[[int], None]:
        """An epoch of SGD."""
        from fullrank.kernels.ratings import descend

        rows = np.repeat(np.arange(train.n_users, dtype=np.int32), np.diff(matrix.indptr))
        cells = (rows, matrix.indices.astype(np.int32), matrix.data.astype(np.float64))
        user_parts = (train.user_vocab.hashes % np.uint64(_PARTS)).astype(np.int64)[rows]
        item_parts = (train.item_vocab.hashes % np.uint64(_PARTS)).astype(np.int64)[cells[1]]
        block = user_parts * _PARTS + item_parts
        order = np.argsort(block, kind="stable")
        ends = np.searchsorted(block[order], np.arange(_PARTS**2 + 1))
        numbers = (self.mean_, float(self.learning_rate), float(self.reg))
        rest = (cells, *numbers, arrays["user"], arrays["item"])

        def step(block: int, seed: np.uint64) -> None:
            descend(order[ends[block] : ends[block + 1]], seed, *rest)

        parts = np.arange(_PARTS)

        def move(epoch: int) -> None:
            seeds = hash_elements(derive(seed, "MF", "order", epoch), np.arange(_PARTS**2))
            for stratum in range(_PARTS):
                blocks = parts * _PARTS + (parts + stratum) % _PARTS
                run_chunks(partial(_each, step, blocks, seeds), _PARTS, 1)

        return move

    def _start(self, train: Interactions, seed: int, side: str) -> NDArray[np.float32]:
        """Normal factors and biases of 0, ``[n, d + 1]``."""
        vocab = train.user_vocab if side == "user" else train.item_vocab
        draws = 0.1 * normal_draws(vocab, self.embedding_dim, seed, f"MF {side}")
        return np.column_stack([draws, np.zeros(len(draws))]).astype(np.float32)

    def _solve(self, rows: csr_matrix, others: NDArray[np.float32]) -> NDArray[np.float32]:
        """Factors and biases ``[n, d + 1]`` of all rows, given those of the other side."""
        from fullrank.kernels.ratings import solve_ratings

        out = np.zeros((rows.shape[0], others.shape[1]), dtype=np.float32)
        rest = (triple(rows, np.float32), others, self.mean_, float(self.reg), self.weighted, out)
        run_chunks(lambda start, stop: solve_ratings(start, stop, *rest), len(out), _CHUNK)
        return out

    def item_factors(self) -> NDArray[np.float32]:
        """q_i and b_i, float32 ``[n_items, d + 1]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """p_u from each history, and 1: float32 ``[q, d + 1]``."""
        out = self._users(queries)
        out[:, -1] = 1.0
        return out

    def _users(self, queries: Queries) -> NDArray[np.float32]:
        self.check(queries)
        with one_blas_thread():
            return self._solve(history_values(queries, "MF"), self.item_factors_)

    def predict(self, queries: Queries, items: NDArray[np.int32]) -> NDArray[np.float64]:
        """Predict the rating that query ``i`` gives ``items[i]``; not clipped to the scale.

        Returns:
            float64 ``[q]``.

        Raises:
            DataError: the histories carry no values.
        """
        users = self._users(queries).astype(np.float64)
        theirs = self.item_factors_[items].astype(np.float64)
        dots = (users[:, :-1] * theirs[:, :-1]).sum(axis=1)
        return np.asarray(self.mean_ + users[:, -1] + theirs[:, -1] + dots)


def _each(
    step: Callable[[int, np.uint64], None],
    blocks: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    start: int,
    stop: int,
) -> None:
    """Take the steps of some blocks."""
    for block in blocks[start:stop]:
        step(int(block), seeds[block])
