"""One cell: one model with settled settings and one seed on one fold, fitted, ranked and stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.ranked import Predictions, TargetRanks
from fullrank.core.registry import build, find
from fullrank.core.resources import measured
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment._blame import blamed
from fullrank.experiment._files import files_of, located, named
from fullrank.experiment._own import code_of
from fullrank.experiment.bench import Fold
from fullrank.experiment.provenance import provenance
from fullrank.experiment.spec import ModelSpec
from fullrank.experiment.store import key_of, plain
from fullrank.experiment.whole import fit_whole
from fullrank.models import Popularity, Recommender
from fullrank.rank import concat_ranks, predict_rows, rank

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Cell:
    """What is fitted and ranked.

    Attributes:
        fold: data and split.
        model: name and label.
        settings: settled settings.
        seed: of the fit; None for a model that draws nothing.
        ratings: predictions are kept too (a rating metric was asked for).
    """

    fold: Fold
    model: ModelSpec
    settings: Mapping[str, Any]
    seed: int | None
    ratings: bool

    @property
    def key(self) -> str:
        """Name of the cell in the store."""
        return key_of(
            {
                "data": self.fold.data.name,  # two names of one content are two rows of a table
                "protocol": self.fold.protocol_id,
                "model": self.model.name,
                "label": self.model.title,
                "version": find("model", self.model.name).version,
                **code_of(self.model.name),
                **self._files,
                "settings": plain(self.settings),
                "seed": self.seed,
                "ratings": self.ratings,
            }
        )

    @property
    def _files(self) -> dict[str, Any]:
        """Content of the files that settings name."""
        return files_of(self.model.name, self.settings, self.fold.base)

    @property
    def _paths(self) -> dict[str, str]:
        """The files as the benchmark names them."""
        return dict(named(self.model.name, self.settings))

    def run(
        self, checkpoint: Path | None = None, tell: Callable[[str], None] | None = None
    ) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
        """Fit, rank the test queries, and return what the store keeps.

        Args:
            checkpoint: folder that a fit in epochs goes on from, if it was cut short.
            tell: called with a line after each epoch.

        Raises:
            KeyboardInterrupt: a fit was stopped; what it had learnt is no result of a benchmark.
        """
        fold = self.fold
        rows, queries = fold.test_fit_rows, fold.test_queries
        resources: dict[str, float | None] = {}
        files = self._files
        model = self._fitted(rows, resources, checkpoint, tell)
        with blamed(self.model), measured(resources, "rank"):
            ranked = self._rank(model)
        tables = {
            "queries": queries_table(ranked, queries.history_counts),
            "ranks": ranks_table(ranked),
        }
        tables["items"] = items_table(ranked, rows.item_counts)
        if self.ratings and model.predicts_ratings:
            tables["predictions"] = self._predictions(model)
        about = {
            "data": fold.data.name,
            "fold": fold.number,
            "protocol_id": fold.protocol_id,
            "protocol": fold.protocol,
            "card": plain(fold.split.card()),
            "source": vars(fold.source),
            "model": self.model.title,
            "class": self.model.name,
            "version": model.version,
            **code_of(self.model.name),
            **files,
            "settings": plain({**model.settings(), **self._paths}),
            "seed": self.seed,
            "counts": ranked.counts,
            "design": ranked.design,
            "depth": ranked.depth,
            "fitted_rows": len(rows),
            "resources": resources,
            **({"training": model.log_.as_dict()} if model.log_.epochs else {}),
            "provenance": provenance(),
        }
        return about, tables

    def _fitted(
        self,
        rows: Interactions,
        resources: dict[str, float | None],
        checkpoint: Path | None,
        tell: Callable[[str], None] | None,
    ) -> Recommender:
        settings = located(self.model.name, self.settings, self.fold.base)
        model: Recommender = build("model", self.model.name, settings)
        with blamed(self.model), measured(resources, "fit"):
            fit_whole(
                model,
                rows,
                rng=0 if self.seed is None else self.seed,
                checkpoint=checkpoint,
                progress=tell or False,
            )
        return model

    def _predictions(self, model: Recommender) -> pl.DataFrame:
        queries = self.fold.test_queries.without_targets()
        return predictions_table(predict_rows(model, queries, self.fold.split.test))

    def _rank(self, model: Recommender) -> TargetRanks:
        """Rank the test queries, cold ones by popularity if the protocol says so."""
        fold = self.fold
        queries, rows = fold.test_queries, fold.test_fit_rows
        cold = queries.history_counts == 0
        if fold.spec.ranking.cold_users != "fallback" or not cold.any():
            return rank(model, queries, catalogue=fold.catalogue(rows, queries)).targets
        fallback = Popularity().fit(rows)
        parts = [
            rank(which, part, catalogue=fold.catalogue(rows, part)).targets
            for which, part in ((model, queries[~cold]), (fallback, queries[cold]))
            if len(part)
        ]
        order = np.argsort(np.concatenate([np.flatnonzero(~cold), np.flatnonzero(cold)]))
        merged = concat_ranks(parts)[order]
        whole = {k: n for k, n in parts[0].counts.items() if k.startswith("unknown_")}
        counts = {**merged.counts, **queries.counts, **whole, "cold_by_popularity": int(cold.sum())}
        return replace(merged, counts=counts)


def is_seeded(model: ModelSpec) -> bool:
    """True if seeds matter to the model."""
    return bool(find("model", model.name).seeded)


def queries_table(ranked: TargetRanks, history_counts: Any) -> pl.DataFrame:
    """One row per query: ids, number of candidates, length of the history."""
    import polars as pl

    return pl.DataFrame(
        {
            "user_id": ids_series(ranked.user_vocab, ranked.users),
            "query_id": ranked.query_ids,
            "n_candidates": ranked.n_candidates,
            "history": np.asarray(history_counts, dtype=np.int32),
            "targets": np.diff(ranked.indptr).astype(np.int32),
        }
    )


def ranks_table(ranked: TargetRanks) -> pl.DataFrame:
    """One row per target, in the order of the queries: item, ranks, gain."""
    import polars as pl

    return pl.DataFrame(
        {
            "item_id": ids_series(ranked.item_vocab, ranked.items),
            "best": ranked.best,
            "worst": ranked.worst,
            "gain": ranked.gains,
        }
    )


def items_table(ranked: TargetRanks, item_counts: Any) -> pl.DataFrame:
    """One row per target item: how often the fitted data hold it (0: a cold item)."""
    import polars as pl

    items = np.unique(ranked.items)
    return pl.DataFrame(
        {
            "item_id": ids_series(ranked.item_vocab, items),
            "rows": np.asarray(item_counts)[items].astype(np.int64),
        }
    )


def predictions_table(predictions: Predictions) -> pl.DataFrame:
    """One row per test row."""
    import polars as pl

    return pl.DataFrame(
        {
            "user_id": ids_series(predictions.user_vocab, predictions.users),
            "item_id": ids_series(predictions.item_vocab, predictions.items),
            "predicted": predictions.predicted,
            "observed": predictions.observed,
        }
    )


def ids_series(vocab: Vocabulary, codes: Any) -> pl.Series:
    """Outside ids as a column of their own type."""
    return vocab.series(codes)
