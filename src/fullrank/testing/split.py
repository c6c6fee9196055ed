"""The contract of a split strategy: what every strategy must hold, as tests to inherit.

A test of a strategy is three lines plus what is special to it::

    class TestMine(SplitContract):
        strategy = Mine(test=0.2)
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions, TimeUnit
from fullrank.core.vocabulary import Vocabulary
from fullrank.split import Split, Strategy
from fullrank.split._base import PART_CODES

Row = tuple[Any, ...]


def interactions(
    users: Sequence[Any] | NDArray[Any],
    items: Sequence[Any] | NDArray[Any],
    *,
    times: Sequence[int] | NDArray[Any] | None = None,
    values: Sequence[float] | NDArray[Any] | None = None,
    time_unit: TimeUnit = "s",
    **extras: Any,
) -> Interactions:
    """Make interactions from outside ids, in any order of rows."""
    user_vocab, item_vocab = Vocabulary.of(list(users), "user"), Vocabulary.of(list(items), "item")
    return Interactions(
        users=user_vocab.encode(list(users)),
        items=item_vocab.encode(list(items)),
        user_vocab=user_vocab,
        item_vocab=item_vocab,
        values=None if values is None else np.asarray(values, dtype=np.float64),
        times=None if times is None else np.asarray(times, dtype=np.int64),
        time_unit=time_unit,
        extras={name: _extra(column) for name, column in extras.items()},
    )


def _extra(column: Any) -> NDArray[Any]:
    array = np.asarray(column)
    return array.astype(object) if array.dtype.kind == "U" else array


def tied_world(n: int = 400, seed: int = 0) -> dict[str, Any]:
    """Columns of a small log with tied times, repeated pairs and identical rows, shuffled."""
    rng = np.random.default_rng(seed)
    users = np.array([f"u{x:02d}" for x in rng.integers(0, 25, n)], dtype=object)
    items = np.array([f"i{x:02d}" for x in rng.zipf(1.6, n) % 40], dtype=object)
    return {
        "users": users,
        "items": items,
        "times": rng.integers(0, n // 4, n) * 86_400 + 1_000_000_000,
        "values": rng.integers(1, 6, n).astype(np.float64),
        "split": np.array(["train", "train", "valid", "test"], dtype=object)[rng.integers(0, 4, n)],
    }


def rows_of_part(split: Split, part: str) -> Counter[Row]:
    """The rows of a part by outside id, as a multiset that knows no order."""
    return _as_rows(split.data.take(split.part == PART_CODES[part]))


def _as_rows(data: Interactions) -> Counter[Row]:
    columns = [data.user_ids, data.item_ids, *(data.extras[name] for name in sorted(data.extras))]
    if data.values is not None:
        columns.append(data.values)
    if data.times is not None:
        columns.append(data.times)
    return Counter(zip(*(column.tolist() for column in columns)))


def assert_same(one: Split, other: Split) -> None:
    """Two splits have the same rows in the same parts."""
    for name in PART_CODES:
        assert rows_of_part(one, name) == rows_of_part(other, name), f"part {name} differs"
    assert one.fingerprint == other.fingerprint
    assert dict(one.ties_at_cut) == dict(other.ties_at_cut)


class SplitContract:
    """Tests that every strategy passes; subclass it and set ``strategy``.

    Class attributes:
        strategy: the strategy under test.
    """

    strategy: ClassVar[Strategy]

    def columns(self) -> dict[str, Any]:
        """Columns for ``interactions``; override where the strategy needs others."""
        return tied_world()

    def splits(self, rng: int = 0, order: NDArray[Any] | None = None) -> Sequence[Split]:
        """Splits of the columns, with the rows in a given order."""
        columns = self.columns()
        if order is not None:
            columns = {name: column[order] for name, column in columns.items()}
        return self.strategy.splits(interactions(**columns), rng=rng)

    def test_parts_are_disjoint_and_complete(self) -> None:
        """Each row is in one part; nothing that tests is fitted."""
        for split in self.splits():
            proof = split.verify()
            assert sum(proof["parts"].values()) == proof["rows"] == len(split.data)
            total: Counter[Row] = Counter()
            for name in PART_CODES:
                total += rows_of_part(split, name)
            assert total == _as_rows(interactions(**self.columns()))

    def test_row_order_does_not_matter(self) -> None:
        """Shuffled input, same rows in each part."""
        n = len(next(iter(self.columns().values())))
        order = np.random.default_rng(5).permutation(n)
        for one, other in zip(self.splits(3), self.splits(3, order), strict=True):
            assert_same(one, other)

    def test_same_seed_same_split(self) -> None:
        """A seed gives one split; where draws matter, another seed gives another."""
        for one, other in zip(self.splits(1), self.splits(1), strict=True):
            assert_same(one, other)
        if self.strategy.seeded:
            pairs = zip(self.splits(1), self.splits(2), strict=True)
            assert any(one.fingerprint != other.fingerprint for one, other in pairs)

    def test_no_peeking(self) -> None:
        """Fitted rows and held-out rows together never exceed the data, row by row."""
        for split in self.splits():
            data = _as_rows(split.data)
            for fit in ("train", "train+valid"):
                fitted = _as_rows(split.fit_rows(fit))
                held = rows_of_part(split, "test") + rows_of_part(split, "test_history")
                assert fitted + held <= data
            if split.has_valid:
                assert _as_rows(split.train) + rows_of_part(split, "valid") <= data
                _assert_histories(split, "valid", "train")
            _assert_histories(split, "test", "train")
            _assert_histories(split, "test", "train+valid")

    def test_times_are_respected(self) -> None:
        """Global cuts leave no fitted row after a held-out one, and say how many rows tie."""
        for split in self.splits():
            leaks = split.card()["test"]["fit"]["train"]["leaks"]
            if leaks is not None and type(self.strategy).__name__ in _GLOBAL:
                assert leaks["own_future_rows"] == leaks["global_future_rows"] == 0
                assert split.data.times is not None
                assert int(split.train.times.max()) < int(split.test.times.min())  # type: ignore[union-attr]

    def test_card_adds_up(self) -> None:
        """The figures on the card are those of the rows, and JSON takes it."""
        for split in self.splits():
            card = split.card()
            assert sum(part["rows"] for part in card["parts"].values()) == len(split.data)
            assert card["test"]["targets"]["queries"] == card["parts"]["test"]["users"]
            for fit in card["test"]["fit"].values():
                absent = fit["cold_users"] + fit["users_not_fitted"]
                assert 0 <= absent <= card["parts"]["test"]["users"]
            queries = split.queries("test", fit="train")
            cold = int(np.count_nonzero(queries.history_counts == 0))
            assert card["test"]["fit"]["train"]["cold_users"] == cold
            assert json.loads(json.dumps(card)) == card

    def test_saves_and_loads(self) -> None:
        """A folder gives the same split back, codes and ids included."""
        for split in self.splits():
            with tempfile.TemporaryDirectory() as folder:
                split.save(Path(folder) / "split")
                again = Split.load(Path(folder) / "split")
            assert np.array_equal(split.part, again.part)
            assert split.fingerprint == again.fingerprint
            assert split.data.user_vocab == again.data.user_vocab
            assert split.data.item_vocab == again.data.item_vocab
            assert split.card() == again.card()


_GLOBAL = ("GlobalTime", "GlobalCut", "ExpandingWindow", "SlidingWindow")


def _assert_histories(split: Split, part: str, fit: str) -> None:
    """Histories hold what was fitted or folded in, and nothing else, with its own times."""
    queries = split.queries(part, fit=fit)  # type: ignore[arg-type]
    allowed = rows_of_part(split, f"{part}_history") + _as_rows(split.fit_rows(fit))  # type: ignore[arg-type]
    pairs: Counter[Row] = Counter()
    for line, n in allowed.items():
        pairs[line[:2]] += n
    for row in range(len(queries)):
        user = queries.user_ids[row]
        seen = Counter((user, item) for item in queries.item_vocab.decode(queries.history(row)))
        assert seen <= pairs, f"the history of {user!r} holds rows that were not fitted"
