"""Given: a split that somebody published, named by a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, SplitError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.core.text import quoted
from fullrank.data.filters.amounts import check_share, rounded_share
from fullrank.split._base import LEFT_OUT, TEST, TRAIN, VALID, Split, Strategy
from fullrank.split._build import build, require_rows
from fullrank.split._draws import row_draws

Label = str | int


@dataclass(frozen=True)
class Given(Strategy):
    """Take the parts from an extra column of the data.

    A published split often comes without a validation part: ``valid_share`` then draws one from
    the training rows. A label that no setting names is an error unless ``left_out`` lists it.

    Attributes:
        column: the extra column.
        train: label of training rows.
        valid: label of validation rows; they may be absent.
        test: label of test rows.
        left_out: labels of rows to leave out.
        valid_share: share of the training rows to draw for validation (a hash of seed, user, item
            and occurrence); 0 for none.
    """

    column: str = "split"
    train: Label = "train"
    valid: Label = "valid"
    test: Label = "test"
    left_out: Sequence[Label] = ()
    valid_share: float = 0.0

    def __post_init__(self) -> None:
        check_share("Given", "valid_share", self.valid_share, zero=True)
        object.__setattr__(self, "left_out", tuple(self.left_out))
        if len({self.train, self.valid, self.test, *self.left_out}) < 3 + len(self.left_out):
            raise SpecError("Given: train, valid, test and left_out must name different labels")

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        require_rows(self, data)
        part = self._codes(data)
        extra = {}
        if self.valid_share:
            self._draw_valid(data, part, seed_of(rng))
            extra["seed"] = seed_of(rng)
        return [build(self, data, part, wants_valid=self.valid_share > 0, extra=extra)]

    def _codes(self, data: Interactions) -> NDArray[np.int8]:
        labels, of_row = np.unique(data.column(self.column), return_inverse=True)
        codes: dict[object, int] = {self.train: TRAIN, self.valid: VALID, self.test: TEST}
        codes |= dict.fromkeys(self.left_out, LEFT_OUT)
        for label in labels.tolist():
            if label not in codes:
                raise SplitError(
                    f"Given: column {self.column!r} holds {quoted(label)} in "
                    f"{np.count_nonzero(labels[of_row] == label):,} rows, which is none of train = "
                    f"{self.train!r}, valid = {self.valid!r}, test = {self.test!r}"
                    f"{suggest(str(label), map(str, codes))}; set the labels, or list it in "
                    "left_out"
                )
        return np.array([codes[label] for label in labels.tolist()], dtype=np.int8)[of_row]

    def _draw_valid(self, data: Interactions, part: NDArray[np.int8], seed: int) -> None:
        if np.any(part == VALID):
            raise SpecError(
                f"Given: column {self.column!r} has validation rows ({self.valid!r}) already; "
                "leave valid_share out"
            )
        train = np.flatnonzero(part == TRAIN)
        draws = row_draws(data, seed, "Given", "valid")[train]
        n = rounded_share(len(train), self.valid_share)
        part[train[np.argsort(draws, kind="stable")[:n]]] = VALID
