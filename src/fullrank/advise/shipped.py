"""What comes with the package: meta-data, the model trained on them, and how it does."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fullrank.advise.learners import Fitted
from fullrank.advise.meta_data import MetaData
from fullrank.advise.protocol import Evaluation
from fullrank.core.errors import StoreError

FOLDER = Path(__file__).parent / "meta"
EVALUATION = "evaluation.csv"


@cache
def shipped_data() -> MetaData:
    """The meta-data set that comes with the package."""
    return MetaData.load(FOLDER)


@cache
def shipped_model() -> Fitted:
    """The model trained on it; needs the core alone."""
    return Fitted.load(FOLDER)


@cache
def shipped_evaluation() -> Evaluation:
    """How the shipped kind of model did on each of its data sets, having learnt from the others.

    It is what ``track_record`` gave.

    Raises:
        StoreError: the table is missing or damaged.
    """
    import polars as pl

    text = pl.String
    kinds = dict.fromkeys(("chooser", "data", "scenario", "metric"), text)
    try:
        groups = pl.read_csv(FOLDER / EVALUATION, schema_overrides={**kinds, "keep": pl.Float64})
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(
            f"{FOLDER / EVALUATION} can't be read ({error}); install fullrank again"
        ) from error
    nothing = groups.select("chooser").clear()
    return Evaluation(groups, nothing, skipped=0, unmeasured=0, seed=0)
