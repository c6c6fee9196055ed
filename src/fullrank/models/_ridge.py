"""What all the ridge regressions of a half step of IALS share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.models._threads import run_chunks

if TYPE_CHECKING:
    from fullrank.kernels.ials import Whitened

Solver = Literal["cg", "cholesky"]

_CHUNK = 8192


@dataclass(frozen=True, eq=False)
class Shared:
    """Sums over the factors H of one side, and H itself, in the coordinates of the solver.

    Attributes:
        gram: float64 ``[d, d]``, the unobserved weight times ``HᵀH``.
        moment: float64 ``[d, d]``, mean of ``h hᵀ`` over the observed cells, plus the
            regularisation that each further cell of a row adds.
        floor: regularisation of a row without cells.
        n_known: factors with training rows.
        cg: whitened factors, basis, metric and spectrum as ``solve_rows_cg`` takes them.
        exact: factors and ``gram + floor I`` as ``solve_rows_exactly`` takes them.
    """

    gram: NDArray[np.float64]
    moment: NDArray[np.float64]
    floor: float
    n_known: int
    cg: Whitened | None = None
    exact: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    @classmethod
    def of(
        cls,
        factors: NDArray[np.float32],
        gram: NDArray[np.float64],
        moment: NDArray[np.float64],
        floor: float,
        n_known: int,
        solver: Solver,
        *,
        spent: bool = False,
    ) -> Shared:
        """Prepare for a solver; ``factors`` that are ``spent`` may be overwritten.

        Whitened coordinates ``x = P y`` have ``Pᵀ (gram + floor I) P = I`` and ``Pᵀ moment P``
        diagonal: the generalised eigenvectors of the two (Golub & Van Loan 2013, section 8.7).
        """
        ridge = gram + floor * np.eye(len(gram))
        largest = float(max(np.abs(ridge).max(), np.abs(moment).max()))
        if not largest < float(np.finfo(np.float32).max):  # NaN too
            raise np.linalg.LinAlgError("sums are beyond float32")
        if solver == "cholesky":
            exact = (factors, ridge.astype(np.float32))
            return cls(gram, moment, floor, n_known, exact=exact)
        from scipy.linalg import eigh

        spectrum, basis = eigh(moment, ridge)
        small = np.ascontiguousarray(basis, dtype=np.float32)
        whitened = factors if spent else np.empty_like(factors)

        def whiten(start: int, stop: int) -> None:
            whitened[start:stop] = np.dot(factors[start:stop], small)

        run_chunks(whiten, len(factors), _CHUNK)
        metric = (basis.T @ basis).astype(np.float32)
        cg = (whitened, small, metric, np.maximum(spectrum, 0.0).astype(np.float32))
        return cls(gram, moment, floor, n_known, cg=cg)


def gram_of(
    factors: NDArray[np.float32], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """``sum of w f fᵀ``: float32 products of chunks of fixed size, summed in float64."""

    def part(start: int, stop: int) -> NDArray[np.float32]:
        rows = factors[start:stop]
        left = rows if weights is None else rows * weights[start:stop, None].astype(np.float32)
        return np.asarray(left.T @ rows)

    total = np.zeros((factors.shape[1], factors.shape[1]))
    for found in run_chunks(part, len(factors), _CHUNK):
        total += found
    return (total + total.T) / 2
