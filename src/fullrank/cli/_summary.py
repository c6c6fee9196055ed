"""A summary of a data set as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullrank.data import Summary
    from fullrank.data.summary import Activity


def summary_rows(found: Summary) -> list[list[str]]:
    """Name and figures of each line, in the order of reading; lines without content left out."""
    rows = [*_counts(found), *_times(found), *_ids(found), *_terms(found)]
    return [[name, text] for name, text in rows if text]


def _counts(found: Summary) -> Iterator[tuple[str, str]]:
    yield "rows", f"{found.rows:,} ({found.pairs:,} user-item pairs, density {found.density:.3%})"
    yield "users", _activity(found.users)
    yield "items", _activity(found.items)
    yield "repeated pairs", f"{found.repeated_pairs:,}" if found.repeated_pairs else ""
    yield "duplicate rows", f"{found.duplicate_rows:,}" if found.duplicate_rows else ""
    if found.values is not None:
        low, mean, high = found.values
        yield "values", f"{low:g} to {high:g}, mean {mean:.3g}  {found.values_sketch}"


def _activity(of: Activity) -> str:
    return (
        f"{of.n:,}, rows each: median {of.median:g}, mean {of.mean:.1f}, most {of.most:,}, "
        f"Gini {of.gini:.2f}  {of.sketch}"
    )


def _times(found: Summary) -> Iterator[tuple[str, str]]:
    if found.first_time is None:
        yield "times", "none"
        return
    span = f"{found.first_time} to {found.last_time}, in {found.time_unit}"
    yield "times", f"{span}  {found.times_sketch}"
    yield "rows without time", f"{found.missing_times:,}" if found.missing_times else ""
    if found.tied_times is not None:
        yield "tied in time", f"{found.tied_times:.1%} of rows, with another of their user"


def _ids(found: Summary) -> Iterator[tuple[str, str]]:
    yield "ids", f"users {found.user_id_kind}, items {found.item_id_kind}"
    for what, n, groups in (
        ("users", found.n_alike_users, found.alike_users),
        ("items", found.n_alike_items, found.alike_items),
    ):
        examples = "; ".join(" = ".join(map(repr, group)) for group in groups)
        yield f"{what} that look alike", f"{n:,} groups: {examples}" if n else ""
    yield "further columns", ", ".join(f"{name} ({kind})" for name, kind in found.extras.items())
    for name, columns in found.tables.items():
        yield f"table of {name}", ", ".join(columns)


def _terms(found: Summary) -> Iterator[tuple[str, str]]:
    yield "licence", found.licence
    yield "cite", found.citation
    yield "home", found.url
    yield "notes", found.notes
    yield "fingerprint", found.fingerprint
