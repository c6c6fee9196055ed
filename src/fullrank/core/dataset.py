"""Dataset: interactions with the tables and the source that belong to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fullrank.core.brief import brief, count
from fullrank.core.interactions import Interactions

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Source:
    """Where data come from and under which terms.

    Attributes:
        name: name of the set.
        licence: terms as published, ``"unknown"`` where nobody stated any.
        citation: what to cite; empty if nothing is asked for.
        url: home page of the set, if known.
        notes: what a user must know (a sample, missing times, …).
    """

    name: str
    licence: str = "unknown"
    citation: str = ""
    url: str = ""
    notes: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Interactions with optional side tables.

    Attributes:
        interactions: the log itself.
        users: table with a column ``user_id``, or None.
        items: table with a column ``item_id`` (title, categories, …), or None.
        triples: table with columns ``head, relation, tail`` (a knowledge graph), or None.
        source: licence and citation.
    """

    interactions: Interactions
    users: pl.DataFrame | None = None
    items: pl.DataFrame | None = None
    triples: pl.DataFrame | None = None
    source: Source = field(default_factory=lambda: Source("unnamed"))

    def __repr__(self) -> str:
        tables = [(name, getattr(self, name)) for name in ("users", "items", "triples")]
        return brief(
            self,
            repr(self.source.name),
            repr(self.interactions),
            *(f"{name}: {count(len(t), 'row')}" for name, t in tables if t is not None),
        )

    def with_interactions(self, interactions: Interactions) -> Dataset:
        """The same set with other rows (filtered, sampled)."""
        return Dataset(interactions, self.users, self.items, self.triples, self.source)
