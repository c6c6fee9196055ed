"""Extra memory of a ranking stays within its bound, whatever the size of the catalogue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
