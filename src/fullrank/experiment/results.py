"""Results read back from a store: cells, and the per-query values that every table comes from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import SpecError, StoreError
from fullrank.core.ragged import as_indptr
from fullrank.core.ranked import Predictions, TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment.spec import BenchSpec, parse_spec
from fullrank.experiment.store import Store, read_json
from fullrank.metrics import Metric, parse_many

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


NEEDED = {"data", "fold", "model", "seed", "settings", "protocol", "protocol_id", "provenance"}
"""What every reader of a cell relies on."""

COLUMNS = {
    "queries": ("user_id", "query_id", "history", "targets", "n_candidates"),
    "ranks": ("item_id", "best", "worst", "gain"),
    "predictions": ("user_id", "item_id", "predicted", "observed"),
}
"""Columns of the tables of a cell."""


@dataclass(frozen=True, eq=False)
class CellResult:
    """A finished cell.

    Attributes:
        about: content of ``cell.json``.
        folder: where its tables lie.
    """

    about: dict[str, Any]
    folder: Path

    def __repr__(self) -> str:
        about = self.about
        seed = None if about["seed"] is None else f"seed {about['seed']}"
        return brief(self, f"{about['model']} on {about['data']}", f"fold {about['fold']}", seed)

    def table(self, name: str) -> pl.DataFrame:
        """``queries``, ``ranks``, ``items`` or ``predictions``.

        Raises:
            StoreError: the table is missing or damaged.
        """
        import polars as pl

        path = self.folder / f"{name}.parquet"
        try:
            table = pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise self._damaged(name, str(error)) from error
        gone = [column for column in COLUMNS.get(name, ()) if column not in table.columns]
        if gone:
            raise self._damaged(name, f"no column {gone[0]!r}")
        return table

    def _damaged(self, name: str, what: str) -> StoreError:
        return StoreError(
            f"{self.folder / name}.parquet is missing or damaged ({what}); delete the folder "
            f"{self.folder} and run the benchmark again: it makes this cell anew"
        )

    @property
    def has_predictions(self) -> bool:
        """True if the model predicted ratings."""
        return (self.folder / "predictions.parquet").exists()

    @cached_property
    def queries(self) -> pl.DataFrame:
        """One row per query."""
        return self.table("queries")

    @cached_property
    def cold(self) -> NDArray[np.bool_]:
        """Bool ``[q]``: the model may use no history of the user, neither fitted nor folded in."""
        return np.asarray(self.queries["history"].to_numpy() == 0)

    @cached_property
    def ranked(self) -> TargetRanks:
        """Ranks of the targets."""
        queries, ranks = self.queries, self.table("ranks")
        if queries["targets"].sum() != len(ranks):
            raise self._damaged(
                "ranks", f"{len(ranks):,} rows for {queries['targets'].sum():,} targets"
            )
        users, items = _vocab(queries["user_id"], "user"), _vocab(ranks["item_id"], "item")
        return TargetRanks(
            users=users.encode(queries["user_id"].to_numpy()),
            query_ids=queries["query_id"].to_numpy(),
            indptr=as_indptr(queries["targets"].to_numpy()),
            best=ranks["best"].to_numpy(),
            worst=ranks["worst"].to_numpy(),
            gains=ranks["gain"].to_numpy(),
            items=items.encode(ranks["item_id"].to_numpy()),
            n_candidates=queries["n_candidates"].to_numpy(),
            user_vocab=users,
            item_vocab=items,
            depth=self.about["depth"],
            design=self.about["design"],
            counts=self.about["counts"],
        )

    @cached_property
    def predictions(self) -> Predictions:
        """Predicted and observed values of the test rows."""
        table = self.table("predictions")
        users, items = _vocab(table["user_id"], "user"), _vocab(table["item_id"], "item")
        return Predictions(
            users=users.encode(table["user_id"].to_numpy()),
            items=items.encode(table["item_id"].to_numpy()),
            predicted=table["predicted"].to_numpy(),
            observed=table["observed"].to_numpy(),
            user_vocab=users,
            item_vocab=items,
        )


@dataclass(frozen=True, eq=False)
class Results:
    """What a benchmark leaves behind.

    Attributes:
        spec: the benchmark.
        cells: finished cells in the order of the benchmark file.
        fresh: trials and cells that were finished since the run which returned this began.
    """

    spec: BenchSpec
    cells: tuple[CellResult, ...]
    fresh: int = 0
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def load(cls, store: Store | str | Path, *, fresh: int = 0) -> Results:
        """Read the results of the latest benchmark in a store.

        Raises:
            StoreError: no finished benchmark in it, or a cell is missing or damaged.
        """
        if not isinstance(store, Store):
            store = Store.open(store)
        manifest = store.folder / "bench.json"
        if not manifest.exists():
            raise StoreError(
                f"{store.folder} holds no finished benchmark; run `fullrank run BENCH.toml "
                f"--store {store.folder}` until it ends (it goes on where it stopped)"
            )
        content = read_json(manifest)
        if not _is_manifest(content):
            raise StoreError(
                f"{manifest} is damaged; run the benchmark again, which writes it anew"
            )
        tuning = content.get("tuning", {})
        cells = tuple(read_cell(store, key, tuning.get(key)) for key in content["cells"])
        try:
            spec = parse_spec(content["spec"], str(manifest))
        except SpecError as error:
            raise StoreError(
                f"{error}: another version wrote it; run the benchmark again, or use that version"
            ) from error
        return cls(spec, cells, fresh)

    def __repr__(self) -> str:
        return brief(
            self,
            repr(self.spec.name),
            count(len(self.data), "data set"),
            count(len(self.models), "model"),
            count(len(self.cells), "cell"),
        )

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics of the benchmark file, each once."""
        return parse_many(self.spec.metrics)

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(dict.fromkeys(cell.about["data"] for cell in self.cells))

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models."""
        return tuple(dict.fromkeys(cell.about["model"] for cell in self.cells))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once: cells don't change, so neither do tables of them."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def of(self, data: str, model: str) -> tuple[CellResult, ...]:
        """Cells of one model on one data set: folds × seeds."""
        found = (cell for cell in self.cells if cell.about["data"] == data)
        return tuple(cell for cell in found if cell.about["model"] == model)

    def protocol_ids(self, data: str) -> tuple[str, ...]:
        """Protocol id of each fold."""
        cells = (cell for cell in self.cells if cell.about["data"] == data)
        return tuple(dict.fromkeys(cell.about["protocol_id"] for cell in cells))


def _is_manifest(content: Any) -> bool:
    """True if ``bench.json`` has the shape that ``run`` gives it."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("spec"), dict)
        and isinstance(content.get("cells"), list)
        and all(isinstance(key, str) for key in content["cells"])
        and isinstance(content.get("tuning", {}), dict)
    )


def read_cell(store: Store, key: str, tuning: Mapping[str, Any] | None) -> CellResult:
    """A cell, with the search that chose its settings as of the latest run.

    Args:
        store: that holds it.
        key: of the cell.
        tuning: summary of the search; None without one.

    Raises:
        StoreError: it is missing or damaged.
    """
    if not store.has_cell(key):
        raise StoreError(f"cell {key} is missing from {store.folder}; run again to make it")
    folder = store.cell(key)
    about = read_json(folder / "cell.json")
    if not isinstance(about, dict) or not set(about) >= NEEDED:
        raise StoreError(
            f"{folder / 'cell.json'} is damaged (it lacks what a cell says of itself); delete the "
            f"folder {folder} and run the benchmark again: it makes this cell anew"
        )
    return CellResult({"tuning": None, **about, **({"tuning": tuning} if tuning else {})}, folder)


def by_seed(cells: Sequence[CellResult]) -> dict[int | None, tuple[CellResult, ...]]:
    """Group cells by seed, each group in the order of the folds."""
    seeds = dict.fromkeys(cell.about["seed"] for cell in cells)
    return {
        seed: tuple(sorted((c for c in cells if c.about["seed"] == seed), key=_fold))
        for seed in seeds
    }


def _fold(cell: CellResult) -> int:
    return int(cell.about["fold"])


def _vocab(column: pl.Series, name: str) -> Vocabulary:
    return Vocabulary(column.unique().sort().to_numpy(), name)
