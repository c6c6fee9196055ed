"""Extra memory of a ranking stays within its bound, whatever the size of the catalogue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.rank.test_factors import assert_same

import fullrank as fr
from fullrank.core.errors import TooLargeError
from fullrank.rank import _full, _sparse, rank
from fullrank.rank._job import plan_blocks

CODE = """
import numpy as np
from pathlib import Path
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Random
from fullrank.rank import rank

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

n_items, n_users, memory = 400_000, 600, 48 * 2**20
users, items = Vocabulary.of(np.arange(n_users)), Vocabulary.of(np.arange(n_items))
codes = np.arange(n_users, dtype=np.int32)
model = Random().fit(Interactions(codes, codes, users, items))
queries = Queries.from_lists(
    codes, [[0]] * n_users, [[1, 2]] * n_users, user_vocab=users, item_vocab=items
)
rank(model, queries[:2], k=100)  # compile
Path("/proc/self/clear_refs").write_text("5")
before = peak()
rank(model, queries, k=100, memory=memory)
print((peak() - before) * 1024, memory)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux to tell the peak"
)
def test_peak_is_within_the_bound():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    extra, memory = map(int, done.stdout.split())
    # 600 users x 400,000 items are 915 MiB of scores.
    assert extra < memory * 1.15


def test_fewer_workers_come_before_smaller_blocks():
    assert plan_blocks("it", 64, 10, 10_000, 4) == (64, 4)
    assert plan_blocks("it", 64, 10, 1_500, 4) == (64, 2)
    assert plan_blocks("it", 64, 10, 400, 4) == (32, 1)
    assert plan_blocks("it", 64, 10, 1_500, 4, fixed=300) == (64, 1)
    assert plan_blocks("it", 64, 10, 10, 4) == (1, 1)
    with pytest.raises(
        TooLargeError, match=r"it needs up to 2\.00 MiB and the budget is 1\.00 MiB"
    ):
        plan_blocks("it", 64, 2**20, 2**20, 4, fixed=2**20)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    users = np.repeat(np.arange(60), 8)
    log = {"user_id": users, "item_id": rng.integers(0, 300, len(users))}
    split = fr.LeaveRandom(valid=0).split(fr.read(log).interactions)
    return split.fit_rows("train"), split.queries("test")


@pytest.mark.parametrize("model", [fr.ItemKNN(), fr.PureSVD(embedding_dim=4), fr.EASE()])
def test_lists_of_the_whole_catalogue_keep_to_the_bound(world, model, monkeypatch):
    """Their buffers are larger than the scores."""
    train, queries = world
    model.fit(train)
    whole = rank(model, queries, k=300, threads=2)
    plans = []
    for home in (_full, _sparse):
        monkeypatch.setattr(
            home, "plan_blocks", lambda *a, **o: plans.append(plan_blocks(*a, **o)) or plans[-1]
        )
    assert_same(rank(model, queries, k=300, threads=2, memory=60_000), whole)
    assert {workers for _, workers in plans} == {1}
    assert all(block <= 16 for block, _ in plans)
    with pytest.raises(TooLargeError, match=r"list .*raise memory="):
        rank(model, queries, k=300, memory=5_000)
