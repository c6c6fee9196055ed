"""Which column plays which role: known names, places in files without header, and what was told.

Roles of interactions: ``user_id, item_id, rating, timestamp, position``; of recommendation lists:
``user_id, item_id, rank, score``. A column is found by its role's own name, else by the first
alias below that the table has (case and signs other than letters and digits don't matter).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fullrank.core.errors import DataError, SpecError, suggest

if TYPE_CHECKING:
    from fullrank.data._options import Kind


def _words(text: str) -> list[str]:
    return text.split()


_USER = _words(
    "userid user uid users useridx customerid customer memberid visitorid reviewerid authorid "
    "householdid accountid sessionid session sid queryid query qid"
)
_ITEM = _words(
    "itemid item iid items itemidx movieid movie productid product asin parentasin sku artistid "
    "artist trackid songid bookid isbn gameid appid docid documentid docno articleid newsid "
    "businessid locationid poiid recipeid stockcode"
)
_RATING = _words("rating ratings stars overall value score relevance grade")
_TIME = _words(
    "timestamp time datetime date ts unixtime unixreviewtime reviewtime eventtime eventdate "
    "createdat transactiontimestamp invoicedate timestamps timestampms timestampus timestampns"
)
ALIASES: dict[str, dict[str, list[str]]] = {
    "interactions": {
        "user_id": _USER,
        "item_id": _ITEM,
        "rating": _RATING,
        "timestamp": _TIME,
        "position": ["position", "pos"],
    },
    "recommendations": {
        "user_id": _USER,
        "item_id": [*_ITEM, "itemids", "recommendations"],
        "rank": ["rank", "ranking", "position"],
        "score": ["score", "scores", "prediction", "predicted"],
    },
}
ID_ROLES = ("user_id", "item_id")
_EARLIEST = 100_000_000  # seconds: March 1973; larger than any rating or count scale in use
_TYPED = re.compile(r"^(.+):(token|token_seq|float|float_seq)$")  # RecBole's atomic files


def plain(name: str) -> str:
    """A name in lower case without signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_typed_header(row: Sequence[str]) -> bool:
    """True for a header such as ``user_id:token  item_id:token  rating:float``."""
    return len(row) > 0 and all(_TYPED.match(name) for name in row)


def strip_types(row: Sequence[str]) -> list[str]:
    """Names of a typed header without their types."""
    return [_TYPED.sub(r"\1", name) for name in row]


def is_header(rows: Sequence[Sequence[str]], columns: Mapping[str, str]) -> bool:
    """Tell whether the first of some rows names the columns.

    It does if it is a typed header, holds a name that the caller gave, or a known name; else if
    none of its fields is a number or empty and some column below it holds numbers only.
    """
    first, below = [field.strip() for field in rows[0]], rows[1:]
    if is_typed_header(first) or set(first) & set(columns.values()):
        return True
    known = {alias for roles in ALIASES.values() for names in roles.values() for alias in names}
    if any(plain(field) in known and not _is_number(field) for field in first):
        return True
    if len(first) != len(set(first)) or any(not f or _is_number(f) for f in first) or not below:
        return False
    width = len(first)
    return any(
        all(len(row) == width and _is_number(row[j].strip()) for row in below) for j in range(width)
    )


def has_known_ids(row: Sequence[str]) -> bool:
    """True if a row holds a known name of the user and one of the item."""
    fields = {plain(field) for field in (strip_types(row) if is_typed_header(row) else row)}
    return not fields.isdisjoint(_USER) and not fields.isdisjoint(_ITEM)


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", field) is not None


def names_by_place(rows: Sequence[Sequence[str]], kind: Kind, where: str) -> list[str]:
    """Names of the columns of a table without header: two are user and item, a third the rating.

    A third column of whole numbers over 100,000,000 is a time. A fourth is the time, as in the
    ratings files of MovieLens and Amazon. Lists have two columns, best first.
    """
    width = len(rows[0])
    names = [f"column_{j + 1}" for j in range(width)]
    if width < 2:
        return names
    if kind == "recommendations":
        if width > 2:
            raise DataError(
                f"{where} has no header and more than two columns: nothing says whether the "
                "third is a rank or a score; add a header, or pass columns={'user_id': "
                "'column_1', 'item_id': 'column_2', 'score': 'column_3'} (--columns "
                "user_id=column_1,item_id=column_2,score=column_3)"
            )
        return ["user_id", "item_id"]
    roles = ["user_id", "item_id", "rating", "timestamp"]
    if width == 3 and all(row[2].isdigit() and int(row[2]) >= _EARLIEST for row in rows):
        roles[2] = "timestamp"
    names[: min(width, 4)] = roles[: min(width, 4)]
    return names


def assign_roles(
    names: Sequence[str], columns: Mapping[str, str], kind: Kind, where: str
) -> dict[str, str]:
    """Find the column of each role.

    Args:
        names: columns of the table.
        columns: what the caller said, by role.
        kind: which roles there are.
        where: for messages.

    Returns:
        Name in the table by role; roles without a column are left out.

    Raises:
        SpecError: ``columns`` speaks of a role or a column that doesn't exist.
        DataError: no column for the user or the item.
    """
    roles = ALIASES[kind]
    for role, name in columns.items():
        if role not in roles:
            raise SpecError(f"columns has no role {role!r}{suggest(role, roles)}")
        if name not in names:
            raise SpecError(
                f"columns says {role}={name!r}, and {where} has no such column"
                f"{suggest(name, names)} (found: {', '.join(names)})"
            )
    found = dict(columns)
    free = [name for name in names if name not in found.values()]
    for role, aliases in roles.items():
        match = None if role in found else _first_match(free, role, aliases)
        if match is not None:
            found[role] = match
            free.remove(match)
    for role in ID_ROLES:
        if role not in found:
            raise DataError(
                f"{where} has no column for {role} (found: {', '.join(names) or 'none'}); "
                f"{_remedy(role, names, free)}"
            )
    return found


def _remedy(role: str, names: Sequence[str], free: Sequence[str]) -> str:
    if len(names) < 2:
        return "it has one column: is that its separator, and is this the right file?"
    return f"name it: {naming(role, free[0] if free else 'NAME')}"


def naming(role: str, name: str = "NAME") -> str:
    """How to name a column in Python and on the command line, for a message."""
    return f"columns={{{role!r}: {name!r}}}, or --columns {role}={name} on the command line"


def find_column(names: Sequence[str], role: str) -> str | None:
    """The column of a table that plays a role of interactions, if there is one."""
    return _first_match(names, role, ALIASES["interactions"][role])


def _first_match(names: Sequence[str], role: str, aliases: Sequence[str]) -> str | None:
    if role in names:
        return role
    by_plain: dict[str, str] = {}
    for name in names:
        by_plain.setdefault(plain(name), name)
    return next((by_plain[alias] for alias in aliases if alias in by_plain), None)


def unit_of_name(name: str) -> str | None:
    """The unit that a time column's name states (``timestamp_ms``), if it does."""
    match = re.fullmatch(r"timestamp_(s|ms|us|ns)", name)
    return match.group(1) if match else None
