"""Mean average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared, reciprocals
from fullrank.metrics._rank import RankMetric, column, cut_row


@dataclass(frozen=True, kw_only=True, repr=False)
class MAPMetric(RankMetric):
    """The average of the precisions at the ranks of the relevant targets.

    ``AP@k = (1 / D) * sum over relevant targets of rank r <= k of hits(r) / r``, with ``hits(r)``
    the relevant targets of rank <= r, and ``D = min(R, k)`` of R relevant targets, or ``D = R``
    with ``denominator="relevant"``.

    **Convention**: ``denominator="min"`` (the default) reaches 1 at any k; ``"relevant"`` is
    trec_eval's ``map_cut``. Without a cut-off both are the same. Undefined (NaN) without relevant
    targets; mean over queries; range 0 to 1.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import MAP
        >>> ranked = TargetRanks.of([[1, 4, 9]])
        >>> (MAP @ 2).per_query(ranked).tolist(), MAP.per_query(ranked).tolist()
        ([0.5], [0.611111111111111])

    Reference: Buckley & Voorhees 2000; ties: McSherry & Najork 2008, section 3.2.
    """

    name = "MAP"
    aliases = ("ap", "averageprecision")
    choices = {"denominator": ("min", "relevant")}  # noqa: RUF012

    denominator: Literal["min", "relevant"] = "min"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        found, n = precision_sums_at(ranks, self.rel, ks), ranks.n_relevant(self.rel)
        if self.denominator == "relevant":
            return found / column(n)
        return found / np.minimum.outer(cut_row(ks), n).T


def precision_sums_at(ranks: Prepared, rel: float | None, ks: Cuts) -> NDArray[np.float64]:
    """The numerator of AP at several cut-offs: float64 ``[q, k]``."""
    from fullrank.kernels.precision_sums import precision_sums

    r, cuts = ranks.ranked, ranks.cuts(ks)
    _, harmonic = ranks.table(reciprocals, int(cuts.max(initial=0)))
    return precision_sums(r.indptr, r.best, r.worst, ranks.relevant(rel), harmonic, cuts)


MAP = MAPMetric()
