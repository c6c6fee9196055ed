"""Time, memory and energy of models beside their quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullrank.core.errors import FullrankError
from fullrank.core.registry import find
from fullrank.experiment.analyse.study import Study, Unit
from fullrank.experiment.measure import number
from fullrank.experiment.results import CellResult


@dataclass(frozen=True)
class Cost:
    """What a model cost under one condition; None where it was not measured.

    Attributes:
        fits: final fits (folds × seeds).
        fit_seconds: mean over them.
        rank_seconds: of ranking the test, mean.
        queries_per_second: of ranking.
        peak_mib: largest peak memory of the whole process while fitting or ranking.
        search_seconds: of all trials; None without a search.
        joules: of the machine while fitting and ranking, mean.
    """

    fits: int
    fit_seconds: float | None
    rank_seconds: float | None
    queries_per_second: float | None
    peak_mib: float | None
    search_seconds: float | None
    joules: float | None


@dataclass(frozen=True)
class CostRow:
    """Cost and quality of a unit.

    Attributes:
        condition: its name.
        model: label.
        cost: what it cost.
        complexity: the order of a fit's time that the class states (``complexity``), with |R| rows,
            m users, n items, d factors, |S_u| items of a user; empty if it states none.
        quality: value by metric; None where undefined.
    """

    condition: str
    model: str
    cost: Cost
    complexity: str
    quality: dict[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        rest = {"complexity": self.complexity or None, "quality": self.quality}
        return {"condition": self.condition, "model": self.model, **vars(self.cost), **rest}


def costs(study: Study) -> tuple[CostRow, ...]:
    """Cost and quality of every unit.

    Times are wall times on the machines that the stores were made on, which the provenance of
    their cells names: between stores they compare only if these are alike.
    """
    return tuple(_row(study, unit) for unit in study.units)


def _row(study: Study, unit: Unit) -> CostRow:
    quality = {str(metric): number(unit.value(metric)) for metric in study.metrics}
    name = unit.cells[0].about["class"]
    return CostRow(unit.condition, unit.model, cost_of(unit.cells), _complexity(name), quality)


def _complexity(name: str) -> str:
    """What the class itself says: a subclass may do more than the class that it comes from."""
    try:
        return str(vars(find("model", name)).get("complexity", ""))
    except (FullrankError, ImportError):  # a class of one's own may not be importable here
        return ""


def cost_of(cells: Sequence[CellResult]) -> Cost:
    """Means over the fits of a model (folds × seeds), the largest peak."""
    rank = _mean(cells, "rank_seconds")
    queries = sum(len(cell.queries) for cell in cells) / len(cells)
    joules = [_mean(cells, name) for name in ("fit_joules", "rank_joules")]
    peaks = [
        cell.about["resources"].get(name)
        for cell in cells
        for name in ("fit_peak_mib", "rank_peak_mib")
    ]
    searches = {c.about["tuning"]["key"]: c.about["tuning"] for c in cells if c.about["tuning"]}
    return Cost(
        fits=len(cells),
        fit_seconds=_mean(cells, "fit_seconds"),
        rank_seconds=rank,
        queries_per_second=queries / rank if rank else None,
        peak_mib=max((peak for peak in peaks if peak is not None), default=None),
        search_seconds=sum(s["seconds"] for s in searches.values()) if searches else None,
        joules=None if None in joules else sum(j for j in joules if j is not None),
    )


def _mean(cells: Sequence[CellResult], name: str) -> float | None:
    found = [cell.about["resources"].get(name) for cell in cells]
    values = [value for value in found if value is not None]
    return sum(values) / len(values) if values else None
