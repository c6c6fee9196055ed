"""What models share that learn items against a context, a positive at a time, in one thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, hash_elements
from fullrank.models._base import Recommender
from fullrank.models._descent import How, _step, base_of, check_steps, goal_of
from fullrank.models._init import start
from fullrank.models._optimiser import SGD

if TYPE_CHECKING:
    from fullrank.kernels.descent import Blocks, Factors, Positives, Step


@dataclass(eq=False)
class Stepped(Recommender):
    """Base of those: their settings and start.

    A fit is one chain of steps in an order hashed from outside ids, so that threads change nothing.

    Attributes:
        embedding_dim: number of factors.
        epochs: passes over the rows.
        learning_rate: of a step of plain gradient descent, > 0.
        reg: L2 on what a step meets, >= 0.
        objective: ``bpr``, ``hinge``, ``top1``, ``squared``, ``cross_entropy``, ``softmax``,
            ``warp``.
        negatives: ``uniform``, ``popularity(exponent=0.75)``, ``mixture(…)`` or
            ``hardest(uniform, of=5)``, of the items that the user doesn't have.
        negatives_per_positive: negatives of a step; for ``warp`` looked at, at most.
        init: ``normal(std=0.1)``, ``uniform(low=0, high=1)``, ``xavier_uniform``, ….
    """

    embedding_dim: int = 64
    epochs: int = 30
    learning_rate: float = 0.05
    reg: float = 0.01
    objective: str = "bpr"
    negatives: str = "uniform"
    negatives_per_positive: int = 1
    init: str = "normal(std=0.1)"

    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_steps(self)

    def _steps(self, train: Interactions, seed: int) -> tuple[Positives, Blocks, Step]:
        """The distinct pairs, the items that negatives come from, and how a step is made."""
        from fullrank.kernels.descent import Blocks, Positives

        matrix = train.csr("binary")
        users = np.repeat(np.arange(train.n_users, dtype=np.int32), np.diff(matrix.indptr))
        items = matrix.indices.astype(np.int32)
        keys = hash_elements(derive(seed, "positives"), train.user_vocab.hashes[users],
                             train.item_vocab.hashes[items])  # fmt: skip
        base, hardest = base_of(self.negatives, type(self).__name__)
        known = np.flatnonzero(train.item_counts > 0).astype(np.int32)
        weights = base.prepare(train.item_counts).probabilities(train.n_items)[known]
        nothing, none = np.zeros(0, np.int32), np.zeros(0, np.uint64)
        pool = Blocks(
            nothing, nothing, none, np.zeros(0, np.int64), known,
            np.array([0, len(known)]), np.append(0.0, np.cumsum(weights)),
            bool((weights == weights[0]).all()),
        )  # fmt: skip
        how = How(
            goal_of(self), self.negatives, self.negatives_per_positive, self.learning_rate,
            self.reg, 0.0, SGD(), False,
        )  # fmt: skip
        positives = Positives(users, items, matrix.indptr.astype(np.int64), keys)
        return positives, pool, _step(how, hardest, len(known))

    def _table(
        self, side: str, known: NDArray[np.bool_], width: int, seed: int
    ) -> NDArray[np.float32]:
        """Float32 ``[n, width]`` to start from; 0 for rows of what is not known."""
        table = start(self.init, (len(known), width), seed, side)
        table[~known] = 0.0
        return table

    def _factors(self, items: NDArray[np.float32]) -> Factors:
        """Items, their biases 0, and a scratch row for the context."""
        from fullrank.kernels.descent import Factors

        unused = np.zeros((1, 1), np.float32)
        return Factors(
            np.zeros((1, items.shape[1]), np.float32), items, np.zeros(1, np.float32),
            np.zeros(len(items), np.float32), unused, unused,
        )  # fmt: skip

    def _with_bias(self, factors: Factors, *others: NDArray[np.float32]) -> NDArray[np.float32]:
        """Float32 ``[n_items, d + 1]``: items, and last the bias, the least for unknown items.

        Raises:
            SpecError: something is not finite.
        """
        if not all(bool(np.isfinite(part).all()) for part in (factors.items, *others)):
            raise SpecError(
                f"{type(self).__name__}: factors are not finite with "
                f"learning_rate={self.learning_rate:g} and reg={self.reg:g}; lower learning_rate"
            )
        bias = factors.item_bias.copy()
        bias[~self.known_items_] = bias[self.known_items_].min()
        return np.hstack([factors.items, bias[:, None]])
