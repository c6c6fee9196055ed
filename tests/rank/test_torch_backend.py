"""Ranking by PyTorch gives what the engine's own kernels give, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rank.test_factors import Factored, Scored, assert_same, big, fitted, worlds

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import mix
from fullrank.core.ranked import UNRANKED
from fullrank.core.vocabulary import Vocabulary
from fullrank.kernels.shortlist import above, below
from fullrank.models import IALS, Popularity, PureSVD
from fullrank.rank import Catalogue, rank
from fullrank.rank.backends import _lists, _ranks, _scores
from fullrank.rank.backends import torch as backend

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
on_devices = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """OpenMP's threads wait long for each other where other processes use the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Both(Factored):
    """Factors, and the scores that they make: for paths that ask for either."""

    _score = Scored._score
    item_factors = Factored.item_factors
    query_factors = Factored.query_factors


@contextmanager
def cut(block, width, part, *, margin=32, many_targets=64, many_ties=32):
    """Blocks, tiles and temporary arrays of these sizes, and other turning points."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "plan", lambda *_: backend.Plan(block, width, part))
        patch.setattr(_lists, "MARGIN", margin)
        patch.setattr(_ranks, "MANY_TARGETS", many_targets)
        patch.setattr(_ranks, "MANY_TIES", many_ties)
        yield


def same_as_cpu(model, queries, device="cpu", **options):
    want = rank(model, queries, **options)
    got = rank(model, queries, backend="torch", device=device, **options)
    assert_same(got, want)
    return got


cuts = st.builds(
    lambda block, width, part, *turns: cut(
        block, width, part, margin=turns[0], many_targets=turns[1], many_ties=turns[2]
    ),
    st.sampled_from([1, 2, 5, 300]),
    st.sampled_from([16, 48, 512]),
    st.sampled_from([1, 1000, 10**6]),
    st.sampled_from([0, 1, 32]),
    st.sampled_from([0, 1, 3, 64]),
    st.sampled_from([0, 2, 32]),
)


@on_devices
@given(case=worlds(), k=st.integers(0, 150), cutting=cuts)
def test_same_as_the_kernels(device, case, k, cutting):
    model, queries = fitted(Factored, *case)
    with cutting:
        same_as_cpu(model, queries, device, k=k)


@on_devices
@given(case=worlds(), k=st.integers(0, 40), cutting=cuts, seed=st.integers(0, 2**32))
def test_what_each_query_may_get(device, case, k, cutting, seed):
    model, queries = fitted(Both, *case)
    rng = np.random.default_rng(seed)
    q, c = len(queries), queries.n_items
    users, items = np.nonzero(rng.random((q, c)) < 0.5)
    users, items = np.append(users, np.arange(q)), np.append(items, np.zeros(q, np.int64))
    catalogue = Catalogue(model.known_items_).restricted(queries, users, items)
    with cutting:
        same_as_cpu(model, queries, device, k=k, catalogue=catalogue)


@on_devices
@pytest.mark.parametrize("n_targets", [1, 4, 63, 65, 1000])
@pytest.mark.parametrize("twins", [1, 2, 100, 3000])
def test_few_and_many_targets_with_twins(device, n_targets, twins):
    model, queries = big(Factored, q=6, n_targets=n_targets, twins=twins)
    same_as_cpu(model, queries, device, k=20)


@on_devices
@pytest.mark.parametrize("order", [None, "best last"])
@pytest.mark.parametrize("k", [1, 10, 100, 2990, 3000, 4000])
def test_long_lists(device, order, k):
    same_as_cpu(*big(Factored, order=order), device, k=k)


@on_devices
@pytest.mark.parametrize("memory", [2**17, 2**20, 2**23, 2**29])
def test_any_memory(device, memory):
    model, queries = big(Factored, q=100, c=2000)
    model.users[::3] = 0.0  # users that nothing is known of
    same_as_cpu(model, queries, device, k=20, memory=memory)


def test_any_number_of_threads():
    model, queries = big(Factored, q=300, twins=2)
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        try:
            same_as_cpu(model, queries, k=100, threads=threads)
        finally:
            torch.set_num_threads(1)


def test_every_size_of_blocks_and_tiles():
    model, queries = big(Factored, q=9, c=150, n_targets=5, twins=2)
    model.users[4] = 0.0
    want = rank(model, queries, k=12)
    for block in range(1, 11):
        for width in (16, 32, 48, 80, 160):
            with cut(block, width, 1 << (block + width // 16)):
                assert_same(rank(model, queries, k=12, backend="torch", device="cpu"), want)


@on_devices
def test_histories_of_all_and_of_nothing(device):
    rng = np.random.default_rng(0)
    users, items = (rng.normal(size=(n, 8)).astype(np.float32) for n in (4, 40))
    histories = [list(range(40)), [], list(range(1, 40)), []]
    targets = [[], [], [0], list(range(40))]
    model, queries = fitted(Factored, users, items, histories, targets, np.ones(40, bool))
    got = same_as_cpu(model, queries, device, k=50)
    assert got.targets.n_candidates.tolist() == [0, 40, 1, 40]
    assert got.top.items[0].tolist() == [-1] * 40
    assert sorted(got.targets.best[1:].tolist()) == list(range(1, 41))
    got = same_as_cpu(model, queries[np.zeros(0, np.int64)], device, k=5)
    assert got.top.items.shape == (0, 5)
    known = np.arange(40) > 0
    model, queries = fitted(Factored, users, items, histories, targets, known)
    assert same_as_cpu(model, queries, device).targets.best[0] == UNRANKED


@on_devices
def test_repeats_are_kept_unmasked(device):
    users = np.array([[1.0]], np.float32)
    items = np.array([[3.0], [2.0], [1.0]], np.float32)
    model, queries = fitted(Factored, users, items, [[0, 1]], [[1]], np.ones(3, bool), "keep")
    got = same_as_cpu(model, queries, device, k=3)
    assert (got.targets.best[0], got.targets.n_candidates[0]) == (2, 3)


@on_devices
@pytest.mark.parametrize("kind", [PureSVD, IALS])
def test_models_of_the_house(device, kind):
    rng = np.random.default_rng(1)
    pairs = np.unique(rng.zipf(1.3, (4000, 2)) % [[200, 300]], axis=0).astype(np.int32)
    users, items = Vocabulary.of(np.arange(200), "user"), Vocabulary.of(np.arange(300), "item")
    held = rng.random(len(pairs)) < 0.2
    train = Interactions(*pairs[~held].T.copy(), users, items)
    by_user = [[pairs[(pairs[:, 0] == u) & h, 1] for u in range(200)] for h in (~held, held)]
    from fullrank.core.queries import Queries

    queries = Queries.from_lists(np.arange(200), *by_user, user_vocab=users, item_vocab=items)
    same_as_cpu(kind(embedding_dim=8).fit(train), queries, device, k=30)


@on_devices
@pytest.mark.parametrize("where", ["users", "items"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_factors_that_are_not_finite(device, where, bad):
    model, queries = big(Both, q=5, c=100, n_targets=3)
    getattr(model, where)[3, 2] = bad
    with np.errstate(invalid="ignore"), pytest.raises(ScoreError, match=r"Both scored .* user"):
        rank(model, queries, k=3, backend="torch", device=device)


@on_devices
def test_huge_and_tiny_factors(device):
    for users, items in ((1e19, 1e18), (1e-20, 1e-21), (1e-30, 1e-30)):
        model, queries = big(Both, q=5, c=100, n_targets=3)
        model.users *= np.float32(users)
        model.items *= np.float32(items)
        same_as_cpu(model, queries, device, k=3)


def test_models_without_factors_are_refused():
    users, items = Vocabulary.of(np.arange(2), "user"), Vocabulary.of(np.arange(2), "item")
    codes = np.arange(2, dtype=np.int32)
    model = Popularity().fit(Interactions(codes, codes, users, items))
    _, queries = fitted(Factored, np.eye(2), np.eye(2), [[0], [1]], [[1], [0]], np.ones(2, bool))
    with pytest.raises(
        SpecError, match=r"Popularity has no factors .*PureSVD, IALS.*leave backend"
    ):
        rank(model, queries, backend="torch")


@pytest.mark.parametrize("device", ["cuda:99", "mps", "meta", "gpu"])
def test_devices_that_are_not_there_are_named(device):
    with pytest.raises(SpecError, match=rf"device='{device}' can't be used"):
        rank(*big(Factored, q=5, c=100, n_targets=3), backend="torch", device=device)


@pytest.fixture
def settings_of_precision():
    """Give back what PyTorch began with: its older functions leave other settings behind."""
    yield
    if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        for place in (torch.backends, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul):
            place.fp32_precision = "none"


def setting(place, name, value):
    """Set an attribute for a while."""

    @contextmanager
    def lowered():
        before = getattr(place, name)
        setattr(place, name, value)
        try:
            yield
        finally:
            setattr(place, name, before)

    return lowered


@contextmanager
def legacy(value):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(value)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


GLOBALS = {
    "high": lambda: legacy("high"),
    "medium": lambda: legacy("medium"),
    "allow_tf32": setting(torch.backends.cuda.matmul, "allow_tf32", True),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}
if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
    GLOBALS |= {
        "tf32 on CUDA": setting(torch.backends.cuda.matmul, "fp32_precision", "tf32"),
        "bf16 on the CPU": setting(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"),
        "bf16 everywhere": setting(torch.backends, "fp32_precision", "bf16"),
    }


def precision():
    """All that decides on the precision of a float32 product."""
    found = [torch.is_autocast_enabled("cpu")]
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        return [*found, torch.get_float32_matmul_precision()]
    matmuls = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    return found + [place.fp32_precision for place in matmuls]


@on_devices
@pytest.mark.usefixtures("settings_of_precision")
@pytest.mark.parametrize("name", GLOBALS)
def test_lowered_precision_changes_nothing_and_is_put_back(device, name, monkeypatch):
    model, queries = big(Factored, twins=2)
    want, product, during = rank(model, queries, k=20), torch.mm, []

    def spied(*factors, out):
        during.append(precision())
        return product(*factors, out=out)

    monkeypatch.setattr(torch, "mm", spied)
    untouched = precision()
    with GLOBALS[name]():
        lowered = precision()
        assert lowered != untouched
        got = rank(model, queries, k=20, backend="torch", device=device)
        assert precision() == lowered
    assert_same(got, want)
    assert during
    assert all(one in ([False, "ieee", "ieee"], [False, "highest"]) for one in during)


@pytest.mark.skipif("bf16 everywhere" not in GLOBALS, reason="PyTorch before 2.9")
@pytest.mark.usefixtures("settings_of_precision")
def test_precision_that_was_inherited_still_is():
    untouched = precision()
    with GLOBALS["bf16 everywhere"]():
        rank(*big(Factored, q=5, c=100, n_targets=3), backend="torch", device="cpu")
        assert precision() != untouched
    assert precision() == untouched


@pytest.mark.usefixtures("settings_of_precision")
def test_precision_is_put_back_after_an_error(monkeypatch):
    model, queries = big(Factored)

    def failing(*_, out):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(torch, "mm", failing)
    with legacy("medium"):
        before = precision()
        with pytest.raises(RuntimeError, match="out of memory"):
            rank(model, queries, backend="torch", device="cpu")
        assert precision() == before


@on_devices
def test_other_global_settings_change_nothing(device):
    model, queries = big(Factored, twins=2)
    with ExitStack() as stack:
        torch.set_default_dtype(torch.float64)
        stack.callback(torch.set_default_dtype, torch.float32)
        torch.use_deterministic_algorithms(True)
        stack.callback(torch.use_deterministic_algorithms, False)
        stack.enter_context(torch.device("meta"))
        same_as_cpu(model, queries, device, k=20)


@pytest.mark.parametrize("n_targets", [0, 8])
def test_a_product_in_lower_precision_is_noticed(n_targets, monkeypatch):
    """As a device would make it that emulates float32: no global setting tells."""
    model, queries = big(Factored, n_targets=n_targets)

    def rough(left, right, out):
        return out.copy_((left.bfloat16() @ right.bfloat16()).float())

    monkeypatch.setattr(torch, "mm", rough)
    with pytest.raises(ScoreError, match="a float32 product on the device is further"):
        rank(model, queries, k=20, backend="torch", device="cpu")


@pytest.mark.parametrize("k", [0, 20])
def test_canonical_scores_in_lower_precision_are_noticed(k, monkeypatch):
    model, queries = big(Factored, twins=100, n_targets=0 if k else 8)
    exact = _scores.Items.exact
    monkeypatch.setattr(_scores.Items, "exact", lambda *rest: exact(*rest).mul_(1 + 2.0**-20))
    with pytest.raises(ScoreError, match="a float64 product on the device is further"):
        rank(model, queries, k=k, backend="torch", device="cpu")


@given(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=50, unique=True))
def test_tie_keys_are_those_of_the_kernels(keys):
    keys = np.array(keys, np.uint64)
    got = _lists._tie_keys(torch.from_numpy(keys.view(np.int64)), torch.zeros(1, dtype=torch.int64))
    want = mix(keys)
    np.testing.assert_array_equal(got.numpy().view(np.uint64) ^ np.uint64(2**63), want)
    np.testing.assert_array_equal(got.argsort().numpy(), np.argsort(want))


@given(st.lists(st.floats(-1e38, 1e38), min_size=1, max_size=20))
def test_limits_are_those_of_the_kernels(values):
    x = torch.tensor(values, dtype=torch.float64)
    assert _scores.at_least(x).tolist() == [float(above(v)) for v in values]
    assert _scores.at_most(x).tolist() == [float(below(v)) for v in values]


@given(
    st.integers(0, 2**34), st.integers(1, 10**7), st.integers(1, 1024), st.integers(0, 5000),
    st.floats(0, 1e5),
)  # fmt: skip
def test_the_plan_keeps_to_the_memory(memory, n, d, k, cells):
    block, width, part = backend.plan(memory, n, d, k, cells)
    assert 1 <= block <= backend.BLOCK
    assert 16 <= width <= n + 16
    assert 4 * part <= memory
    row = 32 * width + 32 * d + 32 * int(cells) + 64 * (k + 32 if k else 0)
    assert block == 1 or 2 * block * row <= memory
    assert width <= 16 or 2 * 256 * 32 * width <= memory


PEAK = """
import torch
from pathlib import Path
from tests.rank.test_factors import Factored, big
from fullrank.rank import rank

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

torch.set_num_threads(1)
n_items, d, memory = 100_000, 16, 16 * 2**20
model, queries = big(Factored, q=100, c=n_items, d=d, n_targets=70)
model.users[::2] = 0.0
rank(model, queries[:3], k=100, backend="torch", device="cpu")
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
rank(model, queries, k=100, memory=memory, backend="torch", device="cpu")
print(status("VmHWM") - before, memory + n_items * (4 * d + 40))
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux to tell the peak"
)
def test_peak_is_within_the_bound():
    """On the CPU, where the device's memory can be told; 100 × 100,000 scores are 38 MiB."""
    # Each array is given back to the system at once, so that no run finds another heap.
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", PEAK]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    extra, bound = map(int, done.stdout.split())
    assert extra < bound
