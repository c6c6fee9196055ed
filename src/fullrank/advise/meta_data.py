"""MetaData: what samplers did on data sets that were measured, as tables to learn from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.advise.table import CELL, NAMES, cells, joined
from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, StoreError, suggest

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
SAMPLE = ("data", "scenario", "keep", "strategy")
"""What names a sample in the tables of features and costs."""
SECONDS = ("draw_seconds", "study_seconds", "full_seconds")
FILES = ("taus.csv", "features.parquet", "costs.csv", "about.json")
_TAUS = (*CELL, "tau", "tau_sd", "repeats")
_COSTS = (*SAMPLE, *SECONDS)
_UNREADABLE = (OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True, eq=False)
class MetaData:
    """Taus, features and costs of samples of data sets.

    ``fullrank.experiment.psi.collect`` makes it of what ``fullrank.psi`` found on one data set;
    ``repeated`` averages repeats of it, ``join`` puts data sets together; ``save`` and ``load``
    keep it in a folder of four files:

    - ``taus.csv``: ``data, scenario, metric, keep, strategy, tau, tau_sd, repeats``, a row a cell;
      tau is empty where no repeat could be measured, tau_sd where there was one.
    - ``features.parquet``: ``data, scenario, keep, strategy`` and the features of the sample
      (float32, NaN where a log doesn't have it), a row for each sample that could be drawn.
    - ``costs.csv``: ``data, scenario, strategy, keep``; ``draw_seconds`` of drawing the sample, a
      proxy's training included; ``study_seconds`` of searching, fitting and ranking all models on
      it; ``full_seconds`` of the same on the full training rows. Empty where unknown.
    - ``about.json``: of each data set name, rows, users, items, source, filters, and by scenario
      the split, models and metrics.

    The strategy is the sampler's text, which ``fullrank.subsample.parse_sampler`` reads, so that
    what was learnt of a sampler can be drawn elsewhere.

    Attributes:
        taus: as above.
        features: as above.
        costs: as above.
        about: by data set, ready for JSON.
    """

    taus: pl.DataFrame
    features: pl.DataFrame
    costs: pl.DataFrame
    about: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        _check_columns("taus", self.taus, _TAUS)
        _check_columns("features", self.features, SAMPLE)
        _check_columns("costs", self.costs, _COSTS)
        _check_costs(self.costs)
        joined(cells(self.taus), self.features)
        lost = sorted(set(self.taus["data"]) - set(self.about))
        if lost:
            raise DataError(f"meta-data: nothing is said about the data set {lost[0]!r}")

    def __repr__(self) -> str:
        return brief(self, count(len(self.about), "data set"), count(len(self.taus), "cell"))

    @property
    def names(self) -> list[str]:
        """The data sets, sorted."""
        return sorted(self.about)

    @classmethod
    def join(cls, parts: Sequence[MetaData]) -> MetaData:
        """Put several together: of other data sets, or of other scenarios of the same ones.

        Raises:
            DataError: no part; features that differ; a cell that is there twice.
        """
        import polars as pl

        if not parts:
            raise DataError("there is no meta-data to join; name one part at least")
        first = parts[0].features.columns
        for part in parts:
            odd = sorted(set(first) ^ set(part.features.columns))
            if odd:
                raise DataError(
                    f"the features of {', '.join(part.names)} and of {', '.join(parts[0].names)} "
                    f"differ: {odd[0]!r} is in one of them alone; measure both anew"
                )
        about: dict[str, dict[str, Any]] = {}
        for name, told in ((name, told) for part in parts for name, told in part.about.items()):
            known = about.setdefault(name, {**told, "scenarios": {}})
            known["scenarios"] = {**known["scenarios"], **told.get("scenarios", {})}
        return cls(
            pl.concat([part.taus for part in parts]).sort(CELL),
            pl.concat([part.features.select(first) for part in parts]).sort(SAMPLE),
            pl.concat([part.costs for part in parts]).sort(SAMPLE),
            {name: about[name] for name in sorted(about)},
        )

    @classmethod
    def repeated(cls, parts: Sequence[MetaData]) -> MetaData:
        """Average repeats: grids of the same data set under other seeds.

        Means and standard deviations are those of all the single taus. Features are those of the
        first part that has the sample, costs means of the parts that know them, and what is said
        of a data set is what the first part says.

        Raises:
            DataError: no part.
        """
        import polars as pl

        if not parts:
            raise DataError("there are no repeats to average; name one part at least")
        n, mean, sd = pl.col("repeats"), pl.col("tau"), pl.col("tau_sd")
        whole = (n * mean).sum() / n.sum()
        inner = ((n - 1) * sd.fill_null(0) ** 2).sum()
        outer = ((n * mean**2).sum() - n.sum() * whole**2).clip(0)
        known, one = n.sum() > 0, n.sum() > 1
        taus = pl.concat([part.taus for part in parts]).group_by(CELL)
        costs = pl.concat([part.costs for part in parts]).group_by(SAMPLE)
        columns = parts[0].features.columns
        features = pl.concat([part.features.select(columns) for part in parts])
        return cls(
            taus.agg(
                pl.when(known).then(whole).round(6).alias("tau"),
                pl.when(one)
                .then(((inner + outer) / (n.sum() - 1)).sqrt())
                .round(6)
                .alias("tau_sd"),
                n.sum(),
            ).sort(CELL),
            features.unique(SAMPLE, keep="first", maintain_order=True).sort(SAMPLE),
            costs.agg(pl.col(*SECONDS).mean().round(4)).sort(SAMPLE),
            {name: told for part in reversed(parts) for name, told in part.about.items()},
        )

    def only(self, names: Sequence[str]) -> MetaData:
        """Some of the data sets.

        Raises:
            DataError: one of them is not there.
        """
        for name in names:
            if name not in self.about:
                raise DataError(f"there is no data set {name!r}{suggest(name, self.about)}")
        taus, features, costs = (
            table.filter(table["data"].is_in(list(names)))
            for table in (self.taus, self.features, self.costs)
        )
        about = {name: self.about[name] for name in self.names if name in names}
        return MetaData(taus, features, costs, about)

    def save(self, folder: str | Path) -> None:
        """Write the four files; the folder is made if it isn't there."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.taus.write_csv(folder / "taus.csv")
        self.features.write_parquet(folder / "features.parquet", compression="zstd")
        self.costs.write_csv(folder / "costs.csv")
        content = {"format": FORMAT, "data_sets": self.about}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / "about.json").write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> MetaData:
        """Read what ``save`` wrote.

        Raises:
            StoreError: a file that is missing, damaged, or of another format.
        """
        import polars as pl

        folder = Path(folder)
        gone = [name for name in FILES if not (folder / name).is_file()]
        if gone:
            raise StoreError(
                f"{folder} holds no meta-data: expected {', '.join(FILES)}, {gone[0]} is missing; "
                "write it by MetaData.save"
            )
        try:
            content = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"format {content['format']!r}, expected {FORMAT}")
            return cls(
                _read_csv(folder / "taus.csv", {"repeats": pl.Int64}),
                pl.read_parquet(folder / "features.parquet"),
                _read_csv(folder / "costs.csv", {}),
                content["data_sets"],
            )
        except (*_UNREADABLE, pl.exceptions.PolarsError) as error:
            raise StoreError(
                f"{folder} holds no meta-data that can be used ({str(error).splitlines()[0]}); "
                "write it by MetaData.save"
            ) from error


def _read_csv(path: Path, more: dict[str, Any]) -> pl.DataFrame:
    """Names as text, all else as numbers, whatever the values look like."""
    import polars as pl

    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        raise ValueError(f"{path.name} is cut short: its last line has no end")
    header = text.partition("\n")[0].strip().split(",")
    known = {name: pl.String if name in NAMES else pl.Float64 for name in header}
    return pl.read_csv(path, schema_overrides={**known, **more})


def _check_costs(table: pl.DataFrame) -> None:
    """Each sample once, or its data set would count twice; no time below 0."""
    twice = table.filter(table.select(SAMPLE).is_duplicated())
    if len(twice):
        place = ", ".join(f"{name} {twice[name][0]}" for name in SAMPLE)
        raise DataError(f"meta-data: the table of costs has the sample {place} more than once")
    for name in SECONDS:
        if (table[name] < 0).any():
            raise DataError(f"meta-data: {name} must be >= 0 in the table of costs, got less")


def _check_columns(what: str, table: pl.DataFrame, wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise DataError(
            f"meta-data: the table of {what} needs the columns {', '.join(wanted)}; "
            f"{', '.join(missing)} missing"
        )
