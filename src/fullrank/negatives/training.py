"""Negatives for training: drawn for each positive anew in every epoch, never one of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.call import Call, made, plain, read_call
from fullrank.core.errors import SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, hash_elements
from fullrank.negatives._base import Negatives
from fullrank.negatives._pool import Pool
from fullrank.negatives.mixture import Mixture
from fullrank.negatives.popularity import Popularity
from fullrank.negatives.uniform import Uniform

FORMS = "uniform, popularity(exponent=0.75), mixture(uniform, popularity, share=0.5), " \
    "hardest(uniform, of=10), in_batch"  # fmt: skip
"""Examples of all forms, for messages and lists."""


@dataclass(frozen=True)
class Recipe:
    """What the text of a training sampler says.

    Attributes:
        base: the distribution; None for ``in_batch``.
        hardest: of how many draws the one with the highest score is taken (1: the draw itself).
    """

    base: Negatives | None
    hardest: int = 1


def recipe(text: str, model: str = "") -> Recipe:
    """Read a sampler of training negatives.

    Args:
        text: ``uniform``; ``popularity(exponent=0.75)``, negative for rare items;
            ``mixture(uniform, popularity(exponent=1), share=0.5)``; ``hardest(uniform, of=10)``
            (Zhang et al. 2013's dynamic sampling); ``in_batch`` (the positives of other rows).
        model: who asks, for messages.

    Raises:
        SpecError: another form, or options that mean nothing.
    """
    what = f"{model}: negatives" if model else "negatives"
    call = read_call(text, what)
    name = plain(call.name)
    if name == "inbatch":
        if call.parts or call.options:
            raise SpecError(f"{what}: in_batch has no options, got {text!r}")
        return Recipe(None)
    if name != "hardest":
        return Recipe(_distribution(call, what))
    options = dict(call.options or {})
    of = options.pop("of", 10)
    if options or len(call.parts) > 1 or isinstance(of, bool) or not isinstance(of, int) or of < 2:
        raise SpecError(
            f"{what}: hardest takes a distribution and of=, a whole number >= 2, as in "
            f"hardest(uniform, of=10); got {text!r}"
        )
    inner = call.parts[0] if call.parts else Call("uniform", (), {})
    return Recipe(_distribution(inner, what), of)


def _distribution(call: Any, what: str) -> Negatives:
    """The distribution that a call names, with replacement."""
    if not isinstance(call, Call):
        raise SpecError(f"{what}: expected a distribution, got {call!r}; forms: {FORMS}")
    given, name = dict(call.options or {}), plain(call.name)
    for option in ("m", "replacement"):
        if option in given:
            raise SpecError(
                f"{what}: {option} is no option in training, where draws are with replacement and "
                "the model says how many"
            )
    options = {"m": 1, "replacement": True, **given}
    if name == "mixture":
        if len(call.parts) != 2:
            raise SpecError(
                f"{what}: mixture takes two distributions and share=, as in mixture(uniform, "
                f"popularity, share=0.5); got {len(call.parts)}"
            )
        options["first"], options["second"] = (_distribution(p, what) for p in call.parts)
        call = Call(call.name)
    known: dict[str, Callable[..., Negatives]] = {
        "uniform": Uniform,
        "popularity": Popularity,
        "mixture": Mixture,
    }
    if name not in known:
        raise SpecError(f"{what}: unknown sampler {call.name!r}{suggest(name, known)}; forms: "
                        f"{FORMS}")  # fmt: skip
    return made(Call(call.name, call.parts, options), what, known)


class TrainingNegatives:
    """Draws for the positives of a training log, a function of seed, epoch and outside ids.

    The items of the log without those that the user has are the pool of a positive, so that no
    draw is ever one of the user's own; draws are with replacement, and the same in any batch,
    order and thread.

    Attributes:
        users: int32 ``[n]`` of the distinct pairs of the log, by user and item.
        items: int32 ``[n]``.
        free: bool ``[n_users]``; False for users who have every item: nothing can be drawn.
        usable: bool ``[n]``: ``free`` of each pair's user.
        hardest: as in ``Recipe``.
        in_batch: negatives are the positives of other rows; nothing is drawn here.
    """

    def __init__(self, text: str, train: Interactions, *, seed: int, model: str = "") -> None:
        matrix = train.csr("binary")
        given = recipe(text, model)
        self.hardest, self.in_batch = given.hardest, given.base is None
        self.users = np.repeat(np.arange(train.n_users, dtype=np.int32), np.diff(matrix.indptr))
        self.items = matrix.indices.astype(np.int32)
        known = train.item_counts > 0
        self._base = (given.base or Uniform(m=1, replacement=True)).prepare(train.item_counts)
        self._seed = derive(seed, "training negatives")
        self._user_hashes, self._item_hashes = train.user_vocab.hashes, train.item_vocab.hashes
        place_of = (np.cumsum(known) - 1).astype(np.int32)
        self._pool = Pool(
            items=np.flatnonzero(known).astype(np.int32),
            starts=matrix.indptr[:-1].astype(np.int64),
            n_excluded=np.diff(matrix.indptr).astype(np.int64),
            excluded=place_of[self.items],
            keys=np.zeros(train.n_users, np.uint64),
            n_items=train.n_items,
        )
        self.free: NDArray[np.bool_] = self._base.limits(self._pool) > 0
        self.usable: NDArray[np.bool_] = self.free[self.users]
        counts = train.item_counts.astype(np.float64)
        self._q = counts / counts.sum() if self.in_batch else self._probabilities(known)
        self._mass = np.ones(train.n_users)
        if not self.in_batch:
            own = np.bincount(self.users, self._q[self.items], minlength=train.n_users)
            self._mass = np.maximum(1.0 - own, 1e-12)

    def _probabilities(self, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Share of draws of each item, of which those without rows have none."""
        q = np.where(known, self._base.probabilities(len(known)), 0.0)
        return np.asarray(q / q.sum())

    def draw(
        self, users: NDArray[np.int32], items: NDArray[np.int32], m: int, epoch: int
    ) -> NDArray[np.int32]:
        """Negatives of positives: int32 ``[b, m]``.

        Args:
            users: int32 ``[b]``, of usable rows.
            items: int32 ``[b]``.
            m: draws for each.
            epoch: its number.
        """
        keys = hash_elements(
            derive(self._seed, epoch), self._user_hashes[users], self._item_hashes[items]
        )
        pool = replace(self._pool[users.astype(np.int64)], keys=keys)
        first = np.zeros(len(users), np.int64)
        return self._base.draw(pool, first, first + m)[1].reshape(len(users), m)

    def log_q(
        self, users: NDArray[np.int32], items: NDArray[np.int32], m: int
    ) -> NDArray[np.float32]:
        """``ln(m q)`` of drawn items ``[b, m]``: the log of how often each is expected.

        Args:
            users: int32 ``[b]``.
            items: int32 ``[b, m]``.
            m: draws for each row.
        """
        q = self._q[items] / self._mass[users][:, None]
        with np.errstate(divide="ignore"):
            return np.log(q * m).astype(np.float32)
