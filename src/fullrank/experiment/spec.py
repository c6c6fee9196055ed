"""The benchmark file: TOML read into frozen models; unknown keys are errors with a suggestion."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fullrank.core.errors import SpecError, suggest

Seed = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class DataSpec(_Part):
    """One data set of a benchmark.

    Attributes:
        name: a named source, or a label if ``path`` is given.
        path: a file, relative to the benchmark file.
        columns: our column names by theirs, ``{user_id = "uid"}``.
        grade: column with the gain of a target; without it every row has gain 1.
    """

    name: str
    path: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    grade: str | None = None


class FilterSpec(_Part):
    """Filters on all rows before the split, and on training rows only."""

    before: tuple[dict[str, dict[str, Any]], ...] = ()
    train: tuple[dict[str, dict[str, Any]], ...] = ()


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
        cold_users: ``"apart"`` ranks them as the model does, ``"fallback"`` gives every model the
            popularity ranking for them, ``"out"`` leaves them out of all; always counted.
    """

    catalogue: str = "fit"
    eligible: str | None = None
    candidates: Literal["full"] = "full"
    cold_users: Literal["apart", "fallback", "out"] = "apart"


class TuneSpec(_Part):
    """How settings are searched: the same budget for every model unless a model states its own.

    Attributes:
        metric: chosen by its mean over the validation queries; higher is better.
        trials: trials per model (of the study: a resumed run does not start afresh).
        seconds: budget in seconds instead; promises no reproducibility.
        users: ``"warm"`` chooses on users with a history (cold ones rank alike under every
            setting of most models, and drown the difference), ``"all"`` on all.
        refit: what the chosen model is fitted on before the test.
        seed: of the search.
        sampler: ``"tpe"`` (Optuna) or ``"random"``.
    """

    metric: str
    trials: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    users: Literal["warm", "all"] = "warm"
    refit: Literal["train", "train+valid"] = "train+valid"
    seed: Seed = 0
    sampler: Literal["tpe", "random"] = "tpe"

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if (self.trials is None) == (self.seconds is None):
            raise ValueError("give a budget: either trials or seconds")
        return self


class ModelSpec(_Part):
    """One row of the leaderboard.

    Attributes:
        name: a registered model, or ``package.module:Class``.
        label: name in tables; the model's name by default.
        settings: fixed settings.
        search: a search space (``{reg = {low = 1.0, high = 1e4, log = true}}`` or lists of
            choices), or ``"default"`` for the space that the model ships.
        trials: a budget of its own, stated in the protocol.
    """

    name: str
    label: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    search: dict[str, Any] | Literal["default"] | None = None
    trials: Annotated[int, Field(ge=1)] | None = None

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
    level: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    data: Annotated[tuple[DataSpec, ...], Field(min_length=1)]
    filters: FilterSpec = FilterSpec()
    split: SplitSpec
    ranking: RankingSpec = RankingSpec()
    tune: TuneSpec | None = None
    model: Annotated[tuple[ModelSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        titles = [model.title for model in self.model]
        for what, values in (
            ("model label", titles),
            ("data name", [data.name for data in self.data]),
            ("seed", [str(seed) for seed in self.seeds]),
        ):
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                raise ValueError(f"{what} {twice[0]!r} is used twice; labels must be unique")
        if self.baseline is not None and self.baseline not in titles:
            raise ValueError(
                f"baseline {self.baseline!r} is no model here{suggest(self.baseline, titles)}"
            )
        if self.tune is None and any(model.search is not None for model in self.model):
            raise ValueError("a model has a search space and there is no [tune] with a budget")
        return self

    @property
    def baseline_title(self) -> str:
        """The model that the tests compare with."""
        return self.baseline or self.model[0].title


def parse_spec(content: dict[str, Any], where: str = "benchmark", text: str = "") -> BenchSpec:
    """Validate the content of a benchmark file.

    Args:
        content: parsed TOML.
        where: file name for messages.
        text: the TOML source, to name lines.

    Raises:
        SpecError: the first problem, with the key, its line, and the nearest known key.
    """
    try:
        return BenchSpec.model_validate(content)
    except ValidationError as error:
        raise SpecError(_explain(error, where, text)) from error


def read_spec(path: str | Path) -> tuple[BenchSpec, Path]:
    """Read a benchmark file; returns the spec and the folder that its paths are relative to.

    Raises:
        SpecError: the file is missing, no TOML, or no benchmark.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"there is no benchmark file {path}") from None
    except IsADirectoryError:
        raise SpecError(f"{path} is a folder; name the benchmark file in it") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SpecError(f"{path} line {line} is not UTF-8; save the file as UTF-8") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path} is not valid TOML: {error}") from None
    return parse_spec(content, str(path), text), path.resolve().parent


def _explain(error: ValidationError, where: str, text: str) -> str:
    """One sentence for the first problem."""
    problem = error.errors()[0]
    loc = [part for part in problem["loc"] if part != "function-after"]
    path = ".".join(str(part) for part in loc) or "the file"
    key = next((str(part) for part in reversed(loc) if isinstance(part, str)), "")
    spot = f"{where}{_line_of(key, text)}"
    if problem["type"] == "extra_forbidden":
        return f"{spot}: unknown key {path!r}{suggest(key, _keys_at(loc[:-1]))}"
    if problem["type"] == "missing":
        return f"{spot}: the key {path!r} is missing"
    message = problem["msg"].removeprefix("Value error, ")
    given = "" if problem["type"] == "value_error" else f", got {problem['input']!r}"
    return f"{spot}: {path}: {message}{given}"


def _line_of(key: str, text: str) -> str:
    """``" line 7"`` where the key is first set, if it can be found."""
    pattern = re.compile(rf"(^|[{{,\[.\s]){re.escape(key)}\s*[=\].]") if key else None
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern and pattern.search(line):
            return f" line {number}"
    return ""


def _keys_at(loc: list[Any]) -> list[str]:
    """Known keys of the table at a place."""
    model: Any = BenchSpec
    for part in loc:
        if isinstance(part, str):
            field = model.model_fields[part]
            found = re.findall(r"(\w+Spec)", str(field.annotation))
            if not found:
                return []
            model = globals()[found[0]]
    return sorted(model.model_fields)
