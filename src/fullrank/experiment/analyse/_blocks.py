"""Which data sets of which stores are one condition, and what tells conditions apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullrank.core.errors import StoreError
from fullrank.experiment.analyse._factors import (
    NONE,
    condition_factors,
    fixed_settings,
    shortened,
    varying,
)
from fullrank.experiment.results import CellResult, Results

PLAIN = ("data", "filters", "split", "store")
"""Factors whose levels speak for themselves in the name of a condition."""


@dataclass(frozen=True, eq=False)
class Block:
    """One data set of one store, before conditions are told apart."""

    store: str
    data: str
    results: Results
    factors: dict[str, str]
    cells: Mapping[str, tuple[CellResult, ...]]

    @property
    def grade(self) -> str | None:
        """Column of the gains of targets; None if each has gain 1."""
        first = next(iter(self.cells.values()))[0]
        grade = first.about["protocol"].get("data", {}).get("grade")
        return None if grade is None else str(grade)

    @property
    def settings(self) -> dict[str, str]:
        """Settings that have one value in all models which have them."""
        found: dict[str, set[str]] = {}
        for cells in self.cells.values():
            for name, text in fixed_settings(self.results, cells[0]).items():
                found.setdefault(name, set()).add(text)
        return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def read_blocks(sources: Sequence[str | Path | Results]) -> list[Block]:
    """The data sets of stores.

    Raises:
        StoreError: no finished benchmark there.
    """
    names = [s.spec.name if isinstance(s, Results) else Path(s).name for s in sources]
    if len(set(names)) < len(names):
        names = [
            f"{s.spec.name} ({j + 1})" if isinstance(s, Results) else str(s)
            for j, s in enumerate(sources)
        ]
    return [b for source, name in zip(sources, names, strict=True) for b in _blocks(source, name)]


def _blocks(source: str | Path | Results, name: str) -> list[Block]:
    """The data sets of a store."""
    results = source if isinstance(source, Results) else Results.load(source)
    if not results.cells:
        raise StoreError(f"{name} holds no results; run its benchmark again")
    out = []
    for data in results.data:
        cells = {model: results.of(data, model) for model in results.models}
        cells = {model: found for model, found in cells.items() if found}
        first = next(iter(cells.values()))[0]
        out.append(Block(name, data, results, condition_factors(first), cells))
    return out


Group = tuple[list[Block], dict[str, str], dict[str, str]]
"""Blocks of one condition, its factors, and the settings that tell it from others."""


def merged(blocks: Sequence[Block]) -> list[Group]:
    """Blocks gathered by condition, in the order of their first."""
    groups: list[list[Block]] = []
    for block in blocks:
        for group in groups:
            if group[0].factors == block.factors and all(_compatible(b, block) for b in group):
                group.append(block)
                break
        else:
            groups.append([block])
    out: list[Group] = []
    for group in groups:
        twins = [g for g in groups if g[0].factors == group[0].factors]
        out.append((group, *_told_apart(group, twins)))
    return out


def _compatible(a: Block, b: Block) -> bool:
    """True if two blocks have one protocol and no label stands for two results."""
    mine, theirs = ({c.about["protocol_id"] for c in _all(x)} for x in (a, b))
    shared = set(a.cells) & set(b.cells)
    return mine == theirs and all(_names(a.cells[m]) == _names(b.cells[m]) for m in shared)


def _all(block: Block) -> list[CellResult]:
    return [cell for cells in block.cells.values() for cell in cells]


def _names(cells: Sequence[CellResult]) -> set[str]:
    return {cell.folder.name for cell in cells}


def _told_apart(
    group: Sequence[Block], twins: Sequence[Sequence[Block]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Factors of a condition, with what tells it from those whose protocol reads the same."""
    factors = dict(group[0].factors)
    if len(twins) == 1:
        return factors, {}
    tables = [twin[0].settings for twin in twins]
    shared = set.intersection(*(set(table) for table in tables))
    names = [name for name in varying(tables) if name in shared]
    own = {name: group[0].settings[name] for name in names}
    if len({tuple(table[name] for name in names) for table in tables}) == len(twins):
        return factors, own
    return {**factors, "store": group[0].store}, own


def names_of(groups: Sequence[Group]) -> list[str]:
    """A name for each condition: its data set, and the levels of what differs between them."""
    tables = [{**factors, **settings} for _, factors, settings in groups]
    shown = [name for name in varying(tables) if name != "data"]
    levels = {name: shortened(t[name] for t in tables if name in t) for name in shown}
    out = []
    for table in tables:
        parts = [table["data"]]
        for name in shown:
            if name in table:
                level = levels[name][table[name]]
                plain = name in PLAIN and level != NONE
                parts.append(level if plain else f"{name} {level}")
        out.append(", ".join(parts))
    return out
