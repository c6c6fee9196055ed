"""What the tables and plots of the page come from: the committed numbers, read back as terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.stats import adjust
from fullrank.subsample.psi import Missing, Place, Repeat, Term, Terms
from replications.svpcf import parts

MEASURES = ("tau", "weighted_tau", "top1", "top3")
SHARED = (0.6, 0.2, 0.1)
"""Sizes that all data sets have."""
LEVEL = 0.95
_NONE: NDArray[np.float64] = np.array([])


@dataclass(frozen=True, eq=False)
class Found:
    """The numbers of a data set.

    Attributes:
        name: of the data set.
        terms: of all repeats that are there.
        costs: one row a sampler, size and repeat.
        samples: one row a sample.
    """

    name: str
    terms: Terms
    costs: pl.DataFrame
    samples: pl.DataFrame

    @cached_property
    def shared(self) -> tuple[Place, ...]:
        """Places of the sizes that all data sets have, which every sampler has."""
        return tuple(place for place in self.terms.common if place.keep in SHARED)

    def psi(self, sampler: str, places: Sequence[Place] | None = None) -> float | None:
        """Mean tau of a sampler; None where it was not run or nothing is in common."""
        if sampler not in self.terms.samplers:
            return None
        return self.terms.value(sampler, "tau", places).value

    def warm(self, sampler: str) -> float | None:
        """Mean tau over the users that the samples leave a row, at the shared sizes."""
        if sampler not in self.terms.samplers or not self.shared:
            return None
        found = self.terms.of(sampler, self.shared)
        values = [term.values["tau"] if term.warm is None else term.warm for term in found]
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else None

    def worth(self, sampler: str, *, warm: bool) -> float | None:
        """Psi at the shared sizes, of all users or of warm ones."""
        return self.warm(sampler) if warm else self.psi(sampler, self.shared)

    @property
    def rows_a_user(self) -> float:
        """Training rows of a user on average, in the full data."""
        kept = self.samples.filter(pl.col("sampler") == "rows, random").filter(
            pl.col("keep") == pl.col("keep").max()
        )
        rows = kept["rows"] / kept["keep"]
        users = kept["users"] + kept["cold_users"]
        return float((rows / users).mean())  # type: ignore[arg-type]


def read(folder: Path) -> Found:
    """The numbers of a data set.

    Args:
        folder: with ``terms-SEED.csv`` and so on.
    """
    rows = _table(folder, "terms")
    terms = [_term(row) for row in rows.iter_rows(named=True)]
    samplers = [str(one["label"]) for one in parts.SAMPLERS]
    mine = {term.sampler for term in terms}
    return Found(
        folder.name,
        Terms(
            tuple(sampler for sampler in samplers if sampler in mine),
            tuple(dict.fromkeys(term.place for term in terms)),
            tuple(dict.fromkeys(term.repeat for term in terms)),
            tuple(term for term in terms if isinstance(term, Term)),
            tuple(term for term in terms if isinstance(term, Missing)),
            LEVEL,
        ),
        _table(folder, "costs"),
        _table(folder, "samples"),
    )


def _table(folder: Path, name: str) -> pl.DataFrame:
    """The files of all seeds below each other, with the seed."""
    text: dict[str, Any] = {"sampler": pl.String, "missing": pl.String, "notes": pl.String}
    number = dict.fromkeys((*MEASURES, "warm", "sd_users"), pl.Float64)
    paths = sorted(folder.glob(f"{name}-*.csv"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no {name}-SEED.csv; run its part of the study first")
    return pl.concat(
        [
            pl.read_csv(path, schema_overrides=text | number).with_columns(
                pl.col("sampler").fill_null(""),
                pl.lit(int(path.stem.rpartition("-")[2])).alias("seed"),
            )
            for path in paths
        ],
        how="diagonal_relaxed",
    )


def _term(row: Mapping[str, object]) -> Term | Missing:
    place = Place(str(row["scenario"]), str(row["metric"]), float(str(row["keep"])))
    sampler, repeat = str(row["sampler"]), Repeat(*[int(str(row["seed"]))] * 3)
    if row["missing"]:
        return Missing(sampler, place, repeat, str(row["missing"]))
    values = {name: float(str(row[name])) for name in MEASURES}
    warm = None if row["warm"] is None else float(str(row["warm"]))
    return Term(sampler, place, repeat, (), _NONE, _NONE, values, {}, warm)


def read_all(folder: Path, names: Sequence[str]) -> list[Found]:
    """Data sets that there are numbers of, in their order."""
    return [read(folder / name) for name in names if any((folder / name).glob("terms-*.csv"))]


@dataclass(frozen=True)
class Gap:
    """A mean difference over data sets.

    Attributes:
        value: mean.
        low: end of its t interval; NaN for one data set.
        high: the other end.
        n: data sets.
        p_value: of the t test; NaN for one.
        adjusted: by Holm over its family; NaN outside one.
    """

    value: float
    low: float
    high: float
    n: int
    p_value: float
    adjusted: float = float("nan")

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def gap(values: Sequence[float]) -> Gap:
    """Mean of differences, one a data set, with Student's interval."""
    from scipy.special import stdtr, stdtrit

    x, n = np.asarray(values, np.float64), len(values)
    if n < 2:
        nan = float("nan")
        return Gap(float(x.mean()) if n else nan, nan, nan, n, nan)
    se = float(x.std(ddof=1)) / np.sqrt(n)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * se
    mean = float(x.mean())
    p = 2 * float(stdtr(n - 1, -abs(mean) / se)) if se else float(mean == 0)
    return Gap(mean, mean - half, mean + half, n, p)


def differences(
    sets: Sequence[Found], first: str, second: str, *, warm: bool = False
) -> list[float]:
    """Psi of a sampler less that of another on each data set that has both."""
    pairs = [(one.worth(first, warm=warm), one.worth(second, warm=warm)) for one in sets]
    return [a - b for a, b in pairs if a is not None and b is not None]


def against(sets: Sequence[Found], baseline: str, *, warm: bool = False) -> dict[str, Gap]:
    """Every sampler less a baseline over data sets, adjusted by Holm."""
    others = [str(one["label"]) for one in parts.SAMPLERS if one["label"] != baseline]
    gaps = {other: gap(differences(sets, other, baseline, warm=warm)) for other in others}
    named = {other: None if np.isnan(g.p_value) else g.p_value for other, g in gaps.items()}
    family = adjust(named, "holm", family=f"{len(others)} samplers")
    return {
        other: Gap(g.value, g.low, g.high, g.n, g.p_value, _number(family.adjusted[other]))
        for other, g in gaps.items()
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def by_scenario(sets: Sequence[Found], scenario: str, label: str, base: str) -> Gap:
    """A sampler less another in one scenario, over the data sets that have it."""
    values = []
    for one in sets:
        places = [place for place in one.shared if place.scenario == scenario]
        pair = (one.psi(label, places), one.psi(base, places)) if places else (None, None)
        if pair[0] is not None and pair[1] is not None:
            values.append(pair[0] - pair[1])
    return gap(values)


def means(sets: Sequence[Found], *, warm: bool = False) -> dict[str, float]:
    """Mean Psi of each sampler over the data sets that all samplers were run on."""
    labels = [str(one["label"]) for one in parts.SAMPLERS]
    whole = [one for one in sets if set(labels) <= set(one.terms.samplers) and one.shared]
    out = {}
    for label in labels:
        values = [one.worth(label, warm=warm) for one in whole]
        if values and None not in values:
            out[label] = float(np.mean(np.array(values, np.float64)))
    return out


def shares(sets: Sequence[Found]) -> Iterator[dict[str, object]]:
    """Time of a study on a sample as a share of that on the full data: means over data sets."""
    frames = [
        one.costs.with_columns(
            study=pl.col("study_seconds") / _full("study_seconds"),
            both=pl.col("seconds") / _full("seconds"),
            data=pl.lit(one.name),
        ).filter(pl.col("sampler") != "")
        for one in sets
    ]
    if not frames:
        return
    by_data = (
        pl.concat(frames).group_by("data", "sampler", "keep").agg(pl.col("study", "both").mean())
    )
    found = by_data.group_by("sampler", "keep").agg(pl.col("study", "both").mean())
    yield from found.sort("sampler", "keep", descending=[False, True]).iter_rows(named=True)


def _full(column: str) -> pl.Expr:
    """The value of the full data of the same repeat."""
    return pl.col(column).filter(pl.col("sampler") == "").first().over("seed")
