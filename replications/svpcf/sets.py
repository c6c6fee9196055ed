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


def core(n: int) -> Filter:
    """Users and items with n partners or more."""
    return {"core": {"users": n, "items": n}}


def users(n: int) -> Filter:
    """Whole users, at random."""
    return {"users": {"n": n}}


ONCE: Filter = {"duplicates": {"keep": "first"}}
THREE: Filter = {"activity": {"min_user": 3}}
"""The paper drops users with fewer rows, as each part needs one."""

ALL = ("explicit", "implicit", "sequential")

LINEAR = (
    Source("amazon-musical-instruments", ALL),
    Source("ml-100k", ALL),
    Source("amazon-video-games-seq", ("implicit", "sequential"), (core(10),)),
)
"""Cheapest first. Video Games has an order of each user's rows, no ratings."""
