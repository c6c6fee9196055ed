"""Random damage: a file is read or refused in words, and numbers stay where they can be."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullrank.core.errors import DataError, FullrankError, SpecError
from fullrank.data import read
from fullrank.experiment.check import check
from fullrank.experiment.evaluate import evaluate
from fullrank.experiment.results import Results
from fullrank.experiment.spec import read_spec

HERE = Path(__file__).parent
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)

Edit = Callable[[bytes], bytes]
places = st.floats(0, 1, exclude_max=True)


@st.composite
def edits(draw: st.DrawFn, snippets: st.SearchStrategy[bytes]) -> Edit:
    """Cut out, put in, double or overwrite a stretch of bytes."""
    kind = draw(st.sampled_from(["cut", "insert", "double", "overwrite", "end"]))
    start, size, new = draw(places), draw(st.integers(1, 40)), draw(snippets)

    def apply(data: bytes) -> bytes:
        j = int(start * len(data))
        piece = data[j : j + size]
        changed = {"cut": b"", "insert": new + piece, "double": piece + piece, "overwrite": new}
        return data[:j] if kind == "end" else data[:j] + changed[kind] + data[j + size :]

    return apply


csv_bits = st.sampled_from(
    [b",", b"\n", b'"', b"\r\n", b"\t", b"::", b"\0", b"\xe9", b"nan", b"-", b"1e400", b"\\",
     b"user_id", b"99999999999999999999", b"2024-01-05", b"{", b"\xef\xbb\xbf", b" "]
)  # fmt: skip
toml_bits = st.sampled_from(
    [b"[", b"]", b"=", b'"', b"\n", b"{", b"}", b"0", b"-1", b"1e999", b"nan", b"true", b"'",
     b"[[model]]\n", b"name = 1\n", b"search = ", b"[tune]\n", b"2024-01-05", b".", b"#", b"\xe9"]
)  # fmt: skip


@given(steps=st.lists(edits(csv_bits | st.binary(min_size=1, max_size=6)), min_size=1, max_size=4))
@SHARED
@pytest.mark.parametrize("name", ["log.csv", "half.zip", "plain.parquet", "mixed_ids.jsonl"])
def test_damaged_tables(inputs: Path, tmp_path: Path, name: str, steps: list[Edit]) -> None:
    data = (inputs / name).read_bytes()
    for step in steps:
        data = step(data)
    path = tmp_path / name
    path.write_bytes(data)
    with contextlib.suppress(FullrankError):
        rows = read(path).interactions
        assert len(rows) > 0
        assert rows.users.min() >= 0
        assert rows.values is None or all(map(math.isfinite, rows.values))


@given(steps=st.lists(edits(toml_bits), min_size=1, max_size=3))
@SHARED
@pytest.mark.parametrize("name", ["good/bench.toml", "files/search_empty_range.toml"])
def test_damaged_benchmarks(tmp_path: Path, name: str, steps: list[Edit]) -> None:
    text = (HERE / name).read_bytes()
    for step in steps:
        text = step(text)
    path = tmp_path / "bench.toml"
    path.write_bytes(text)
    with contextlib.suppress(SpecError):
        check(read_spec(path)[0])


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(key=st.sampled_from(["spec", "cells", "tuning"]), value=values)
@SHARED
def test_damaged_manifests(inputs: Path, tmp_path: Path, key: str, value: object) -> None:
    folder = tmp_path / "store"
    folder.mkdir(exist_ok=True)
    (folder / "store.json").write_text('{"format": 1}')
    content = json.loads((inputs / "store" / "bench.json").read_text())
    (folder / "bench.json").write_text(json.dumps({**content, key: value}))
    with contextlib.suppress(FullrankError):
        Results.load(folder)


users, items = st.sampled_from("uvwxyz"), st.sampled_from("abcdefgh")
lists = st.dictionaries(users, st.lists(items, max_size=9), min_size=1)
METRICS = ["ndcg@3", "ndcg(gain=linear)@1,9", "recall@3", "precision@5", "mrr@9", "map@4", "f1@2",
           "hitrate@1", "rbp@3", "rprecision"]  # fmt: skip


@given(recs=lists, truth=lists, train=st.none() | lists)
@settings(max_examples=150)
def test_any_lists_give_numbers_in_range(
    recs: dict[str, list[str]], truth: dict[str, list[str]], train: dict[str, list[str]] | None
) -> None:
    try:
        found = evaluate(recs, truth, METRICS, train=train)
    except FullrankError:
        return
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    with_targets = content["metrics"]["NDCG@3"]["n_queries"]
    assert 0 < with_targets <= sum(1 for targets in truth.values() if targets)
    for metric, entry in content["metrics"].items():
        assert 0 <= entry["worst"] <= entry["value"] + 1e-12, metric
        assert entry["value"] <= entry["best"] + 1e-12 <= 1 + 2e-12, metric
        if entry["low"] is not None:
            assert entry["low"] <= entry["value"] + 1e-12
            assert entry["value"] <= entry["high"] + 1e-12


@given(
    scores=st.lists(st.sampled_from([0.0, 0.5, 1.0, -math.inf]), min_size=6, max_size=6),
    targets=st.sets(st.sampled_from("abcdef"), min_size=1),
)
@settings(max_examples=100)
def test_ties_lie_between_their_bounds(scores: list[float], targets: set[str]) -> None:
    recs = {"user_id": ["u"] * 6, "item_id": list("abcdef"), "score": scores}
    if max(scores) == -math.inf:
        with pytest.raises(DataError, match="its 6 rows are scored -inf"):
            evaluate(recs, {"u": sorted(targets)}, METRICS)
        return
    content = evaluate(recs, {"u": sorted(targets)}, [*METRICS, "auc"]).to_dict()
    json.dumps(content, allow_nan=False)
    for metric, entry in content["metrics"].items():
        if entry["value"] is None:
            assert metric == "AUC"
            assert len(targets) == 6  # nothing to rank them against
            continue
        assert 0 <= entry["worst"] <= entry["value"] + 1e-12, metric
        assert entry["value"] <= entry["best"] + 1e-12 <= 1 + 2e-12, metric
