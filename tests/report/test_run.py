"""From a log to a report, with nothing made by hand in between."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from fullrank.experiment.run import run
from fullrank.experiment.spec import BenchSpec
from fullrank.report import render_report, summary_text


def test_a_small_benchmark(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    n = 3000
    users = np.sort(rng.integers(0, 120, n))  # later users are cold when the cut comes
    log = pl.DataFrame(
        {
            "user_id": users,
            "item_id": np.floor(40 * rng.random(n) ** 2).astype(int),
            "timestamp": 1_600_000_000 + users * 1000 + rng.integers(0, 20_000, n),
        }
    )
    log.write_csv(tmp_path / "log.csv")
    spec = BenchSpec.model_validate(
        {
            "name": "small",
            "seeds": [1, 2],
            "baseline": "Popularity",
            "metrics": ["ndcg@10", "recall@5"],
            "data": [{"name": "log", "path": "log.csv"}],
            "split": {"strategy": "GlobalTime", "test": 0.2, "valid": 0.1},
            "tune": {"metric": "ndcg@10", "trials": 2},
            "model": [
                {"name": "Random"},
                {"name": "Popularity"},
                {"name": "ItemKNN", "search": "default"},
            ],
        }
    )
    results = run(spec, tmp_path / "store", base=tmp_path)
    text = summary_text(results)
    html = render_report(results)
    assert "NDCG@10, cold" in text
    for part in ("GlobalTime", "Cold users", "neighbours = ", "ItemKNN", "Fingerprint"):
        assert part in html
