"""Where a sparse matrix has cells, without what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.models._sparse import transpose

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Pattern = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows of a sparse binary matrix: ``indptr [n + 1]`` and ``indices``."""


def pattern(matrix: csr_matrix) -> Pattern:
    """The pattern of a CSR matrix, in the dtypes of the kernels."""
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)


def turned(matrix: csr_matrix) -> csr_matrix:
    """The transpose of a CSR matrix of ones, with one byte a cell beside the indices."""
    ones = np.ones(matrix.nnz, dtype=np.int8)
    light = type(matrix)((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
    return transpose(light)
