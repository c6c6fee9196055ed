"""Moments in settings: ISO dates and times, or whole numbers in the unit of the data."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.core.interactions import NO_TIME, UNITS_PER_DAY, TimeUnit

Moment = str | int
"""An ISO 8601 date or time (UTC unless it names a zone), or an integer in the data's unit."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS_PER_DAY = 86_400_000_000


def as_moment(where: str, name: str, value: object) -> Moment:
    """Check a moment and bring it into a form that JSON can hold.

    Args:
        where: what the setting belongs to, for messages.
        name: the setting.
        value: ISO text, ``date``, ``datetime`` (TOML has both), or an integer.

    Raises:
        SpecError: anything else, or text that is no ISO date.
    """
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        _parse(where, name, value)
        return value
    raise SpecError(
        f"{where}: {name} must be an ISO date such as '2003-01-31' or a whole number in the unit "
        f"of the data's times, got {value!r}"
    )


def to_units(where: str, name: str, moment: Moment, unit: TimeUnit) -> int:
    """Turn a moment into an integer in a time unit, rounded up to a whole unit.

    Rounding up keeps ``time >= moment`` true to the moment, as times are whole units.
    """
    if isinstance(moment, int):
        return moment
    if unit not in UNITS_PER_DAY:
        raise SpecError(
            f"{where}: {name} is the date {moment!r}, but the times of these data are places in a "
            "sequence; give a whole number"
        )
    microseconds = (_parse(where, name, moment) - _EPOCH) // timedelta(microseconds=1)
    return -(-microseconds * UNITS_PER_DAY[unit] // _MICROSECONDS_PER_DAY)


def from_units(time: int, unit: TimeUnit) -> str | int | None:
    """ISO text (UTC, to the second) of a time in a unit; a place in a sequence stays a number."""
    if time == NO_TIME:
        return None
    if unit not in UNITS_PER_DAY:
        return int(time)
    seconds = int(time) * 86_400 // UNITS_PER_DAY[unit]
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:  # beyond the year 9999: the number says more than no date
        return int(time)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse(where: str, name: str, text: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise SpecError(
            f"{where}: {name} must be an ISO date such as '2003-01-31' or '2003-01-31T12:00:00', "
            f"got {text!r}"
        ) from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
