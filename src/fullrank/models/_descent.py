"""Training of factors by stochastic gradient descent: the same result for any number of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, hash_elements
from fullrank.core.threads import run_chunks
from fullrank.models._init import initialiser
from fullrank.models._optimiser import SGD, AdaGrad, Optimiser
from fullrank.models._training import Stop
from fullrank.negatives.training import recipe
from fullrank.objectives import (
    BPR,
    WARP,
    CrossEntropy,
    Hinge,
    Objective,
    Softmax,
    Squared,
    Top1,
    objective,
)

if TYPE_CHECKING:
    from fullrank.kernels.descent import Blocks, Factors, Positives, Step
    from fullrank.negatives import Negatives

_SHAPES = ("points", "pairs", "list")

BLOCKS = 8
"""Groups of users, and of items: as many threads have work at a time. It decides the order of
steps, and so belongs to a model's ``version``."""

_FEWEST = 64
"""Items of a group, at least; fewer groups where the catalogue is small."""


@dataclass(frozen=True)
class How:
    """Settings of the descent; see ``BPRMF``."""

    objective: Objective
    negatives: str
    negatives_per_positive: int
    learning_rate: float
    reg: float
    l1_reg: float
    optimiser: Optimiser
    user_bias: bool


def check_steps(model: Any) -> None:
    """Refuse settings of a model that no steps of gradient descent can be made with.

    Args:
        model: with ``embedding_dim``, ``epochs``, ``negatives_per_positive``, ``learning_rate``,
            ``reg``, ``objective``, ``negatives`` and ``init``; ``l1_reg`` where it has one.

    Raises:
        SpecError: names the setting.
    """
    name = type(model).__name__
    for key in ("embedding_dim", "epochs", "negatives_per_positive"):
        if getattr(model, key) < 1:
            raise SpecError(
                f"{name}: {key} must be a whole number >= 1, got {getattr(model, key)!r}"
            )
    if not 0 < model.learning_rate < np.inf:
        raise SpecError(f"{name}: learning_rate must be > 0, got {model.learning_rate!r}")
    for key in ("reg", "l1_reg"):
        if not 0 <= getattr(model, key, 0.0) < np.inf:
            raise SpecError(f"{name}: {key} must be >= 0, got {getattr(model, key)!r}")
    goal_of(model)
    base_of(model.negatives, name)
    initialiser(model.init, name)


def goal_of(model: Any) -> Objective:
    """The objective of a model's settings, one that steps can be made with."""
    return objective(model.objective, model=type(model).__name__, shapes=_SHAPES)


def base_of(negatives: str, model: str) -> tuple[Negatives, int]:
    """The distribution that negatives are drawn from, and of how many the hardest is taken.

    Raises:
        SpecError: they come from a batch, and there is none.
    """
    given = recipe(negatives, model)
    if given.base is None:
        raise SpecError(
            f"{model}: negatives in_batch need batches, and this model takes one positive at a "
            "time; take uniform, popularity, mixture or hardest"
        )
    return given.base, given.hardest


class Descent:
    """Epochs of steps, one for each positive.

    Users and items are cut into groups by a hash that is new in each epoch. A stratum is a set of
    cells (group of users, group of items), one for each group of users, that share no rows, so
    that they run in parallel; strata follow each other until all cells were visited (Gemulla et
    al. 2011, "Large-scale matrix factorization with distributed stochastic gradient descent").
    Negatives come from the group of the positive: over the epochs any item of the pool.

    Args:
        train: the rows.
        how: the settings.
        seed: of order, groups and draws.
    """

    def __init__(self, train: Interactions, how: How, seed: int, model: str) -> None:
        from fullrank.kernels.descent import Positives

        matrix = train.csr("binary")
        users = np.repeat(np.arange(train.n_users, dtype=np.int32), np.diff(matrix.indptr))
        items = matrix.indices.astype(np.int32)
        self.user_hashes, self.item_hashes = train.user_vocab.hashes, train.item_vocab.hashes
        keys = hash_elements(derive(seed, "positives"), self.user_hashes[users],
                             self.item_hashes[items])  # fmt: skip
        indptr = matrix.indptr.astype(np.int64)
        self.positives: Positives = Positives(users, items, indptr, keys)
        self.known = np.flatnonzero(train.item_counts > 0).astype(np.int32)
        self.groups = int(np.clip(len(self.known) // _FEWEST, 1, BLOCKS))
        self.how, self.seed = how, derive(seed, "descent")
        base, hardest = base_of(how.negatives, model)
        self.weights = base.prepare(train.item_counts).probabilities(train.n_items)
        self.step = _step(how, hardest, len(self.known))
        self.plain = (
            isinstance(how.objective, BPR) and how.negatives_per_positive * hardest == 1
            and isinstance(how.optimiser, SGD) and how.l1_reg == 0 and not how.user_bias
        )  # fmt: skip
        """The commonest case, for which there are faster steps."""

    def epoch(self, number: int, stop: Stop, factors: Factors) -> None:
        """One step for each positive."""
        from fullrank.kernels.descent import descend
        from fullrank.kernels.descent_bpr import descend_bpr

        b, steps = self.groups, descend_bpr if self.plain else descend
        blocks = self._blocks(number)
        for stratum in range(b):
            run_chunks(
                lambda cell, _, s=stratum: steps(  # type: ignore[misc]
                    s * b + cell, s, b, factors, self.positives, blocks, self.step
                ),
                b,
                1,
            )
            if stop and stratum < b - 1:
                stop.early = True
                return

    def _blocks(self, number: int) -> Blocks:
        from fullrank.kernels.descent import Blocks, arrange

        b, n = self.groups, len(self.positives.users)
        seed = derive(self.seed, number)
        user_group = (hash_elements(derive(seed, "users"), self.user_hashes) % b).astype(np.int64)
        item_group = (hash_elements(derive(seed, "items"), self.item_hashes) % b).astype(np.int64)
        users, items = np.empty(n, np.int32), np.empty(n, np.int32)
        keys, starts = np.empty(n, np.uint64), np.empty(b * b + 1, np.int64)
        walk = (*_walk(n, seed), np.uint64(seed))
        arrange(self.positives, user_group, item_group, b, *walk, users, items, keys, starts)
        group = item_group[self.known]
        by_group = np.argsort(group, kind="stable")
        members = self.known[by_group]
        member_starts = np.searchsorted(group[by_group], np.arange(b + 1))
        running = np.concatenate([[0.0], np.cumsum(self.weights[members])])
        even = bool((self.weights[self.known] == self.weights[self.known[0]]).all())
        return Blocks(users, items, keys, starts, members, member_starts, running, even)


def _walk(n: int, seed: int) -> tuple[int, int]:
    """A stride coprime to n, and a start: a walk over all numbers below n."""
    stride = derive(seed, "stride") % max(n, 1) or 1
    while np.gcd(stride, n) != 1:
        stride = stride % n + 1
    return int(stride), derive(seed, "offset") % max(n, 1)


def _step(how: How, hardest: int, n_items: int) -> Step:
    from fullrank.kernels import slopes as codes
    from fullrank.kernels.descent import Step

    goal, option, code = how.objective, 1.0, -1
    if isinstance(goal, CrossEntropy):
        code, option = codes.CROSS_ENTROPY, goal.beta(how.negatives_per_positive, n_items)
    elif isinstance(goal, Hinge | WARP):
        code = codes.HINGE if isinstance(goal, Hinge) else codes.WARP
        option = goal.margin
    elif isinstance(goal, Softmax):
        code, option = codes.SOFTMAX, goal.temperature
    elif isinstance(goal, Squared | BPR | Top1):
        code = {Squared: codes.SQUARED, BPR: codes.BPR, Top1: codes.TOP1}[type(goal)]
    return Step(
        code, option, how.negatives_per_positive, hardest, how.learning_rate, how.reg, how.l1_reg,
        how.user_bias, isinstance(how.optimiser, AdaGrad), n_items,
    )  # fmt: skip
