"""RankMetric: what all metrics of ranks share: relevance, checks, NaN, several k at once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ranked import TargetRanks
from fullrank.metrics._base import Metric
from fullrank.metrics._prepared import Cuts, Prepared, label


@dataclass(frozen=True, kw_only=True, repr=False)
class RankMetric(Metric):
    """Base of the metrics that come from ``TargetRanks``.

    A target is relevant if its grade is above 0, or at least ``rel``. A query without relevant
    targets has no value (NaN). Equal scores: the expectation over the orders that they leave
    open. Unranked targets are misses.

    Attributes:
        rel: threshold of relevance, or None.
        dialect: name of a tool whose definition replaces ours, or None.
    """

    rel: float | None = None
    dialect: str | None = None

    @abstractmethod
    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        """Values ``[q, k]`` at several cut-offs; rows without relevant targets may hold anything.

        A row depends on its query alone: queries come in blocks, several at a time. Division by
        zero in rows without relevant targets is expected, and silenced.
        """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None:
            self._number("rel", 0.0)
        if self.dialect is not None:
            from fullrank.metrics.dialects import find_dialect

            object.__setattr__(self, "dialect", find_dialect(self.name, self.dialect).tool)
            fixed = [name for name in self.options if name not in ("dialect", "rel")]
            if fixed:
                raise SpecError(
                    f"{self.name}: the dialect {self.dialect!r} says how it is computed, so "
                    f"{', '.join(fixed)} can't be set beside it"
                )

    def per_query(self, data: TargetRanks) -> NDArray[np.float64]:
        """Value of each query: float64 ``[q]``, NaN without relevant targets.

        Raises:
            SpecError: the cut-off is missing, or deeper than the ranking is known.
        """
        return self.per_cutoff(Prepared(data), (self.k,))[:, 0]

    def per_cutoff(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        """Values at several cut-offs in one pass: float64 ``[q, k]``."""
        self.check_cutoffs(ranks, ks)
        if self.dialect is not None:
            from fullrank.metrics.dialects import find_dialect

            return find_dialect(self.name, self.dialect).per_cutoff(self, ranks, ks)
        return self.values_at(ranks, ks)

    def check_cutoffs(self, ranks: Prepared, ks: Cuts) -> None:
        """Refuse ranks that the metric can't be told from.

        Raises:
            SpecError: a cut-off is missing, or deeper than the ranking is known; the candidates
                must be known, and aren't.
        """
        for k in ks:
            self(k=k)._check_input(ranks.ranked)
        self._check_ranks(ranks)

    def values_at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        """``per_cutoff`` of checked ranks, which may be some of the queries."""
        with np.errstate(divide="ignore", invalid="ignore"):
            out = self._at(ranks, ks)
        missing = ranks.n_relevant(self.rel) == 0
        if missing.any():
            out[missing] = np.nan
        return out

    def _check_ranks(self, ranks: Prepared) -> None:
        """Refuse ranks that lack what the metric needs; of all queries, before ``_at``."""

    def value(self, data: TargetRanks) -> float:
        """The metric over all queries, undefined ones left out; NaN if none is defined."""
        if self.dialect is None:
            return super().value(data)
        from fullrank.metrics.dialects import find_dialect

        return find_dialect(self.name, self.dialect).value(self, data)

    def _check_input(self, ranked: TargetRanks) -> None:
        self.check()
        if ranked.depth is not None:
            self._check_depth(ranked.depth)
        if ranked.others == "excluded" and bool(np.any(np.diff(ranked.indptr) > 1)):
            counts = np.diff(ranked.indptr)
            row = int(np.flatnonzero(counts > 1)[0])
            user = label(ranked.user_vocab, int(ranked.users[row]))
            raise SpecError(
                f"{self}: the targets were each ranked against sampled candidates only, and the "
                f"query of user {user} has {counts[row]} of them, whose order among themselves "
                "is not known here; evaluate queries with one target, or rank the full catalogue"
            )

    def _check_depth(self, depth: int) -> None:
        if self.k is None and self.cutoff != "none":
            raise SpecError(
                f"{self.name} without a cut-off needs the whole ranking, and the lists were "
                f"declared to be cut at depth {depth}; write {self}@{depth} or smaller"
            )
        if self.k is not None and self.k > depth:
            raise SpecError(
                f"{self} looks at {self.k} places, and the lists were declared to be cut at "
                f"depth {depth}; use k <= {depth}, or lists at least {self.k} long"
            )


def column(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Per-query numbers ``[q]`` as a float column ``[q, 1]`` that divides ``[q, k]``."""
    return values.astype(np.float64)[:, None]


def cut_row(ks: Cuts) -> NDArray[np.float64]:
    """Cut-offs as float64 ``[k]``, infinite for the whole ranking."""
    return np.array([np.inf if k is None else k for k in ks], dtype=np.float64)


def check_catalogue(metric: Metric, ranked: TargetRanks) -> None:
    """Refuse ranks that don't say how many candidates there were.

    Raises:
        SpecError: lists that were cut or hold no scores, or ranks beyond the candidates.
    """
    rows = np.repeat(np.arange(len(ranked)), np.diff(ranked.indptr))
    beyond = ranked.ranked & (ranked.worst > ranked.n_candidates[rows])
    some = len(rows) > 0
    if some and (ranked.depth is not None or not ranked.n_candidates.any() or beyond.any()):
        raise SpecError(
            f"{metric} needs the rank of each target among all candidates, and "
            f"{_why_unknown(ranked, rows, beyond)}; give scores of the whole catalogue (or rank "
            "with a model), or take a metric with a cut-off, such as ndcg@10"
        )


def _why_unknown(ranked: TargetRanks, rows: NDArray[np.int64], beyond: NDArray[np.bool_]) -> str:
    """Why the candidates of a query are not known, in words."""
    if ranked.depth is not None:
        return f"the lists were declared to be cut at depth {ranked.depth}"
    if ranked.design.get("unknown"):
        return str(ranked.design["unknown"])
    if not ranked.n_candidates.any():
        return "nothing says how many there were"
    row, rank = int(rows[beyond][0]), int(ranked.worst[beyond][0])
    user = label(ranked.user_vocab, int(ranked.users[row]))
    return f"a target of user {user} has rank {rank:,} of {ranked.n_candidates[row]:,} candidates"
