"""From the terms of Psi to the table that learners take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fullrank.subsample.psi import Missing, Place, Term

if TYPE_CHECKING:
    import polars as pl


def taus(data: str, terms: Iterable[Term | Missing]) -> pl.DataFrame:
    """Average the repeats of each cell.

    Args:
        data: name of the data set.
        terms: of Psi, those that are missing included: a cell of which every repeat is missing has
            the tau null.

    Returns:
        ``data, scenario, metric, keep, strategy, tau, tau_sd, repeats``: mean and standard
        deviation (null for a single one) over the repeats that there are, and how many; the
        strategy is the sampler's label.
    """
    import polars as pl

    found: dict[tuple[Place, str], list[float]] = {}
    for term in terms:
        values = found.setdefault((term.place, term.sampler), [])
        if isinstance(term, Term):
            values.append(term.values["tau"])
    rows = [
        (
            data, *place, sampler,
            float(np.mean(values)) if values else None,
            float(np.std(values, ddof=1)) if len(values) > 1 else None,
            len(values),
        )
        for (place, sampler), values in sorted(found.items())
    ]  # fmt: skip
    text, number = pl.String, pl.Float64
    shape = {
        "data": text, "scenario": text, "metric": text, "keep": number, "strategy": text,
        "tau": number, "tau_sd": number, "repeats": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, shape, orient="row")
