"""Weights that turn a dot product of sparse rows into a similarity; shared by ItemKNN and UserKNN.

Rows are entities (items, or users), columns are features (users, or items): what the entities are
compared by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.models._sparse import row_sums
from fullrank.models._values import check_values

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.core.interactions import Interactions

Similarity = Literal["cosine", "adjusted_cosine", "jaccard", "tfidf", "bm25"]

BM25_K1, BM25_B = 1.2, 0.75
"""Robertson & Zaragoza 2009, "The probabilistic relevance framework", section 3.4: usual values."""


@dataclass(frozen=True, eq=False)
class Weighting:
    """What a similarity must know of the training rows to weigh others like them.

    With ``x`` a row, ``n`` its number of features and ``N_f`` the number of entities of feature f
    among ``N``:

    - ``cosine``: cells 1, divided by the norms.
    - ``adjusted_cosine``: cells are values less the mean of their feature (Sarwar et al. 2001 for
      items: less the user's mean), divided by the norms over all cells of the row.
    - ``jaccard``: shared features by features of either.
    - ``tfidf``: cells ``idf_f = log((1 + N) / (1 + N_f))``, divided by the norms.
    - ``bm25``: cells ``idf_f (k1 + 1) / (k1 (1 - b + b n / mean n) + 1)``, k1 = 1.2, b = 0.75, on
      both sides; a plain dot product, so that the length counts as BM25 has it.

    Attributes:
        similarity: which of the five.
        features: float64 ``[n_features]``: idf, mean value, or ones.
        mean_count: mean number of features of an entity that has any.
    """

    similarity: Similarity
    features: NDArray[np.float64]
    mean_count: float

    @classmethod
    def of(cls, rows: csr_matrix, similarity: Similarity) -> Weighting:
        """Learn from the training rows (entities × features)."""
        n_features = rows.shape[1]
        n = np.diff(rows.indptr)
        features = np.ones(n_features)
        if similarity in ("tfidf", "bm25"):
            counts = np.bincount(rows.indices, minlength=n_features)
            features = np.log((1 + np.count_nonzero(n)) / (1 + counts))
        elif similarity == "adjusted_cosine":
            counts = np.bincount(rows.indices, minlength=n_features)
            sums = np.bincount(rows.indices, rows.data.astype(np.float64), minlength=n_features)
            features = sums / np.maximum(counts, 1)
        return cls(similarity, features, float(n[n > 0].mean()))

    def apply(self, rows: csr_matrix) -> tuple[csr_matrix, NDArray[np.float64]]:
        """Weigh rows over the same features.

        Returns:
            float64 CSR with the same cells, and the norm of each row (for Jaccard its number of
            cells, for BM25 1), float64 ``[n]``.
        """
        n = np.diff(rows.indptr)
        data = self.features[rows.indices]
        if self.similarity == "adjusted_cosine":
            data = rows.data.astype(np.float64) - data
        if self.similarity == "bm25":
            length = BM25_K1 * (1 - BM25_B + BM25_B * n / self.mean_count)
            data = data * np.repeat((BM25_K1 + 1) / (length + 1), n)
        out = type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
        if self.similarity == "jaccard":
            return out, n.astype(np.float64)
        if self.similarity == "bm25":
            return out, np.ones(len(n))
        return out, np.sqrt(row_sums(rows, data * data))

    def sums(self, rows: csr_matrix) -> tuple[NDArray[np.float64], ...] | None:
        """What similarities of rows are made of, where a feature weighs the same in all rows.

        The dot product of rows i and j is then ``scale_i scale_j`` times the sum of the weights of
        the features that they share.

        Returns:
            Weights ``[n_features]``, scales and norms ``[n]``, float64; None for adjusted cosine.
        """
        n = np.diff(rows.indptr).astype(np.float64)
        ones = np.ones(len(n))
        if self.similarity == "cosine":
            return self.features, ones, np.sqrt(n)
        if self.similarity == "jaccard":
            return self.features, ones, n
        if self.similarity == "tfidf":
            weights = self.features**2
            return weights, ones, np.sqrt(rows @ weights)
        if self.similarity == "bm25":
            length = BM25_K1 * (1 - BM25_B + BM25_B * n / self.mean_count)
            return self.features**2, (BM25_K1 + 1) / (length + 1), ones
        return None


def cells(train: Interactions, similarity: Similarity, model: str) -> csr_matrix:
    """The users × items cells that a similarity compares: values, or 1.

    Raises:
        DataError: adjusted cosine without values.
    """
    if similarity != "adjusted_cosine":
        return train.csr("binary")
    if train.values is None:
        raise DataError(
            f"{model}(similarity='adjusted_cosine') compares ratings and the training rows have no "
            "values; take cosine, jaccard, tfidf or bm25"
        )
    check_values(train, model)
    return train.csr("values")


def check_settings(model: str, similarity: str, neighbours: int, shrinkage: float) -> None:
    """Refuse settings that mean nothing.

    Raises:
        SpecError: unknown similarity, no neighbours, or negative shrinkage.
    """
    if similarity not in get_args(Similarity):
        hint = suggest(similarity, get_args(Similarity))
        raise SpecError(f"{model}: unknown similarity {similarity!r}{hint}")
    if neighbours < 1:
        raise SpecError(f"{model}: neighbours must be >= 1, got {neighbours!r}")
    if not shrinkage >= 0:
        raise SpecError(f"{model}: shrinkage must be >= 0, got {shrinkage!r}")
