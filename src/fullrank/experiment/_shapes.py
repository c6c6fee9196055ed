"""The benchmark file: TOML read into frozen models; unknown keys are errors with a suggestion."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from fullrank.core.errors import suggest
from fullrank.models._published import PUBLISHED

Seed = Annotated[int, Field(ge=0, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class ReadSpec(_Part):
    """How the file of a data set is read; what is left out is found from its content.

    Attributes:
        format: ``"delimited"``, ``"parquet"``, ``"arrow"``, ``"jsonl"``, ``"trec-qrels"``; or,
            never guessed, ``"sequence"`` (each line a user followed by its items) and
            ``"matrix"`` (of ratings).
        separator: of delimited text; ``" "`` means any run of blanks.
        quote: quote sign, ``""`` for none.
        escape: sign that marks a quote inside quotes, such as a backslash.
        encoding: of text, such as ``"latin-1"``; UTF-8 if left out.
        header: true if the first line names the columns.
        time_unit: unit of whole-number times: ``"s"``, ``"ms"``, ``"us"``, ``"ns"`` or
            ``"order"``.
    """

    format: str | None = None
    separator: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    header: Annotated[bool, Field(strict=True)] | None = None
    time_unit: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What was given, as ``fullrank.read`` takes it."""
        return self.model_dump(exclude_none=True)


class DataSpec(_Part):
    """One data set of a benchmark.

    Attributes:
        name: a named source, or a label if ``path`` is given.
        path: a file, relative to the benchmark file.
        columns: our column names by theirs, ``{user_id = "uid"}``.
        read: how the file is read, ``{format = "sequence"}``.
        grade: column with the gain of a target; without it every row has gain 1.
    """

    name: str
    path: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    read: ReadSpec = ReadSpec()
    grade: str | None = None


class FilterSpec(_Part):
    """Filters on all rows before the split, and on training rows only.

    Attributes:
        before: in order, on all rows.
        train: in order, on what models are fitted on.
        seed: of the draws of filters that sample.
    """

    before: tuple[dict[str, dict[str, Any]], ...] = ()
    train: tuple[dict[str, dict[str, Any]], ...] = ()
    seed: Seed = 0


class SplitSpec(BaseModel):
    """The split: a strategy by name, its settings beside it, and the seed of its draws."""

    model_config = ConfigDict(extra="allow", frozen=True)

    strategy: str
    seed: Seed = 0
    repeats: Literal["drop", "keep"] = "drop"

    @property
    def settings(self) -> dict[str, Any]:
        """The strategy's own settings."""
        return dict(self.__pydantic_extra__ or {})


class RankingSpec(_Part):
    """What is ranked, and what happens to users without a history.

    Attributes:
        catalogue: ``"fit"``, ``"all"``, or a file with a column ``item_id``.
        eligible: file with ``user_id, item_id``: what each user may get (stock, region).
        candidates: ``"full"``: every item of the catalogue is ranked.
        cold_users: those of whom the model may use no history, with no row fitted and none folded
            in. ``"apart"`` ranks them as the model does, ``"fallback"`` gives every model the
            popularity ranking for them, ``"out"`` leaves them out of all; always counted.
    """

    catalogue: str = "fit"
    eligible: str | None = None
    candidates: Literal["full"] = "full"
    cold_users: Literal["apart", "fallback", "out"] = "apart"


class TuneSpec(_Part):
    """How settings are searched: the same budget for every model unless a model states its own.

    Attributes:
        metric: settings are chosen by its mean over the validation queries (over the validation
            rows, for a rating metric).
        trials: trials per model (of the study: a resumed run does not start afresh).
        seconds: budget in seconds instead; promises no reproducibility.
        users: ``"warm"`` chooses on users with a history (cold ones rank alike under every
            setting of most models, and drown the difference), ``"all"`` on all.
        refit: what the chosen model is fitted on before the test.
        seed: of the search.
        sampler: ``"tpe"`` (Optuna), ``"random"``, or ``"grid"`` (every combination of a finite
            space, in order).
        patience: models that train in epochs stop after so many evaluations without a better
            value, and the trial counts with its best epoch; the refit trains for as many.
        every: epochs between evaluations.
        pruning: ``"halving"`` stops trials that are behind others after as many epochs
            (asynchronous successive halving, the best third goes on); they are marked.
        first: ``"defaults"`` tries the model's default settings first (those that lie outside
            the space are drawn), so that a small budget does not end below them; ``"drawn"``
            draws them as all others. Of no account for a grid.
    """

    metric: str
    trials: Count | None = None
    seconds: Annotated[float, Field(gt=0, strict=True)] | None = None
    users: Literal["warm", "all"] = "warm"
    refit: Literal["train", "train+valid"] = "train+valid"
    seed: Seed = 0
    sampler: Literal["tpe", "random", "grid"] = "tpe"
    patience: Count | None = None
    every: Count = 1
    pruning: Literal["none", "halving"] = "none"
    first: Literal["defaults", "drawn"] = "defaults"

    @property
    def watches(self) -> bool:
        """True if models that train in epochs are evaluated in between."""
        return self.patience is not None or self.pruning != "none"

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if (self.trials is None) == (self.seconds is None):
            raise ValueError("give one budget: either trials = 20 or seconds = 600")
        return self


class ModelSpec(_Part):
    """One row of the leaderboard.

    Attributes:
        name: a registered model, or ``package.module:Class``.
        label: name in tables; the model's name by default.
        settings: fixed settings.
        search: a search space (``{reg = {low = 1.0, high = 1e4, log = true}}`` or lists of
            choices), ``"default"`` for the space that the model ships, or the name of a published
            one, such as ``"daisyrec"``.
        trials: a budget of its own, stated in the protocol.
    """

    name: str
    label: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    search: dict[str, Any] | str | None = None
    trials: Count | None = None

    @field_validator("search", mode="before")
    @classmethod
    def _space(cls, value: Any) -> Any:
        known = ("default", *PUBLISHED)
        if value is None or value in known or isinstance(value, dict):
            return value
        raise ValueError(
            "must be a table such as { reg = { low = 1.0, high = 100.0 } }, or one of "
            f"{', '.join(map(repr, known))}; got {value!r}"
        )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.trials is not None and self.search is None:
            raise ValueError("trials are of a search and this model has none; add search")
        both = set(self.settings) & set(self.search if isinstance(self.search, dict) else ())
        if both:
            raise ValueError(f"{min(both)!r} is both fixed and searched; keep one")
        return self

    @property
    def title(self) -> str:
        """Label, or the class name."""
        return self.label or self.name.rpartition(":")[2]


class BenchSpec(_Part):
    """A whole benchmark.

    Attributes:
        name: title of the report.
        seeds: seeds of the final fits of models that draw random numbers.
        baseline: label of the model that the tests compare with; the first by default.
        metrics: metric names as on the command line.
        level: confidence level of intervals.
        data: data sets.
        filters: before the split, and on training rows.
        split: how rows are held out.
        ranking: catalogue, candidates, cold users.
        tune: budget of the search; needed if a model has a search space.
        model: the models.
    """

    name: str = "benchmark"
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] = (1,)
    baseline: str | None = None
    metrics: Annotated[tuple[str, ...], Field(min_length=1)]
    level: Annotated[float, Field(gt=0.5, lt=1, strict=True)] = 0.95
    data: Annotated[tuple[DataSpec, ...], Field(min_length=1)]
    filters: FilterSpec = FilterSpec()
    split: SplitSpec
    ranking: RankingSpec = RankingSpec()
    tune: TuneSpec | None = None
    model: Annotated[tuple[ModelSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        titles = [model.title for model in self.model]
        for key, what, values in (
            ("model", "model label", titles),
            ("data", "data name", [data.name for data in self.data]),
            ("seeds", "seed", [str(seed) for seed in self.seeds]),
        ):
            for j, value in enumerate(values):
                if value in values[:j]:
                    text = f"{what} {value!r} is used twice; {_REMEDIES[key]}"
                    raise _problem((key, j), text)
        if self.baseline is not None and self.baseline not in titles:
            known = suggest(self.baseline, titles)
            raise _problem(("baseline",), f"baseline {self.baseline!r} is no model here{known}")
        for j, model in enumerate(self.model):
            if self.tune is None and model.search is not None:
                text = (
                    f"model {model.title!r} has a search space and there is no budget; add a "
                    'table [tune] with metric = "ndcg@10" and trials = 20'
                )
                raise _problem(("model", j, "search"), text)
        return self

    @property
    def baseline_title(self) -> str:
        """The model that the tests compare with."""
        return self.baseline or self.model[0].title


_REMEDIES = {
    "model": "give one of them a label of its own",
    "data": "name each data set differently",
    "seeds": "write each seed once",
}


def _problem(loc: tuple[str | int, ...], text: str) -> PydanticCustomError:
    """A problem between keys, with the place that it is told at."""
    return PydanticCustomError("inconsistent", "{text}", {"text": text, "loc": loc})
