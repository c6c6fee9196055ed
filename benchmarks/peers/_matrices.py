"""Sparse matrices of the ranking problem, as peers take them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


def csr(rows: np.ndarray, c: int) -> csr_matrix:
    """Ones at the items of each row; int32 ``[q, n]`` -> ``[q, c]``."""
    q, n = rows.shape
    indptr = np.arange(0, q * n + 1, n)
    out = csr_matrix((np.ones(q * n, np.float32), rows.ravel(), indptr), shape=(q, c))
    out.sort_indices()
    return out
