"""Splits: which rows train, validate and test; one strategy a file."""

from fullrank.split._base import Split, Strategy
from fullrank.split._files import concat_parts, given_from_files
from fullrank.split._train_filter import with_train_filter
from fullrank.split.expanding_window import ExpandingWindow
from fullrank.split.given import Given
from fullrank.split.global_cut import GlobalCut
from fullrank.split.global_time import GlobalTime
from fullrank.split.k_fold import KFold
from fullrank.split.leave_last import LeaveLast
from fullrank.split.leave_random import LeaveRandom
from fullrank.split.random_rows import RandomRows
from fullrank.split.sliding_window import SlidingWindow
from fullrank.split.unseen_users import UnseenUsers
from fullrank.split.user_time import UserTime

REGISTRY = (
    "ExpandingWindow",
    "Given",
    "GlobalCut",
    "GlobalTime",
    "KFold",
    "LeaveLast",
    "LeaveRandom",
    "RandomRows",
    "SlidingWindow",
    "UnseenUsers",
    "UserTime",
)

__all__ = [
    "ExpandingWindow",
    "Given",
    "GlobalCut",
    "GlobalTime",
    "KFold",
    "LeaveLast",
    "LeaveRandom",
    "RandomRows",
    "SlidingWindow",
    "Split",
    "Strategy",
    "UnseenUsers",
    "UserTime",
    "concat_parts",
    "given_from_files",
    "with_train_filter",
]
