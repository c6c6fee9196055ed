"""Split: which rows train, validate and test, and the strategies that make one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SplitError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries, Repeats
from fullrank.core.random import RNG
from fullrank.split._queries import make_queries

LEFT_OUT, TRAIN, VALID, TEST, VALID_HISTORY, TEST_HISTORY = -1, 0, 1, 2, 3, 4
"""Codes of ``Split.part``; the histories are fold-in rows of unseen users (never fitted)."""

Part = Literal["train", "valid", "test"]
FitOn = Literal["train", "train+valid"]


@dataclass(frozen=True, eq=False)
class Split:
    """A partition of rows. Test rows are never among those handed to ``fit``.

    Attributes:
        data: all rows.
        part: int8 ``[n]``, one code a row: a row is in one part or in none, by construction.
        recipe: strategy and settings that made it.
        ties_at_cut: by cut, how many rows share their time with the first row after the cut.
        repeats: ``"drop"`` removes targets that the history holds, ``"keep"`` evaluates them.
        notes: what a reader must know, in words (also on the card).
    """

    data: Interactions
    part: NDArray[np.int8]
    recipe: Mapping[str, Any]
    ties_at_cut: Mapping[str, int] = field(default_factory=dict)
    repeats: Repeats = "drop"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.part.shape != (len(self.data),) or self.part.dtype != np.int8:
            raise SplitError(
                f"part must be int8 [{len(self.data)}], got {self.part.dtype} {self.part.shape}"
            )
        for name, code in (("train", TRAIN), ("test", TEST)):
            if not np.any(self.part == code):
                raise SplitError(
                    f"the {name} part is empty ({len(self.data):,} rows, {dict(self.recipe)}); "
                    "choose other shares or another cut"
                )

    def rows(self, part: Part) -> Interactions:
        """The rows of one part (same vocabularies as ``data``)."""
        code = {"train": TRAIN, "valid": VALID, "test": TEST}[part]
        return self.data.take(self.part == code)

    @property
    def train(self) -> Interactions:
        """Rows to fit on while tuning."""
        return self.rows("train")

    @property
    def valid(self) -> Interactions:
        """Rows to choose by."""
        return self.rows("valid")

    @property
    def test(self) -> Interactions:
        """Rows to report on, once."""
        return self.rows("test")

    @property
    def has_valid(self) -> bool:
        """True if the split has a validation part."""
        return bool(np.any(self.part == VALID))

    def fit_rows(self, fit: FitOn = "train") -> Interactions:
        """What a model may be fitted on: train, or train and validation for the refit."""
        if fit == "train":
            return self.train
        return self.data.take((self.part == TRAIN) | (self.part == VALID))

    def queries(
        self, part: Literal["valid", "test"], *, fit: FitOn | None = None, grade: str | None = None
    ) -> Queries:
        """Evaluation cases of a part.

        Args:
            part: which rows are held out.
            fit: what the model was fitted on, which is the history of its users; by default
                train for validation and train + valid for test.
            grade: column with the gain of a target (``"values"`` or an extra); 1.0 without.
        """
        if fit is None:
            fit = "train" if part == "valid" else "train+valid"
        if part == "valid" and fit != "train":
            raise SplitError("validation rows can't be both fitted and evaluated; fit on train")
        known = [TRAIN] if fit == "train" else [TRAIN, VALID]
        known.append(VALID_HISTORY if part == "valid" else TEST_HISTORY)
        held = VALID if part == "valid" else TEST
        return make_queries(
            self.data,
            history=np.isin(self.part, known),
            targets=self.part == held,
            repeats=self.repeats,
            grade=grade,
        )


@dataclass(frozen=True)
class Strategy(ABC):
    """A way to split. Subclasses are frozen dataclasses whose fields are the settings."""

    @abstractmethod
    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """Return one Split, or one a fold or window."""

    def split(self, data: Interactions, *, rng: RNG = 0) -> Split:
        """Return the only split; refuses a strategy with several folds."""
        several = self.splits(data, rng=rng)
        if len(several) != 1:
            raise SplitError(
                f"{type(self).__name__} gives {len(several)} folds here; use splits() for all"
            )
        return several[0]

    @property
    def recipe(self) -> dict[str, Any]:
        """Name and settings, for provenance."""
        return {"strategy": type(self).__name__, **asdict(self)}
