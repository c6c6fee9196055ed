"""Data sets of the study: what of each is taken, and in which scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Filter = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Source:
    """A data set.

    Attributes:
        name: as ``fullrank data list`` has it.
        scenarios: ``explicit`` needs ratings, ``sequential`` an order.
        before: filters on all rows.
    """

    name: str
    scenarios: tuple[str, ...]
    before: tuple[Filter, ...] = ()


def core(users: int, items: int) -> Filter:
    """Users and items with so many partners or more."""
    return {"core": {"users": users, "items": items}}


def users(n: int) -> Filter:
    """Whole users, at random."""
    return {"users": {"n": n}}


def labelled(column: str, label: str) -> Filter:
    """Rows with a label."""
    return {"event": {"column": column, "keep": [label]}}


FIRST: Filter = {"duplicates": {"keep": "first"}}

ALL = ("explicit", "implicit", "sequential")
RATED = ("explicit", "implicit")
ORDERED = ("implicit", "sequential")
PAIRS = ("implicit",)

LINEAR = (
    Source("amazon-musical-instruments", ALL),
    Source("ml-100k", ALL),
    Source("amazon-video-games-seq", ORDERED, (core(10, 10),)),
)
"""Cheapest first. Video Games has an order of each user's rows, no ratings."""

MORE = (
    Source("filmtrust", RATED, (core(5, 3),)),
    Source("amazon-toys-seq", ORDERED, (core(8, 8),)),
    Source("coat", RATED, (labelled("split", "train"),)),
    Source("lastfm-2k", PAIRS, (core(5, 20),)),
    Source("yoochoose-100k", ORDERED, (core(4, 5),)),
    Source("flixster-monti", RATED, (core(3, 3),)),
    Source("retailrocket-multi", PAIRS, (labelled("event", "view"), core(10, 10))),
    Source("book-crossing", RATED, (core(10, 10),)),
    Source("citeulike-a", PAIRS, (users(3000), core(10, 10))),
    Source("amazon-beauty-seq", ORDERED, (core(8, 8),)),
    Source("gowalla-lightgcn", PAIRS, (core(30, 30),)),
    Source("ml-latest-small", ALL, (core(5, 20),)),
    Source("steam-200k", PAIRS, (core(10, 10),)),
    Source("online-retail-ii", ORDERED, (FIRST, users(1200), core(5, 20))),
    Source("douban-monti", RATED, (users(1000), core(5, 20))),
    Source("amazon-cds", PAIRS, (core(10, 40), users(2000))),
    Source("ml-1m-sample100k", ALL, (core(15, 15),)),
)
"""For the meta-data: in an order in which every beginning has sets of several kinds."""
