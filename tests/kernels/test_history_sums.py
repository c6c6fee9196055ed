"""Sums over histories against NumPy, over more columns than one tile."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from fullrank.kernels.history_sums import sum_dense_rows, sum_sparse_rows

HISTORIES = csr_matrix(random_array((9, 40), density=0.3, rng=np.random.default_rng(0)) > 0)
INDPTR, ITEMS = HISTORIES.indptr.astype(np.int64), HISTORIES.indices.astype(np.int32)


@pytest.mark.parametrize("n", [1, 2047, 2048, 5000])
def test_dense_rows(n: int) -> None:
    weights = np.random.default_rng(1).normal(size=(40, n)).astype(np.float32)
    out = np.full((9, n), np.nan, dtype=np.float32)
    sum_dense_rows(INDPTR, ITEMS, weights, out)
    np.testing.assert_allclose(out, HISTORIES @ weights.astype(np.float64), rtol=1e-6, atol=1e-6)


def test_rows_that_are_absent_are_passed_over() -> None:
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.empty((1, 3), dtype=np.float32)
    sum_dense_rows(np.array([0, 3]), np.array([-1, 1, -1], dtype=np.int32), weights, out)
    assert out.tolist() == [[3, 4, 5]]


def test_sparse_rows() -> None:
    weights = csr_matrix(random_array((40, 40), density=0.2, rng=np.random.default_rng(2)))
    parts = (weights.indptr.astype(np.int64), weights.indices.astype(np.int32))
    out = np.full((9, 40), np.nan, dtype=np.float32)
    sum_sparse_rows(INDPTR, ITEMS, (*parts, weights.data.astype(np.float32)), out)
    np.testing.assert_allclose(out, (HISTORIES @ weights).toarray(), rtol=1e-5, atol=1e-6)
