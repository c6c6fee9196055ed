"""Groups: targets that the likelihood can't tell apart, and how many there are of each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.estimators._bins import Bins
from fullrank.estimators._likelihood import beyond, log_pmf

_SPREAD = 1.1
"""Catalogue sizes within this ratio count as one, of the mean size: what that does to one target
is undone by the others, to first order; what is left is ``(spread / N)^2 / 12``, a thousandth."""

_COLUMN = 1 << 22  # entries of a likelihood made at a time


@dataclass(frozen=True, eq=False)
class Groups:
    """Distinct sampled ranks with their designs.

    Attributes:
        ranks: int64 ``[g]`` sampled ranks ``r``; those of a group of all beyond a cut: 0.
        sizes: int64 ``[g]`` sample sizes ``n``, the target included.
        catalogs: int64 ``[g]`` catalogue sizes ``N``.
        exact: bool ``[g]``: the whole catalogue was drawn without replacement, so ``R = r``.
        beyond: int64 ``[g]``: 0, or the group holds all sampled ranks above this.
        counts: float64 ``[g]`` targets.
        replacement: whether an item may be drawn twice.
        tables: likelihoods made so far, by bins.
        designs: tables of ``P(r | R)`` for all ``r`` made so far, by bins.
    """

    ranks: NDArray[np.int64]
    sizes: NDArray[np.int64]
    catalogs: NDArray[np.int64]
    exact: NDArray[np.bool_]
    beyond: NDArray[np.int64]
    counts: NDArray[np.float64]
    replacement: bool
    tables: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict, repr=False)
    designs: dict[tuple[int, int], list[Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        ranks: NDArray[np.int64],
        sizes: NDArray[np.int64],
        catalogs: NDArray[np.int64],
        *,
        replacement: bool,
    ) -> tuple[Groups, NDArray[np.int64]]:
        """Gather targets ``[t]``; and the group of each.

        Where the whole catalogue was drawn, ranks are exact, and grouped apart from its size.
        """
        exact = (sizes == catalogs) & (not replacement)
        # A class must leave room for its sample, as each of its catalogues does.
        classes = np.maximum(_classes(catalogs), sizes + ((not replacement) & ~exact))
        key = np.stack([exact, ranks, np.where(exact, classes, sizes), classes], axis=1).astype(
            np.int64
        )
        distinct, member, counts = _distinct(key)
        made = cls(
            ranks=distinct[:, 1],
            sizes=distinct[:, 2],
            catalogs=distinct[:, 3],
            exact=distinct[:, 0] == 1,
            beyond=np.zeros(len(distinct), np.int64),
            counts=counts.astype(np.float64),
            replacement=replacement,
        )
        return made, member

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def total(self) -> float:
        """Targets."""
        return float(self.counts.sum())

    @property
    def n(self) -> int:
        """The largest catalogue, so the last rank that a target may have."""
        return int(max(self.catalogs.max(), self.ranks.max()))

    def with_counts(self, counts: NDArray[np.float64]) -> Groups:
        """The same groups with other numbers of targets; likelihoods are shared."""
        return replace(self, counts=counts)

    def lumped(self, size: int, cut: int) -> tuple[Groups, NDArray[np.int64]]:
        """Groups in which all ranks above ``cut`` among ``size`` are one, by catalogue size.

        Exact ranks are one whatever the catalogue.

        Returns:
            The groups, and the new group of each old one: int64 ``[g]``.
        """
        tail = (self.sizes == size) & (self.ranks > cut) & ~self.exact
        key = np.stack(
            [
                self.exact,
                np.where(tail, 0, self.ranks),
                np.where(self.exact, 0, self.sizes),
                np.where(self.exact, 0, self.catalogs),
                np.where(tail, cut, 0),
            ],
            axis=1,
        ).astype(np.int64)
        distinct, member, _ = _distinct(key)
        counts = np.bincount(member, weights=self.counts, minlength=len(distinct))
        made = Groups(
            ranks=distinct[:, 1],
            sizes=distinct[:, 2],
            catalogs=distinct[:, 3],
            exact=distinct[:, 0] == 1,
            beyond=distinct[:, 4],
            counts=counts.astype(np.float64),
            replacement=self.replacement,
        )
        return made, member

    def likelihood(self, bins: Bins) -> NDArray[np.float64]:
        """Probability of each group's data, mean over each bin: float64 ``[b, g]``.

        The mean is over five ranks of a wide bin; an exact rank has ``1 / width`` in its bin.
        """
        key = (len(bins), bins.n)
        if key not in self.tables:
            self.tables[key] = self._likelihood(bins)
        return self.tables[key]

    def _likelihood(self, bins: Bins) -> NDArray[np.float64]:
        out = np.zeros((len(bins), len(self)))
        ranks, starts = bins.points()
        counts = np.diff(np.append(starts, len(ranks)))[:, None]
        plain = np.flatnonzero(~self.exact & (self.beyond == 0))
        step = max(1, _COLUMN // len(ranks))
        for at in range(0, len(plain), step):
            some = plain[at : at + step]
            logs = log_pmf(
                self.ranks[some],
                self.sizes[some],
                self.catalogs[some],
                ranks[:, None],
                replacement=self.replacement,
            )
            out[:, some] = np.add.reduceat(np.exp(logs), starts, axis=0) / counts
        for g in np.flatnonzero(self.beyond > 0):
            tail = beyond(
                int(self.beyond[g]),
                int(self.sizes[g]),
                int(self.catalogs[g]),
                ranks,
                replacement=self.replacement,
            )
            out[:, g] = np.add.reduceat(tail, starts) / counts[:, 0]
        known = np.flatnonzero(self.exact)
        place = bins.place(self.ranks[known])
        out[place, known] = 1.0 / bins.width[place]
        return out


def _classes(catalogs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Catalogue sizes, those within a ratio of each other replaced by their mean."""
    sizes, member, counts = np.unique(catalogs, return_inverse=True, return_counts=True)
    if len(sizes) == 1:
        return catalogs
    number = np.floor(np.log(sizes / sizes[0]) / np.log(_SPREAD)).astype(np.int64)
    weight = np.bincount(number, weights=counts)
    mean = np.bincount(number, weights=counts * sizes) / np.maximum(weight, 1)
    return np.asarray(np.rint(mean).astype(np.int64)[number][member])


def _distinct(
    key: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows, the one that each row is, and how often each occurs."""
    one = np.zeros(len(key), np.int64)
    reach = 1
    for column in key.T:
        width = int(column.max(initial=0)) + 1
        if reach * width >= 2**62:
            distinct, one = np.unique(one, return_inverse=True)
            reach = len(distinct)
        one, reach = one * width + column, reach * width
    _, first, member, counts = np.unique(
        one, return_index=True, return_inverse=True, return_counts=True
    )
    return key[first], member, counts
