"""IALS: matrix factorisation of implicit feedback by alternating ridge regressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, seed_of, uniform_elements
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._base import Monitor, Recommender
from fullrank.models._pattern import Pattern, pattern, turned
from fullrank.models._ridge import Shared, Solver, gram_of
from fullrank.models._threads import one_blas_thread, run_chunks
from fullrank.models._training import Stop, about
from fullrank.models._training import train as run_epochs

_ROWS = 128
_LARGEST = float(np.finfo(np.float32).max)


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

    An epoch solves all users, then all items, in float32. Item factors start as normal draws of
    standard deviation ``0.1 / sqrt(embedding_dim)``, each a hash of seed, item and dimension. A
    query is folded in by the users' own step from its history, so a training user whose history is
    the training row gets the factors that the next epoch would give. Without a history, and for
    items without training rows, factors and scores are 0.

    ``solver="cg"`` solves each row by conjugate gradients, to ``tolerance`` (Takács, Pilászy & Tikk
    2011, "Applications of the conjugate gradient method for implicit feedback collaborative
    filtering"). Theirs start from the factors of the last epoch; ours start from 0, so that a
    row's factors depend on nothing but its indices (equal rows tie, and fold-in is the same step),
    and make up for it by a preconditioner: a row of length n has on average the matrix
    ``unobserved_weight HᵀH + reg_0 I + n (E + c I)``, with E the mean of ``h hᵀ`` over S and
    ``reg_0 + c n`` the regularisation. One basis makes this diagonal for all n at once. A step
    costs ``4 n d + 2 d²`` operations; ``solver="cholesky"`` solves a row exactly, for
    ``2 n d² + d³ / 3``.

    Attributes:
        embedding_dim: number of factors.
        reg: regularisation, > 0.
        unobserved_weight: weight of every cell as a zero (the paper's alpha_0), > 0.
        nu: exponent of the frequency in the regularisation.
        epochs: alternations.
        solver: ``cg`` or ``cholesky``.
        tolerance: conjugate gradients of a row stop where the residual is this share of the first,
            both measured by the preconditioner; > 0.
            Where the equations are worst conditioned in the search space (``reg`` 1e-4,
            ``unobserved_weight`` 0.01; 64 factors, 8 epochs, means of three seeds) NDCG@20 was
            0.1849 on MovieLens 100K and 0.1817 on 1M, with Cholesky 0.1851 and 0.1829, with
            ``tolerance=0.001`` 0.1855 and 0.1828: there take that.
    """

    embedding_dim: int = 64
    reg: float = 0.003
    unobserved_weight: float = 0.3
    nu: float = 1.0
    epochs: int = 16
    solver: Solver = "cg"
    tolerance: float = 0.003

    version: ClassVar[int] = 2  # 1 solved in float64, by Cholesky alone
    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_", "gram_", "moment_")
    complexity: ClassVar[str] = (
        "(|R| d + (m + n) d²) × steps an epoch; |R| d² + (m + n) d³ by Cholesky"
    )
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "reg": {"low": 1e-4, "high": 0.1, "log": True},
        "unobserved_weight": {"low": 0.01, "high": 2.0, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding_dim", "epochs"):
            if getattr(self, name) < 1:
                raise SpecError(f"IALS: {name} must be >= 1, got {getattr(self, name)!r}")
        for name in ("reg", "unobserved_weight", "tolerance"):
            if not getattr(self, name) > 0:
                raise SpecError(f"IALS: {name} must be > 0, got {getattr(self, name)!r}")
        if not self.tolerance < 1:
            raise SpecError(f"IALS: tolerance must be < 1, a share, got {self.tolerance!r}")
        if not self.nu >= 0:
            raise SpecError(f"IALS: nu must be >= 0, got {self.nu!r}")
        if self.solver not in get_args(Solver):
            hint = suggest(self.solver, get_args(Solver))
            raise SpecError(f"IALS: unknown solver {self.solver!r}{hint}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        matrix = train.csr("binary")
        by_user, by_item = pattern(matrix), pattern(turned(matrix))
        n_users = int(self.known_users_.sum())
        seed = seed_of(rng)
        items = _initial(train.item_vocab, self.embedding_dim, seed)
        items[~self.known_items_] = 0.0
        state = {"items": items}

        def epoch(_: int, __: Stop) -> None:
            shared = self._shared(state["items"], by_item, by_user, self._n_known())
            users = self._solve(by_user, shared)
            shared = self._shared(users, by_user, by_item, n_users, spent=True)
            state["items"] = self._solve(by_item, shared)

        def publish() -> None:
            shared = self._shared(state["items"], by_item, by_user, self._n_known())
            if not bool(np.isfinite(state["items"]).all()):
                raise np.linalg.LinAlgError("factors are not finite")
            self.item_factors_, self.gram_ = state["items"], shared.gram
            self.moment_, self._users_step = shared.moment, shared

        with one_blas_thread(), self._solvable():  # to limit BLAS takes as long as small epochs
            run_epochs(
                self, self.epochs, epoch,
                publish=publish, state=lambda: dict(state), restore=state.update,
                about=lambda: about(self, train, seed),
            )  # fmt: skip

    @contextmanager
    def _solvable(self) -> Iterator[None]:
        """Say what to do where the equations are too near singular, or overflow, in float32."""
        try:
            yield
        except (np.linalg.LinAlgError, FloatingPointError) as error:
            raise SpecError(
                f"IALS: the equations can't be solved in float32 with reg={self.reg:g}, "
                f"nu={self.nu:g}, unobserved_weight={self.unobserved_weight:g} and "
                f"embedding_dim={self.embedding_dim} ({error}); {self._remedy()}"
            ) from error

    def _remedy(self) -> str:
        """What is too large, if anything is; else the equations are near singular."""
        n = max(self._n_known(), int(self.known_users_.sum()))
        with np.errstate(over="ignore"):
            power = float(np.float64(n * (1 + self.unobserved_weight)) ** self.nu)
        size = {"reg": self.reg, "unobserved_weight": self.unobserved_weight}
        if self.nu > 1:
            size["nu"] = power
        if max(self.reg * power, self.unobserved_weight) < _LARGEST**0.75:
            return "raise reg or lower embedding_dim"
        return f"lower {max(size, key=lambda name: size[name])}"

    def _n_known(self) -> int:
        return int(self.known_items_.sum())

    def _shared(
        self,
        factors: NDArray[np.float32],
        own: Pattern,
        others: Pattern,
        n_known: int,
        *,
        spent: bool = False,
    ) -> Shared:
        """Sums over the factors of one side, for the step that solves the other.

        Args:
            factors: float32 ``[m, d]``.
            own: rows of the side that the factors are of.
            others: rows of the side to be solved.
            n_known: how many of the factors have training rows.
            spent: the factors may be overwritten.
        """
        counts, lengths = np.diff(own[0]), np.diff(others[0])
        lengths = lengths[lengths > 0]
        regs = self._regs(lengths, n_known)
        slope = max(float(regs.mean()) - self._floor(n_known), 0.0) / lengths.mean()
        moment = gram_of(factors, counts / counts.sum()) + slope * np.eye(factors.shape[1])
        gram = self.unobserved_weight * gram_of(factors)
        rest = (self._floor(n_known), n_known, self.solver)
        return Shared.of(factors, gram, moment, *rest, spent=spent)

    def _regs(self, lengths: NDArray[np.int64], n_known: int) -> NDArray[np.float64]:
        frequency = lengths + self.unobserved_weight * n_known
        with np.errstate(over="ignore"):
            regs = np.asarray(self.reg * frequency**self.nu)
        if not regs.max(initial=0.0) < _LARGEST:
            raise np.linalg.LinAlgError("the regularisation is beyond float32")
        return regs

    def _floor(self, n_known: int) -> float:
        """Regularisation of a row without indices, which all rows share."""
        return float(self._regs(np.zeros(1, dtype=np.int64), n_known)[0])

    def _solve(self, rows: Pattern, shared: Shared) -> NDArray[np.float32]:
        """One half of an epoch: the factors ``[n, d]`` of all rows, given those of the others."""
        from fullrank.kernels.ials import solve_rows_cg, solve_rows_exactly

        indptr, indices = rows
        regs = self._regs(np.diff(indptr), shared.n_known)
        out = np.zeros((len(regs), len(shared.gram)), dtype=np.float32)

        def solve(start: int, stop: int) -> None:
            part = (start, stop, indptr, indices)
            if shared.cg is not None:
                solve_rows_cg(*part, shared.cg, excess, self.tolerance, out)
            elif shared.exact is not None:
                solve_rows_exactly(*part, shared.exact, excess, out)

        excess = (regs - shared.floor).astype(np.float32)
        run_chunks(solve, len(regs), _ROWS)
        return out

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """The users' step from each history: float32 ``[q, d]``."""
        self.check(queries)
        with one_blas_thread(), self._solvable():
            if not hasattr(self, "_users_step"):
                n, floor = self._n_known(), self._floor(self._n_known())
                self._users_step = Shared.of(
                    self.item_factors_, self.gram_, self.moment_, floor, n, self.solver
                )
            return self._solve(pattern(queries.history_csr()), self._users_step)


def _initial(items: Vocabulary, d: int, seed: int) -> NDArray[np.float32]:
    """Normal draws ``[n_items, d]`` by Box and Muller, from hashes of item and dimension."""
    hashes = np.repeat(items.hashes, d)
    dims = np.tile(np.arange(d), len(items))
    radius = uniform_elements(derive(seed, "IALS", "radius"), hashes, dims)
    angle = uniform_elements(derive(seed, "IALS", "angle"), hashes, dims)
    normal = np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)
    draws: NDArray[np.float32] = (normal * (0.1 / np.sqrt(d))).astype(np.float32)
    return draws.reshape(len(items), d)
