"""The snippet of docs/your-own-model.md with the real implicit and LensKit.

`python -m benchmarks.adapters` makes an environment in which both stand beside what fullrank needs,
runs the block of the page there that is marked ``<!-- run with implicit and lenskit -->``, and
compares what fullrank ranks with the lists that the tools give themselves: the share of their top
ten that the adapters find. An item that only ties with our tenth, up to rounding, counts as found,
and is counted apart; it fails where any other is missing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import ROOT, alone
from benchmarks._peers import PeerUnavailableError, python_of

PAGE = ROOT / "docs" / "your-own-model.md"
BLOCK = re.compile(r"<!-- run with implicit and lenskit -->\n```python\n(.*?)```", re.DOTALL)
K = 10


def snippet() -> str:
    """The block of the page."""
    found = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(found) == 1, f"{PAGE} has {len(found)} blocks with the mark, expected 1"
    return str(found[0])


def _of_implicit(names: dict[str, Any], model: Any) -> np.ndarray:
    """implicit's own lists, as codes of items."""
    rows = names["queries"].users
    return np.asarray(model.recommend(rows, names["X"][rows], N=K)[0])


def _of_lenskit(names: dict[str, Any]) -> np.ndarray:
    """LensKit's own lists: what the user has is left out by its pipeline."""
    from lenskit.batch import recommend

    asked = names["queries"].user_ids.tolist()
    found = recommend(names["pipeline"], asked, n=K, n_jobs=1)
    ids = np.stack([np.asarray(found.lookup(user_id=u).ids()) for u in asked])
    return np.asarray(names["split"].train.item_vocab.encode(ids.ravel()).reshape(ids.shape))


ROUNDING = 1e-5
"""Relative to the tenth score: sums of float32 in another order."""


def shares(folder: str) -> dict[str, tuple[float, float]]:
    """Run the snippet here; of the tools' own lists what each adapter finds, and what only ties."""
    sys.path.insert(0, folder)
    from fullrank.rank import rank

    names: dict[str, Any] = {}
    exec(compile(snippet(), str(PAGE), "exec"), names)
    theirs = {
        "implicit, Factors": (names["als"], _of_implicit(names, names["model"])),
        "implicit, MatrixFunction": (names["knn"], _of_implicit(names, names["cosine"])),
        "implicit, PairFunction": (names["pairs"], _of_implicit(names, names["model"])),
        "LensKit, Factors": (names["lenskit"], _of_lenskit(names)),
    }
    out: dict[str, tuple[float, float]] = {}
    for name, (adapted, lists) in theirs.items():
        queries = names["queries"]
        top = rank(adapted.fit(names["split"].train), queries, k=K).top
        indptr = np.arange(len(queries) + 1, dtype=np.int64) * K
        scores = adapted.score_pairs(queries, indptr, lists.ravel().astype(np.int32))
        inside = np.array([np.isin(b, a) for a, b in zip(top.items, lists, strict=True)])
        tenth = top.scores[:, -1:]
        tied = ~inside & (np.abs(scores.reshape(-1, K) - tenth) <= ROUNDING * np.abs(tenth))
        out[name] = (float(inside.mean()), float(tied.mean()))
    return out


def main() -> int:
    """The command line."""
    try:
        python = python_of("adapters")
    except PeerUnavailableError as error:
        print(f"not installed: {error}")
        return 0
    src = str(Path(ROOT) / "src")
    found = alone("benchmarks.adapters:shares", src, python=python, env={"OMP_NUM_THREADS": "1"})
    if found.error:
        print(f"failed: {found.error}")
        return 1
    for name, (share, tied) in found.value.items():
        print(f"{name}: {share:.4f} of the tool's own top {K}, {tied:.4f} tie with our last")
    return int(any(share + tied < 1 - 1e-9 for share, tied in found.value.values()))


if __name__ == "__main__":
    sys.exit(main())
