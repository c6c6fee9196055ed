"""Scores of whole rows by a function of the histories' matrix: a class, a module, a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender
from fullrank.models._values import real_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(eq=False)
class MatrixFunction(Recommender):
    """Score all items by a function of the queries' histories.

    ``MatrixFunction(model.predict, model.fit)`` takes an object in the manner of
    scikit-learn, ``MatrixFunction(lambda X: X @ weights)`` a function, and
    ``MatrixFunction(lambda X: module(torch.from_numpy(X.toarray())).detach().numpy())`` a PyTorch
    module. Row i of the result must depend on row i of ``X`` alone.

    Attributes:
        function: takes binary float32 CSR ``[q, n_items]``, the histories, and gives scores
            ``[q, n_items]``, dense or sparse, higher is better, -inf for never.
        fit_function: called by ``fit`` with the training rows, binary CSR ``[n_users, n_items]``.
    """

    function: Callable[[csr_matrix], Any]
    fit_function: Callable[[csr_matrix], Any] | None = None

    folds_in: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("function", "fit_function"):
            value = getattr(self, name)
            if not callable(value) and not (name == "fit_function" and value is None):
                raise SpecError(
                    f"MatrixFunction: {name} must be callable with a sparse matrix, got {value!r}"
                )

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        if self.fit_function is not None:
            self.fit_function(train.csr("binary").copy())

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        found = self.function(queries.history_csr())
        if hasattr(found, "toarray"):
            found = found.toarray()
        expected = f"scores of shape ({len(queries)}, {queries.n_items})"
        given = real_numbers(found, expected)
        with np.errstate(over="ignore"):
            scores = given.astype(np.float32)
        if (np.isinf(scores) & np.isfinite(given)).any():
            raise ScoreError(
                f"the function gave scores up to {np.abs(given[np.isfinite(given)]).max():g}; they "
                "are compared as float32, which ends at 3.4e38: scale them, or give -inf for never"
            )
        if scores.shape != (len(queries), queries.n_items):
            raise ScoreError(
                f"the function gave an array of shape {scores.shape}, expected "
                f"({len(queries)}, {queries.n_items}): a row for each query and a column for each "
                "item of the catalogue"
            )
        return scores

    def save(self, folder: Any) -> None:
        """Refused: a function can't be written down.

        Raises:
            SpecError: always.
        """
        raise SpecError(
            "a MatrixFunction can't be saved, as its function is code; build it anew, and fit it "
            "on the same rows"
        )
