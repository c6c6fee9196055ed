"""Sentences that read a leaderboard, true for any data: no claim beyond the tests."""

from __future__ import annotations

from collections.abc import Sequence

from fullrank.core.brief import count
from fullrank.report._numbers import (
    decimals_for,
    interval_text,
    known,
    p_text,
    percent_text,
    value_text,
)
from fullrank.report.board import BETTER, Row, mark_of
from fullrank.report.standing import FEW, Standing

SPAN = {"all": "Over all users", "warm": "Among warm users", "cold": "Among cold users"}


def reading(standings: Sequence[Standing]) -> dict[str, list[str]]:
    """By data set, one paragraph for each segment of users, and one on how they differ.

    Args:
        standings: of one metric.
    """
    out: dict[str, list[str]] = {}
    for data in dict.fromkeys(s.data for s in standings):
        here = [standing for standing in standings if standing.data == data]
        out[data] = [" ".join(_sentences(standing)) for standing in here] + _split(here)
    return out


def _sentences(s: Standing) -> list[str]:
    if s.leader is None or s.value is None:
        return [f"{SPAN[s.users]}, {s.metric} has no value: no query has a relevant target."]
    who = f"{SPAN[s.users]} ({s.value.n_users:,})"
    digits = decimals_for([s.value.value])
    ends = interval_text(s.value.low, s.value.high, digits)
    value = f"{value_text(s.value.value, digits)}{' ' + ends if ends else ''}"
    side = "highest" if s.metric.higher_is_better else "lowest"
    if s.alone:
        return [f"{who}, {s.metric} of {s.leader} is {value}."]
    if s.small:
        few = f"{count(s.value.n_users, 'user')}: too few (under {FEW})"
        return [f"{SPAN[s.users]}, {few} to say who leads by {s.metric}."]
    if s.equals:
        names = listed([s.leader, *s.equals])
        return [f"{who}, {names} share the {side} {s.metric}, {value}: none of them leads."]
    first = f"{who}, {s.leader} has the {side} {s.metric}, {value}."
    return [first, *_against_baseline(s, digits), *_against_rivals(s)]


def _against_baseline(s: Standing, digits: int) -> list[str]:
    if s.leader == s.baseline:
        return ["That is the baseline itself: nothing here has a better value."]
    if s.test is None:
        return []
    text = _difference(s.test, digits)
    if mark_of(s.test) == BETTER:
        return [f"It is better than the baseline {s.baseline}: {text}."]
    return [f"It can't be told apart from the baseline {s.baseline}: {text}."]


def _difference(test: Row, digits: int) -> str:
    if not known(test["difference"]):
        return "no query where both have a value"
    unit = " in loss per row" if test["scale"] == "loss per row" else ""
    value = value_text(test["difference"], digits, sign=True)
    ends = interval_text(test["low"], test["high"], digits)
    ends = f" {ends}" if ends else ""
    return f"difference {value}{ends}{unit}, adjusted {p_text(test['p_adjusted'])}"


def _against_rivals(s: Standing) -> list[str]:
    if not s.ahead and not s.tied:
        return []
    assert s.value is not None
    alpha = percent_text(1 - s.value.level)
    if s.tied:
        out = f"It can't be told apart from {listed(s.tied)}"
        out += f", but is better than {listed(s.ahead)}" if s.ahead else ""
    else:
        others = "every other model" if s.leader == s.baseline else "each of the other models"
        out = f"It is better than {others} ({listed(s.ahead)})"
    return [f"{out}, at the {alpha} level after {s.family}."]


def _split(here: Sequence[Standing]) -> list[str]:
    """Whether warm and cold users have the same leader, where both have one."""
    clear = (s for s in here if s.leader is not None and not (s.alone or s.small or s.equals))
    leaders = {s.users: s for s in clear}
    if "warm" not in leaders or "cold" not in leaders:
        return []
    warm, cold = leaders["warm"], leaders["cold"]
    if warm.leader == cold.leader:
        return [f"{warm.leader} leads for warm and for cold users alike."]
    both = f"{warm.leader} leads for warm users, {cold.leader} for cold ones"
    alike = [s.users for s, other in ((warm, cold), (cold, warm)) if not s.apart_from(other.leader)]
    if alike:
        return [f"{both}, but the two can't be told apart among {listed(alike)} users."]
    return [f"{both}: the order over all users depends on how many of them are cold."]


def listed(names: Sequence[str]) -> str:
    """``A, B and C``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
