"""Filters: which rows take part, before the split or among the training rows only."""

from fullrank.data.filters._base import Filter, apply_all, kept_rows
from fullrank.data.filters._parse import filter_names, parse_filter
from fullrank.data.filters.activity import Activity
from fullrank.data.filters.binarise import Binarise
from fullrank.data.filters.core import Core
from fullrank.data.filters.drop_missing_time import DropMissingTime
from fullrank.data.filters.duplicates import Duplicates
from fullrank.data.filters.event import Event
from fullrank.data.filters.nfilter import NFilter
from fullrank.data.filters.users import Users
from fullrank.data.filters.values import Values
from fullrank.data.filters.window import Window

REGISTRY = (
    "Activity",
    "Binarise",
    "Core",
    "DropMissingTime",
    "Duplicates",
    "Event",
    "NFilter",
    "Users",
    "Values",
    "Window",
)

__all__ = [
    "Activity",
    "Binarise",
    "Core",
    "DropMissingTime",
    "Duplicates",
    "Event",
    "Filter",
    "NFilter",
    "Users",
    "Values",
    "Window",
    "apply_all",
    "filter_names",
    "kept_rows",
    "parse_filter",
]
