"""Split: which rows train, validate and test, and the strategies that make one."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief
from fullrank.core.errors import SplitError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries, Repeats
from fullrank.core.random import RNG
from fullrank.data.filters.amounts import plain_settings
from fullrank.split._queries import make_queries

LEFT_OUT, TRAIN, VALID, TEST, VALID_HISTORY, TEST_HISTORY = -1, 0, 1, 2, 3, 4
"""Codes of ``Split.part``. The histories are fold-in rows of unseen users: those of test users are
never fitted, those of validation users only in the refit on train + valid."""

PART_CODES: dict[str, int] = {
    "train": TRAIN,
    "valid": VALID,
    "test": TEST,
    "valid_history": VALID_HISTORY,
    "test_history": TEST_HISTORY,
    "left_out": LEFT_OUT,
}

Part = Literal["train", "valid", "test", "valid_history", "test_history", "left_out"]
FitOn = Literal["train", "train+valid"]


@dataclass(frozen=True, eq=False)
class Split:
    """A partition of rows. Test rows are never among those handed to ``fit``.

    Attributes:
        data: all rows.
        part: int8 ``[n]``, one code a row: a row is in one part or in none, by construction.
        recipe: strategy and settings that made it.
        ties_at_cut: by cut, how many rows share the time of the first row after a global cut (0 if
            that row is alone), or how many users have a tie at their own cut.
        repeats: ``"drop"`` removes targets that the history holds, ``"keep"`` evaluates them.
        notes: what a reader must know, in words (also on the card).
        refit: bool ``[n]``, the rows of the refit where a filter of training rows chose them
            (``with_train_filter``); None for train + valid + the histories of valid.
    """

    data: Interactions
    part: NDArray[np.int8]
    recipe: Mapping[str, Any]
    ties_at_cut: Mapping[str, int] = field(default_factory=dict)
    repeats: Repeats = "drop"
    notes: tuple[str, ...] = ()
    refit: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if self.part.shape != (len(self.data),) or self.part.dtype != np.int8:
            raise SplitError(
                f"part must be int8 [{len(self.data)}], got {self.part.dtype} {self.part.shape}"
            )
        if self.repeats not in ("drop", "keep"):
            raise SplitError(f"repeats must be 'drop' or 'keep', got {self.repeats!r}")
        for name in ("train", "test"):
            if not np.any(self.part == PART_CODES[name]):
                raise SplitError(self.describe_empty(name))

    def __repr__(self) -> str:
        made = {**self.recipe}
        name = str(made.pop("strategy", "a recipe without a strategy"))
        rows = (f"{part} {n:,}" for part, n in self.counts.items() if n)
        settings = ", ".join(f"{key}={value!r}" for key, value in made.items())
        return brief(self, f"{name}({settings})", f"rows: {', '.join(rows)}")

    def describe_empty(self, name: str) -> str:
        """Message for a part without rows, with the figures."""
        sizes = ", ".join(f"{key} {n:,}" for key, n in self.counts.items() if n or key == name)
        ties = {key: n for key, n in self.ties_at_cut.items() if n}
        tied = f"; ties at the cut: {ties}" if ties else ""
        return (
            f"the {name} part is empty ({len(self.data):,} rows: {sizes}; "
            f"{dict(self.recipe)}{tied}); choose other shares or another cut"
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of rows in each part."""
        return {name: int(np.count_nonzero(self.part == c)) for name, c in PART_CODES.items()}

    def rows(self, part: Part) -> Interactions:
        """The rows of one part (same vocabularies as ``data``)."""
        if part not in PART_CODES:
            raise SplitError(f"there is no part {part!r}{suggest(part, PART_CODES)}")
        return self.data.take(self.part == PART_CODES[part])

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
        return self.counts["valid"] > 0

    def fit_mask(self, fit: FitOn = "train") -> NDArray[np.bool_]:
        """Rows that a model may be fitted on: bool ``[n]``."""
        if fit == "train":
            return np.asarray(self.part == TRAIN)
        if fit != "train+valid":
            raise SplitError(f"fit must be 'train' or 'train+valid', got {fit!r}")
        if self.refit is not None:
            return self.refit
        part = self.part
        return np.asarray((part == TRAIN) | (part == VALID) | (part == VALID_HISTORY))

    def fit_rows(self, fit: FitOn = "train") -> Interactions:
        """What a model may be fitted on: train, or train and validation for the refit."""
        return self.data.take(self.fit_mask(fit))

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
        if part not in ("valid", "test"):
            raise SplitError(f"queries are of 'valid' or 'test', got {part!r}")
        if fit is None:
            fit = "train" if part == "valid" else "train+valid"
        if part == "valid" and fit != "train":
            raise SplitError("validation rows can't be both fitted and evaluated; fit on train")
        fold_in = VALID_HISTORY if part == "valid" else TEST_HISTORY
        return make_queries(
            self.data,
            history=self.fit_mask(fit) | (self.part == fold_in),
            targets=self.part == PART_CODES[part],
            repeats=self.repeats,
            grade=grade,
        )

    @cached_property
    def part_fingerprints(self) -> dict[str, str]:
        """Fingerprint of the rows of each part that has any, by outside id."""
        return {name: self.rows(name).fingerprint for name, n in self.counts.items() if n}  # type: ignore[arg-type]

    @cached_property
    def fingerprint(self) -> str:
        """128 bits of hex over which rows are in which part, free of row order."""
        parts = dict(self.part_fingerprints)
        if self.refit is not None:
            parts["refit"] = self.data.take(self.refit).fingerprint
        text = "|".join([self.repeats, *(f"{name}={parts[name]}" for name in sorted(parts))])
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def verify(self) -> dict[str, Any]:
        """Prove that the parts are disjoint and complete; see ``fullrank.split._verify``."""
        from fullrank.split._verify import verify

        return verify(self)

    def card(self) -> dict[str, Any]:
        """Everything that a reader of results must know of the split, ready for JSON."""
        return deepcopy(self._card)

    @cached_property
    def _card(self) -> dict[str, Any]:
        """Made once: every cell of a benchmark keeps it."""
        from fullrank.split._card import card

        return card(self)

    def save(self, folder: str | Path) -> None:
        """Write the parts (Parquet, outside ids) and ``split.json`` to a folder."""
        from fullrank.split._store import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Split:
        """Read what ``save`` wrote; refuses a damaged or incomplete folder."""
        from fullrank.split._store import load

        return load(Path(folder))


@dataclass(frozen=True)
class Strategy(ABC):
    """A way to split. Subclasses are frozen dataclasses whose fields are the settings.

    Class attributes:
        seeded: another ``rng`` gives another split (beyond the order of tied times).
        timed: needs a time for every row.

    Attributes:
        repeats: ``"drop"`` removes targets that the history holds, ``"keep"`` evaluates repeat
            consumption.
    """

    seeded: ClassVar[bool] = False
    timed: ClassVar[bool] = False

    repeats: Repeats = field(default="drop", kw_only=True)

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
        return {"strategy": type(self).__name__, **plain_settings(self)}
