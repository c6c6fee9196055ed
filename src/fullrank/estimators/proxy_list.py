"""Proxy list: a cheap model names the candidates that matter, uniform draws see the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr, rows_of, take_ragged
from fullrank.core.random import derive
from fullrank.estimators.designs import share
from fullrank.models import Recommender
from fullrank.negatives import Given, Negatives, Pool, Uniform
from fullrank.rank import Adaptive, Catalogue, rank
from fullrank.rank._adaptive import Lists
from fullrank.rank._full import whole_number

_CHUNK = 8192
"""Queries whose lists are made together: what bounds the memory of longer, uncut lists."""


@dataclass(frozen=True, kw_only=True)
class ProxyList(Adaptive):
    """The list of a cheap proxy is scored for every target, and the rest of the catalogue sampled.

    A uniform sample needs about ``N / R`` draws to tell a rank ``R`` near the top. A proxy that
    knows which items are likely to be there breaks that law: its list is compared with the target
    in full, and ``h``, how many of it precede the target, is exact. Of the rest a sample is drawn:
    ``first``, then twice as many while nothing precedes the target, each time by a coin. The rank
    in the catalogue is ``1 + h`` + those of the rest that precede it + the other targets that do.

    Nothing is assumed of the proxy: one that is no good costs accuracy, not validity. Targets with
    ``k_max`` of the list and of other targets ahead stop after it: any metric up to that cut-off
    is 0 for them with certainty. Estimates take cut-offs up to ``k_max`` and no metric without.
    No target of the query is in its list: other targets are counted apart, as everywhere.

    Attributes:
        proxy: a fitted recommender over the same items (PureSVD, Popularity, the last version of
            the model), or lists from outside.
        length: items of a model's list; lists from outside are taken whole.
        k_max: the deepest cut-off.
        first: size of the first sample from the rest.
        keep: probability of going on at each stage.
        ceiling: largest size, as a share of the rest.
    """

    proxy: Recommender | Given
    length: int = 100
    k_max: int = 50
    first: int = 25
    keep: float = 0.5
    ceiling: float = 0.25

    def __post_init__(self) -> None:
        if not isinstance(self.proxy, Recommender | Given):
            raise SpecError(
                "ProxyList: proxy must be a fitted recommender, such as PureSVD().fit(train), or "
                f"lists: Given.of_ids(…); got {self.proxy!r}"
            )
        for name, least in (("length", 1), ("k_max", 1), ("first", 2)):
            whole_number(f"ProxyList: {name}", getattr(self, name), least)
        for name, what in (("keep", "a probability"), ("ceiling", "a share of the catalogue")):
            share(f"ProxyList: {name}", getattr(self, name), f"{what} above 0")

    @property
    def negatives(self) -> Negatives:
        """Uniform draws without replacement from what is not listed."""
        return Uniform(m=self.first - 1)

    def more(
        self,
        stage: int,
        drawn: NDArray[np.int64],
        hits: NDArray[np.int64],
        pool: NDArray[np.int64],
        coins: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Double while nothing precedes the target, by the coin, up to the ceiling."""
        size, top = drawn + 1, np.maximum((pool + 1) * self.ceiling, self.first).astype(np.int64)
        on = (hits == 0) & (coins < self.keep) & (size < top)
        return np.where(on, np.minimum(2 * size, top) - 1, drawn)

    def lists(self, queries: Queries, catalogue: Catalogue, *, seed: int, workers: int) -> Lists:
        """The proxy's list of each query, without its history and targets.

        Raises:
            SpecError: lists from outside, and eligible items by query.
            DataError: a proxy over other items.
        """
        if isinstance(self.proxy, Given):
            return Lists(*_given(self.proxy, queries, catalogue, seed), self.k_max)
        threads = workers if self.proxy.thread_safe else 1
        parts = list(_tops(self.proxy, self.length, queries, catalogue, seed, threads))
        counts = np.concatenate([np.zeros(0, np.int64), *(count for count, _ in parts)])
        items = np.concatenate([np.zeros(0, np.int32), *(part for _, part in parts)])
        return Lists(as_indptr(counts), items, self.k_max)

    def settings(self) -> dict[str, Any]:
        """Settings by name; the proxy by its name, settings and a hash of what it learnt."""
        out = super().settings()
        del out["proxy"]
        if isinstance(self.proxy, Given):
            return {"proxy list": self.proxy.settings()["lists"], **out, "length": None}
        own = ", ".join(f"{name}={value!r}" for name, value in self.proxy.settings().items())
        said = f"{type(self.proxy).__name__}({own}), learnt {_learnt(self.proxy)}"
        return {"proxy list": said, **out}


def _learnt(proxy: Recommender) -> str:
    """Hash of the arrays that a model was fitted to, and of the items that it saw."""
    found = blake2b(digest_size=8)
    for name in ("item_counts_", *proxy.fitted):
        value: Any = getattr(proxy, name)
        arrays = [value.data, value.indices, value.indptr] if hasattr(value, "indptr") else [value]
        for array in arrays:
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _given(
    lists: Given, queries: Queries, catalogue: Catalogue, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows of the lists from outside without history, targets and what is not in the catalogue."""
    if len(catalogue.eligible_indptr):
        raise SpecError("lists from outside can't be combined with eligible items by query")
    pool = Pool.of(queries, catalogue.items, derive(seed, "lists"), lists.own(queries))
    return lists.draw(pool, np.zeros(len(queries), np.int64), pool.sizes)


def _tops(
    proxy: Recommender,
    length: int,
    queries: Queries,
    catalogue: Catalogue,
    seed: int,
    threads: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Lengths and items of a model's lists, some queries at a time.

    The model sees histories and never targets, so targets leave its list afterwards: it is made
    as much longer as there are targets, and cut.
    """
    for start in range(0, len(queries), _CHUNK):
        some = queries[start : start + _CHUNK]
        k = length + int(some.target_counts.max(initial=0))
        part = _restricted(catalogue, slice(start, start + len(some)))
        top = rank(
            proxy, some.without_targets(), k=k, catalogue=part, threads=threads, seed=seed
        ).top
        assert top is not None
        keys = top.items + np.arange(len(some))[:, None] * np.int64(queries.n_items)
        targets = some.target_items + rows_of(some.target_indptr) * np.int64(queries.n_items)
        kept = (top.items >= 0) & ~np.isin(keys, targets)
        kept &= np.cumsum(kept, axis=1) <= length
        yield kept.sum(axis=1), top.items[kept]


def _restricted(catalogue: Catalogue, rows: slice) -> Catalogue:
    """The catalogue of some of the queries."""
    if not len(catalogue.eligible_indptr):
        return catalogue
    indptr, take = take_ragged(catalogue.eligible_indptr, np.arange(rows.start, rows.stop))
    return replace(
        catalogue,
        eligible_indptr=indptr,
        eligible_items=catalogue.eligible_items[take],
        eligible_users=catalogue.eligible_users[rows],
    )
