"""The contract of a recommender: fit on interactions, score queries against items."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, NotFittedError, SpecError, StoreError, told
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.random import RNG
from fullrank.core.registry import construct
from fullrank.core.settings import check_types
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._arrays import save_arrays
from fullrank.models._folder import read_about, read_arrays
from fullrank.models._product import product
from fullrank.models._training import Training, TrainingLog
from fullrank.models._values import check_values

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_KEPT = ("known_users_", "known_items_", "item_counts_", "user_ids", "item_ids")
"""Names that ``save`` adds to ``fitted``."""

Monitor = Callable[[int, "Recommender"], bool]
"""Called after each epoch with its number and the model; True means stop."""

PairScorer = Callable[[Queries, NDArray[np.int64], NDArray[np.int32]], NDArray[np.float32]]
"""Scores float32 ``[n]`` of the candidates int32 ``[n]`` that an indptr gives to each query."""


@dataclass(eq=False)
class Recommender(ABC):
    """Base of all recommenders. Subclasses are dataclasses whose fields are the settings.

    Write ``_fit``, which sets attributes whose names end in ``_``, and ``_score``, which returns
    float32 ``[q, n_items]``, higher is better. A model of factors, of one row for all, or of sparse
    matrices shows these instead, and is ranked without a row of scores (``item_factors``,
    ``shared_scores``, ``sparse_product``). Name the attributes in ``fitted``, so that ``save``
    writes them, and set the flags that apply. Interactions and queries are read-only: copy before
    you change. Users call ``fit`` and ``score``, which check and then call yours.

    Row ``i`` of ``score`` depends on query ``i`` alone, and so does each of its bits: a query
    scored alone and in a block gets the same float32 scores.

    Example:
        >>> @dataclass(eq=False)
        ... class Shared(Recommender):
        ...     shrink: float = 10.0
        ...     folds_in: ClassVar[bool] = True
        ...     fitted: ClassVar[tuple[str, ...]] = ("similar_",)
        ...
        ...     def _fit(self, train, rng, monitor):
        ...         matrix = train.csr("binary")
        ...         shared = (matrix.T @ matrix).toarray()
        ...         self.similar_ = (shared / (shared.diagonal() + self.shrink)).astype("float32")
        ...
        ...     def _score(self, queries):
        ...         return np.asarray(queries.history_csr() @ self.similar_, dtype=np.float32)
        >>> Shared(shrink=2.0).settings()
        {'shrink': 2.0}

    Class attributes:
        folds_in: scores a user that was not in the fitted data from the query's history.
        uses_order: the order of the history matters.
        uses_values: fits on the values (ratings) of interactions.
        predicts_ratings: has ``predict``, on the scale of the values.
        seeded: ``fit`` draws random numbers, so that seeds matter.
        thread_safe: ``score`` may run in several threads at once.
        file_settings: names of settings that hold the path of a file ("" for none), read in
            ``fit``. A benchmark file names it relative to itself, and results are kept under a
            key that covers its content.
        complexity: the order of a fit's time in words, with |R| rows, m users, n items, d factors;
            empty if it isn't stated. Subclasses state their own.
        version: raised when the same settings would give other scores.
    """

    folds_in: ClassVar[bool] = False
    uses_order: ClassVar[bool] = False
    uses_values: ClassVar[bool] = False
    predicts_ratings: ClassVar[bool] = False
    seeded: ClassVar[bool] = False
    thread_safe: ClassVar[bool] = False
    file_settings: ClassVar[tuple[str, ...]] = ()
    complexity: ClassVar[str] = ""
    version: ClassVar[int] = 1
    fitted: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes (arrays, CSR matrices, numbers) that ``fit`` leaves behind."""
    search_space: ClassVar[Mapping[str, Any]] = {}
    """Default search by setting: ``{"low", "high", "log"}`` (whole ends: whole draws) or a list."""

    def __post_init__(self) -> None:
        """Check the types of settings; subclasses call it before their own checks.

        Raises:
            SpecError: a setting of another type than its field's, NaN or an infinity.
        """
        for f in fields(self):
            value = getattr(self, f.name, None)
            if f.init and isinstance(value, np.number | np.bool_):
                setattr(self, f.name, value.item())  # settings are written as JSON
            elif f.name in self.file_settings and isinstance(value, Path):
                setattr(self, f.name, str(value))
        check_types(type(self).__name__, self, vars(self))

    @abstractmethod
    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        """Learn from ``train``; set the attributes named in ``fitted``."""

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        """Score all items: float32 ``[q, n_items]``; by default from what the model shows.

        That is ``shared_scores``, ``item_factors`` with ``query_factors``, or ``sparse_product``.
        """
        for way in self._ways(len(type(self).__mro__)):
            if way == "shared_scores" and (shared := self.shared_scores()) is not None:
                return np.tile(shared, (len(queries), 1))
            if way == "item_factors" and (items := self.item_factors()) is not None:
                mine = self.query_factors(queries)
                if mine is not None:
                    return product(mine, items)
            if way == "sparse_product" and (both := self.sparse_product(queries)) is not None:
                left, right = (matrix.astype(np.float64) for matrix in both)
                return np.asarray((left @ right).toarray(), dtype=np.float32)
        raise NotImplementedError(
            f"{type(self).__name__} must define _score, or shared_scores, or item_factors with "
            "query_factors, or sparse_product"
        )

    def fit(
        self,
        train: Interactions,
        *,
        rng: RNG = 0,
        monitor: Monitor | None = None,
        checkpoint: str | Path | None = None,
        progress: bool | Callable[[str], None] | None = None,
    ) -> Self:
        """Learn from training rows.

        Models that train in epochs leave a ``TrainingLog`` in ``log_``. Ctrl-C ends their training
        with what they have, with a warning; the second one interrupts.

        Args:
            train: rows to learn from, and no others.
            rng: seed or Generator.
            monitor: called after each epoch by models that have any; True stops. ``EarlyStop``
                of ``fullrank`` keeps the best epoch's weights.
            checkpoint: folder that such models write to after each epoch, and go on from; the
                result is that of an unbroken training.
            progress: shown on the terminal (None: if there is one), or told to a callable.

        Raises:
            DataError: no interactions, no rows, or a column that the model needs is missing.
            SpecError: a monitor that can't be called.
            TrainingError: the training loss is no finite number.
            StoreError: the checkpoint is another training's.
        """
        _check_fit(type(self).__name__, train, monitor)
        if self.uses_values:
            check_values(train, type(self).__name__)
        self.user_vocab_, self.item_vocab_ = train.user_vocab, train.item_vocab
        self.known_users_ = train.user_counts > 0
        self.item_counts_ = train.item_counts
        self.known_items_ = self.item_counts_ > 0
        folder = None if checkpoint is None else Path(checkpoint)
        self.training, self.log_ = Training(monitor, folder, progress), TrainingLog()
        self._fit(train, rng, monitor)
        finish = getattr(monitor, "finish", None)
        if finish is not None and not self.log_.epochs:  # a loop of the model's own
            self.log_.best_epoch = finish(self)
        return self

    def score(
        self, queries: Queries, items: NDArray[np.integer[Any]] | None = None
    ) -> NDArray[np.float32]:
        """Score items for queries; higher is better, -inf means never recommend.

        Args:
            queries: only ``users`` and histories are used, never the targets.
            items: item codes ``[c]``, or None for the whole catalogue.

        Returns:
            float32 ``[q, c]``.
        """
        self.check(queries)
        ways = self.ways()
        # Factors that a subclass adds speak for it, whatever the parent scored by.
        shown = bool(ways) and self._place(ways[0]) < self._place("_score")
        scores = Recommender._score(self, queries) if shown else self._score(queries)
        return scores if items is None else np.ascontiguousarray(scores[:, items])

    def score_pairs(
        self, queries: Queries, indptr: NDArray[np.int64], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Score each query's own candidates.

        Args:
            queries: ``[q]``.
            indptr: int64 ``[q + 1]``; the candidates of query ``i`` are
                ``candidates[indptr[i]:indptr[i + 1]]``.
            candidates: int32 ``[n]`` item codes.

        Returns:
            float32 ``[n]``.
        """
        out = np.empty(len(candidates), dtype=np.float32)
        block = 256
        for start in range(0, len(queries), block):
            stop = min(start + block, len(queries))
            scores = self.score(queries[start:stop])
            rows = rows_of(indptr[start : stop + 1] - indptr[start])
            part = slice(indptr[start], indptr[stop])
            out[part] = scores[rows, candidates[part]]
        return out

    def pair_scorer(self) -> PairScorer:
        """The ``score_pairs`` that speaks for this model's scores.

        A class that scores in a way of its own, below the class whose ``score_pairs`` it inherits,
        is not scored by that.
        """
        if self.scores_rows():
            return lambda *pairs: Recommender.score_pairs(self, *pairs)
        return self.score_pairs

    def scores_rows(self) -> bool:
        """Whether pairs are looked up in whole rows of scores: there is no cheaper way to them."""
        below = min(self._place(name) for name in ("_score", "score", *self.ways()))
        return below < self._place("score_pairs")

    def predict(self, queries: Queries, items: NDArray[np.int32]) -> NDArray[np.float64]:
        """Predict the value that query ``i`` gives ``items[i]``, on the scale of the values.

        Returns:
            float64 ``[q]``.
        """
        raise DataError(
            f"{type(self).__name__} predicts no ratings (its scores only order items); "
            "RMSE and MAE need a model with predicts_ratings"
        )

    def shared_scores(self) -> NDArray[np.float32] | None:
        """One row of scores ``[n_items]`` if all queries share it, so that ranking can fuse."""
        return None

    def item_factors(self) -> NDArray[np.float32] | None:
        """Float32 ``[n_items, d]`` if scores are ``query_factors @ item_factors.T``; None if not.

        Ranking then makes the product itself, tile by tile. The scores are the exact product of
        the factors on a fine grid, rounded to float32, whatever the block; so does ``_score`` by
        default.
        """
        return None

    def query_factors(self, queries: Queries) -> NDArray[np.float32] | None:
        """Float32 ``[q, d]``, beside ``item_factors``."""
        return None

    def sparse_product(self, queries: Queries) -> tuple[csr_matrix, csr_matrix] | None:
        """``(left, right)``, CSR ``[q, m]`` and ``[m, n_items]``, if scores are their product.

        Sums run in float64, in the order of the left's rows, and are then rounded to float32; what
        no term reaches scores 0. Ranking then looks only at the items that a query's row reaches.
        """
        return None

    def ways(self) -> tuple[str, ...]:
        """Which of the methods that show how scores come about speak for this model's scores.

        ``shared_scores``, ``item_factors`` and ``sparse_product``, those of the most derived class
        first; a class with a ``_score`` of its own below theirs is scored by that alone.
        """
        return self._ways(min(self._place("_score"), self._place("score")))

    def _ways(self, last: int) -> tuple[str, ...]:
        """Those that are defined up to the class ``last``, and below this one."""
        names = ("shared_scores", "item_factors", "sparse_product")
        places = [(self._place(name), name) for name in names]
        base = len(type(self).__mro__) - type(self).__mro__[::-1].index(Recommender) - 1
        shown = [(place, name) for place, name in places if place <= last and place < base]
        return tuple(name for _, name in sorted(shown, key=lambda one: one[0]))

    def _place(self, name: str) -> int:
        """How far up the classes a method is defined; -1 if on the object itself."""
        if name in vars(self):
            return -1
        return next(i for i, one in enumerate(type(self).__mro__) if name in vars(one))

    def settings(self) -> dict[str, Any]:
        """Settings by name, as given or by default."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def check(self, queries: Queries) -> None:
        """Refuse an unfitted model, or queries whose item codes mean other items."""
        if not hasattr(self, "item_vocab_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(train) first")
        if queries.item_vocab != self.item_vocab_:
            raise DataError(
                f"{type(self).__name__} was fitted on {len(self.item_vocab_):,} items and the "
                f"queries speak of {queries.n_items:,} others; make the queries from the split "
                "that the model was fitted on, or encode them with model.item_vocab_"
            )

    def save(self, folder: str | Path) -> None:
        """Write settings (JSON) and fitted arrays (npz, no pickle) to a folder."""
        self._require_fitted()
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in self.fitted}
        arrays |= {
            "known_users_": self.known_users_,
            "known_items_": self.known_items_,
            "item_counts_": self.item_counts_,
            "user_ids": self.user_vocab_.ids,
            "item_ids": self.item_vocab_.ids,
        }
        save_arrays(folder / "arrays.npz", arrays)
        about = {"model": type(self).__name__, "version": self.version, "settings": self.settings()}
        (folder / "model.json").write_text(json.dumps(about, indent=1))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what ``save`` wrote; refuses another model's folder or version."""
        folder = Path(folder)
        about = read_about(folder, cls.__name__)
        if about["model"] != cls.__name__:
            raise StoreError(
                f"{folder} holds {about['model']}, not {cls.__name__}; read it with "
                f"{about['model']}.load"
            )
        if about["version"] != cls.version:
            raise StoreError(
                f"{folder} holds {about['model']} version {about['version']}, and this one is "
                f"version {cls.version}, which scores otherwise; fit it anew"
            )
        with told(f"{folder / 'model.json'}: "):
            model: Self = construct(cls.__name__, cls, about["settings"])
        arrays = read_arrays(folder, (*cls.fitted, *_KEPT))
        model.user_vocab_ = Vocabulary(arrays.pop("user_ids"), "user")
        model.item_vocab_ = Vocabulary(arrays.pop("item_ids"), "item")
        for name, value in arrays.items():
            setattr(model, name, value)
        return model

    def snapshot(self) -> dict[str, Any]:
        """Copies of what ``fit`` left behind, for ``restore``."""
        self._require_fitted()
        return {name: deepcopy(getattr(self, name)) for name in self.fitted}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go back to a ``snapshot`` of the same fit; private attributes, which are caches, go."""
        own = {f.name for f in fields(self)}
        for name in [name for name in vars(self) if name.startswith("_") and name not in own]:
            delattr(self, name)
        for name, value in snapshot.items():
            setattr(self, name, value)

    def _require_fitted(self) -> None:
        if not hasattr(self, "item_vocab_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(train) first")


def _check_fit(name: str, train: Interactions, monitor: Monitor | None) -> None:
    """Refuse what isn't rows, or is none of them, and a monitor that can't be called."""
    if not isinstance(train, Interactions):
        raise DataError(
            f"{name}.fit takes Interactions, such as split.train or fullrank.read(…).interactions; "
            f"got {type(train).__name__}"
        )
    if len(train) == 0:
        raise DataError(f"{name}.fit got no rows; check the split and filters")
    if monitor is not None and not callable(monitor):
        raise SpecError(
            f"{name}.fit: monitor must be callable with an epoch and the model, such as EarlyStop; "
            f"got {monitor!r}"
        )
