"""Every registered strategy passes the contract."""

from __future__ import annotations

import pytest

from fullrank import split as package
from fullrank.core.errors import SpecError
from fullrank.core.registry import build, names
from fullrank.split import (
    ExpandingWindow,
    Given,
    GlobalCut,
    GlobalTime,
    KFold,
    LeaveLast,
    LeaveRandom,
    RandomRows,
    SlidingWindow,
    UnseenUsers,
    UserTime,
)
from fullrank.testing.split import SplitContract

CASES = {
    "ExpandingWindow": [
        ExpandingWindow(folds=3, test=0.1, valid=0.1),
        ExpandingWindow(folds=2, test="7d"),
    ],
    "Given": [Given(), Given(valid="none", left_out=["valid"], valid_share=0.1)],
    "GlobalCut": [GlobalCut(cut="2001-11-20", valid="2001-11-01"), GlobalCut(cut=1_005_000_000)],
    "GlobalTime": [GlobalTime(), GlobalTime(test=0.3, valid=0, repeats="keep")],
    "KFold": [KFold(k=3), KFold(k=4, valid=0.1, per_user=True)],
    "LeaveLast": [LeaveLast(), LeaveLast(n=2, valid=0)],
    "LeaveRandom": [LeaveRandom(), LeaveRandom(n=3, valid=2, min_train=4)],
    "RandomRows": [RandomRows(), RandomRows(test=0.2, valid=0.1, per_user=True)],
    "SlidingWindow": [
        SlidingWindow(folds=3, train=0.3, test=0.1, valid=0.05),
        SlidingWindow(folds=2, train="30d", test="10d", valid="5d"),
    ],
    "UnseenUsers": [UnseenUsers(test=0.2, valid=0.1), UnseenUsers(test=5, valid=3, by="time")],
    "UserTime": [UserTime(), UserTime(test=0.3, valid=0)],
}


@pytest.mark.parametrize("strategy", [s for group in CASES.values() for s in group], ids=str)
class TestEveryStrategy(SplitContract):
    @pytest.fixture(autouse=True)
    def _set(self, strategy):
        self.strategy = strategy


def test_every_registered_strategy_has_a_case():
    assert sorted(CASES) == sorted(package.REGISTRY)
    assert list(package.REGISTRY) == sorted(package.REGISTRY)
    for name, group in CASES.items():
        assert all(type(strategy).__name__ == name for strategy in group)


def test_benchmark_files_name_strategies_and_their_settings():
    built = build("split", "globaltime", {"test": 0.2, "valid": 0.1, "repeats": "keep"})
    assert built == GlobalTime(test=0.2, valid=0.1, repeats="keep")
    assert set(package.REGISTRY) <= set(names("split"))
    with pytest.raises(SpecError, match="unknown split 'GlobalTim'; did you mean 'GlobalTime'"):
        build("split", "GlobalTim", {})
    with pytest.raises(SpecError, match="no setting 'tset'; did you mean 'test'"):
        build("split", "GlobalTime", {"tset": 0.1})
    with pytest.raises(SpecError, match="'GlobalCut' needs the setting 'cut'"):
        build("split", "GlobalCut", {})
