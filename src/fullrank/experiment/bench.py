"""A benchmark made ready: data loaded and filtered, splits made, protocol ids known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core._order import code_indptr
from fullrank.core.dataset import Dataset, Source
from fullrank.core.errors import DataError, SplitError, told
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import take_ragged
from fullrank.core.registry import build
from fullrank.data import read
from fullrank.data._tables import read_ids
from fullrank.data.filters import apply_all, parse_filter
from fullrank.experiment.spec import BenchSpec, DataSpec, Locate, nowhere
from fullrank.experiment.store import key_of, plain
from fullrank.rank import Catalogue
from fullrank.split import Split, with_train_filter
from fullrank.split._base import FitOn

CONVENTIONS = 1
"""Raised when the default definition of any metric changes, so that ids do too."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """What holds of a fold whose training rows may be a sample.

    Final fits are on training rows alone, as nothing else was sampled, and targets are those of
    the split before: a row that was dropped is no history any more, and brings no target back.

    Attributes:
        whole: the split before the sampling, or the fold's own.
        label: tells the fold from others of its data, for messages.
        catalogue: ``"full"`` ranks the items with training rows before the sampling, ``"subset"``
            those that have any left.
        dropped: what becomes of the items of a user's rows that the sample dropped:
            ``"candidates"`` again, as for anybody who has the sample alone, or ``"masked"`` like
            the history, so that candidates are those of the full data.
    """

    whole: Split
    label: str
    catalogue: Literal["full", "subset"] = "full"
    dropped: Literal["candidates", "masked"] = "candidates"

    @cached_property
    def items(self) -> NDArray[np.bool_]:
        """Items with training rows before the sampling: bool ``[n_items]``."""
        return np.asarray(self.whole.train.item_counts > 0)

    def targets_of(self, queries: Queries, whole: Queries) -> Queries:
        """Queries of the sample with the targets of the split before."""
        return replace(
            queries,
            target_indptr=whole.target_indptr,
            target_items=whole.target_items,
            target_gains=whole.target_gains,
            counts=dict(whole.counts),
        )


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of one data set, with everything that its cells share.

    Attributes:
        data: the spec of the data set.
        number: of the fold (0 for the only one).
        of: how many folds there are.
        split: the rows of each part, training filters applied.
        spec: the whole benchmark.
        base: folder that paths are relative to.
        source: licence and citation of the data.
        sampled: how its training rows stand to those of the split before; None for a fold of a
            benchmark.
    """

    data: DataSpec
    number: int
    of: int
    split: Split
    spec: BenchSpec
    base: Path
    source: Source
    sampled: Sampled | None = None

    @property
    def title(self) -> str:
        """Name of the data set, with the number of the fold where there are several."""
        if self.sampled is not None:
            return f"{self.data.name}, {self.sampled.label}"
        return self.data.name + (f" fold {self.number}" if self.of > 1 else "")

    @property
    def refit(self) -> Any:
        """What the final model is fitted on."""
        if not self.split.has_valid or self.sampled is not None:
            return "train"
        return self.spec.tune.refit if self.spec.tune else "train+valid"

    @cached_property
    def test_fit_rows(self) -> Interactions:
        """Rows of the final fit."""
        return self.split.fit_rows(self.refit)

    @cached_property
    def test_queries(self) -> Queries:
        """Cases of the test, cold users left out if the protocol says so."""
        queries = self._queries("test", self.refit)
        if self.spec.ranking.cold_users != "out":
            return queries
        warm = queries.history_counts > 0
        return counted(queries[warm], cold_queries_left_out=int((~warm).sum()))

    @cached_property
    def valid_queries(self) -> Queries:
        """Cases that settings are chosen by.

        Raises:
            SplitError: there is no validation part, or none of its users has a history.
        """
        if not self.split.has_valid:
            raise SplitError(
                f"{self.title}: settings can't be chosen without a validation part; set "
                "split.valid, or give the models fixed settings"
            )
        queries = self._queries("valid", "train")
        assert self.spec.tune is not None
        if self.spec.tune.users == "warm":
            warm = queries.history_counts > 0
            if not warm.any():
                raise SplitError(
                    f"{self.title}: none of the {len(queries):,} validation users has training "
                    "rows; choose another split, or tune.users = 'all'"
                )
            queries = counted(queries[warm], cold_queries_left_out=int((~warm).sum()))
        return queries

    def _queries(self, part: Literal["valid", "test"], fit: FitOn) -> Queries:
        queries = self.split.queries(part, fit=fit, grade=self.data.grade)
        if self.sampled is None:
            return queries
        whole = self.sampled.whole.queries(part, fit=fit, grade=self.data.grade)
        return self.sampled.targets_of(queries, whole)

    def catalogue(self, fitted: Interactions, queries: Queries) -> Catalogue:
        """What may be recommended after a fit, the same for every model."""
        ranking = self.spec.ranking
        if ranking.catalogue == "fit":
            full = self.sampled is not None and self.sampled.catalogue == "full"
            items = self.sampled.items if self.sampled and full else fitted.item_counts > 0
            chosen = self._masked(Catalogue(items, "fit"), queries)
        elif ranking.catalogue == "all":
            chosen = Catalogue(np.ones(fitted.n_items, dtype=bool), "all")
        else:
            with told(f"{ranking.catalogue}: "):
                (ids,) = self._catalogue_file
                chosen = Catalogue.of_ids(ids, fitted.item_vocab, ranking.catalogue)
        if ranking.eligible is None:
            return chosen
        with told(f"{ranking.eligible}: "):
            return chosen.restricted(queries, *self._eligible_file)

    def _masked(self, catalogue: Catalogue, queries: Queries) -> Catalogue:
        """The catalogue without the rows of each query's user that a sample dropped, if wanted."""
        sampled = self.sampled
        if sampled is None or sampled.dropped != "masked" or sampled.whole is self.split:
            return catalogue
        indptr, items = self._dropped
        indptr, take = take_ragged(indptr, queries.users)
        return catalogue.without(queries, indptr, items[take])

    @cached_property
    def _dropped(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Items by user of the training rows that a sample dropped (CSR)."""
        assert self.sampled is not None
        gone = self.sampled.whole.fit_mask("train") & ~self.split.fit_mask("train")
        rows = self.split.data.take(gone)
        return code_indptr(rows.users, rows.n_users), rows.items

    @cached_property
    def _catalogue_file(self) -> list[NDArray[Any]]:
        found = read_ids(self.base / self.spec.ranking.catalogue, ["item_id"])
        return [column.to_numpy() for column in found.values()]

    @cached_property
    def _eligible_file(self) -> list[NDArray[Any]]:
        assert self.spec.ranking.eligible is not None
        found = read_ids(self.base / self.spec.ranking.eligible, ["user_id", "item_id"])
        return [column.to_numpy() for column in found.values()]

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """What must be equal for two numbers to be comparable."""
        spec, split = self.spec, self.split
        sampled = self.sampled
        if sampled is None or sampled.whole is split:
            told = {}
        else:
            told = {"sampled": [sampled.whole.fingerprint, sampled.catalogue, sampled.dropped]}
        return {
            **told,
            "data": {"fingerprint": split.data.fingerprint, "grade": self.data.grade},
            "filters": plain(spec.filters.model_dump()),
            "split": {
                "recipe": plain(split.recipe),
                "fold": self.number,
                "fingerprint": split.fingerprint,
            },
            "queries": {"repeats": split.repeats, "history": self.refit},
            "ranking": {
                **spec.ranking.model_dump(),
                "catalogue": _content_id(self.base, spec.ranking.catalogue),
                "eligible": _content_id(self.base, spec.ranking.eligible),
            },
            "ties": "expectation over the orders that equal scores leave open",
            "metric_conventions": CONVENTIONS,
        }

    @cached_property
    def protocol_id(self) -> str:
        """Hash of ``protocol``."""
        return key_of(self.protocol)


def make_folds(spec: BenchSpec, base: Path, locate: Locate = nowhere) -> list[Fold]:
    """Load, filter and split every data set of a benchmark.

    Args:
        spec: the benchmark.
        base: folder that paths are relative to.
        locate: names file and line of a place, for messages.
    """
    settings = {**spec.split.settings, "repeats": spec.split.repeats}
    strategy = build("split", spec.split.strategy, settings)
    train_filters = [parse_filter(step) for step in spec.filters.train]
    out = []
    for j, data in enumerate(spec.data):
        with told(locate(("data", j))):
            dataset = load(data, spec, base)
        with told(locate(("split", "strategy"))):
            splits = strategy.splits(dataset.interactions, rng=spec.split.seed)
        for number, split in enumerate(splits):
            filtered = with_train_filter(split, train_filters, rng=spec.filters.seed)
            out.append(Fold(data, number, len(splits), filtered, spec, base, dataset.source))
    return out


def load(data: DataSpec, spec: BenchSpec, base: Path) -> Dataset:
    """Read a data set and apply the filters that come before the split."""
    source = data.name if data.path is None else base / data.path
    dataset = read(source, columns=data.columns or None, **data.read.options)
    filters = [parse_filter(step) for step in spec.filters.before]
    rows = apply_all(dataset.interactions, filters, spec.filters.seed, compact=True)
    if data.grade is not None:
        rows.column(data.grade)  # an unknown column is said now, not after an hour of fitting
    return dataset.with_interactions(rows)


def counted(queries: Queries, **more: int) -> Queries:
    """Add counts to queries."""
    queries.counts.update(more)
    return queries


def _content_id(base: Path, name: str | None) -> str | None:
    """A file's name replaced by a hash of its content: an edited file is another protocol."""
    if name in (None, "fit", "all"):
        return name
    assert name is not None
    try:
        content = (base / name).read_bytes()
    except OSError as error:
        raise DataError(f"can't read {base / name}: {error.strerror}") from error
    return f"blake2b {hashlib.blake2b(content, digest_size=16).hexdigest()}"
