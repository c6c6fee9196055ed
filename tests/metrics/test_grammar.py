"""The grammar of metrics: ``@``, options, text and back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank import metrics
from fullrank.core.errors import SpecError
from fullrank.metrics import (
    AUC,
    DCG,
    MAE,
    MAP,
    MRR,
    NDCG,
    RBP,
    RMSE,
    HitRate,
    MeanRank,
    Metric,
    Precision,
    Recall,
    RPrecision,
    parse,
    parse_many,
)


def test_at_sets_the_cutoff():
    assert (NDCG @ 10).k == 10
    assert NDCG.k is None
    assert NDCG @ [10, 20] == (NDCG @ 10, NDCG @ 20)
    assert NDCG @ (5,) == (NDCG @ 5,)
    assert (NDCG @ 10) @ 5 == NDCG @ 5
    assert NDCG @ np.int32(10) == NDCG @ 10
    assert type((NDCG @ np.int64(10)).k) is int


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (NDCG, "NDCG"),
        (NDCG @ 10, "NDCG@10"),
        (NDCG(gain="linear") @ 10, "NDCG(gain=linear)@10"),
        (NDCG(gain="exp") @ 10, "NDCG@10"),
        (NDCG(rel=4, gain="LINEAR"), "NDCG(gain=linear,rel=4)"),
        (Recall(rel=3.5) @ 5, "Recall(rel=3.5)@5"),
        (MAP(denominator="relevant") @ 20, "MAP(denominator=relevant)@20"),
        (RBP(p=0.8), "RBP"),
        (RBP(p=0.25) @ 3, "RBP(p=0.25)@3"),
        (NDCG(dialect="trec") @ 5, "NDCG(dialect=trec)@5"),
        (AUC, "AUC"),
        (RMSE, "RMSE"),
    ],
)
def test_text_and_back(metric, text):
    assert str(metric) == repr(metric) == text
    assert parse(text) == metric
    assert parse(text.upper()) == parse(text.lower()) == metric


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("hr@10", HitRate @ 10),
        ("hitrate@10", HitRate @ 10),
        ("hit_rate@10", HitRate @ 10),
        ("Success@1", HitRate @ 1),
        ("rprec", RPrecision),
        ("r-precision", RPrecision),
        ("ap@5", MAP @ 5),
        ("rr", MRR),
        ("mean_rank", MeanRank),
        (" ndcg ( gain = linear ) @ 10 ", NDCG(gain="linear") @ 10),
        ("recall(rel=4)@5", Recall(rel=4.0) @ 5),
        ("ndcg()@5", NDCG @ 5),
        ("ndcg(gain='linear')@5", NDCG(gain="linear") @ 5),
    ],
)
def test_aliases_and_blanks(text, metric):
    assert parse(text) == metric


def test_parse_many():
    assert parse_many("recall(rel=4)@5,10,20") == Recall(rel=4) @ [5, 10, 20]
    assert parse_many("ndcg@10,20, auc,mrr @ 5") == (NDCG @ 10, NDCG @ 20, AUC, MRR @ 5)
    assert parse_many(["ndcg@10", "hr@1, 5", "ndcg@10"]) == (NDCG @ 10, HitRate @ 1, HitRate @ 5)
    assert parse_many([]) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", r"unknown metric 'ndgc'; did you mean 'ndcg'\?"),
        ("nonsense@10", r"unknown metric 'nonsense'; known: .*NDCG"),
        ("ndcg(gian=linear)@10", r"NDCG has no option 'gian'; did you mean 'gain'\?"),
        ("ndcg(gain=liner)@10", r"gain must be one of exp, linear, binary, got 'liner'; did you"),
        ("map(denominator=k)@10", "denominator must be one of min, relevant, got 'k'"),
        ("ndcg(p=0.5)", "NDCG has no option 'p'"),
        ("rmse(rel=4)", "RMSE has no options, got 'rel'"),
        ("recall(rel=high)@5", "rel must be a number above 0, got 'high'"),
        ("recall(rel=0)@5", "rel must be a number above 0"),
        ("recall(rel=nan)@5", "rel must be a number above 0"),
        ("rbp(p=1)", "p must be a number above 0 and below 1, got 1"),
        ("ndcg(gain=linear,gain=exp)", "'gain' is given twice"),
        ("ndcg(linear)", "options are written name=value, got 'linear'"),
        ("ndcg(gain=)", "options are written name=value"),
        ("ndcg@0", "k must be a whole number >= 1, got 0"),
        ("ndcg@-5", "must be a whole number >= 1, got '-5'"),
        ("ndcg@2147483647", "k must be below 2,147,483,647"),
        (f"ndcg@5,{10**20}", "NDCG: the cut-off k must be below 2,147,483,647"),
        ("ndcg@" + "9" * 9999, "k must be below 2,147,483,647"),
        ("recall(rel=1" + "0" * 400 + ")@5", "rel must be a number above 0"),
        ("ndcg@ten", "must be a whole number >= 1, got 'ten'"),
        ("ndcg@10.0", "must be a whole number >= 1, got '10.0'"),
        ("ndcg@", "must be a whole number >= 1, got ''"),
        ("auc@10", "AUC takes no cut-off, got @10; write AUC"),
        ("meanrank@10", "MeanRank takes no cut-off"),
        ("rmse@10", "RMSE takes no cut-off"),
        ("rprecision@10", "RPrecision takes no cut-off"),
        ("precision", "give a cut-off, such as Precision@10"),
        ("f1", "give a cut-off, such as F1@10"),
        ("hr", "give a cut-off, such as HitRate@10"),
        ("", "can't read the metric ''"),
        ("@10", "can't read the metric"),
        ("ndcg@10@20", "can't read the metric"),
        ("ndcg(gain=linear@10", "can't read the metric"),
        ("ndcg 10", "can't read the metric"),
        ("ndcg(dialect=none)@5", "unknown dialect 'none'"),
        ("auc(dialect=trec)", "AUC has no dialect 'trec'; it covers"),
        ("ndcg(dialect=trec,gain=linear)", "gain can't be set beside it"),
        ("ndcg@5,10", "expected one metric, got 2"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(SpecError, match=message):
        parse(text)


@pytest.mark.parametrize("k", [0, -1, 1.0, 2.5, True, "10", None])
def test_k_is_a_positive_whole_number(k):
    with pytest.raises(SpecError, match=re.escape(f"got {k!r}")):
        NDCG @ k


def test_not_text():
    with pytest.raises(SpecError, match="written as text"):
        parse_many([10])  # type: ignore[list-item]


def test_metrics_are_values():
    assert NDCG(gain="linear") @ 10 == NDCG(gain="linear") @ 10
    assert NDCG @ 10 != DCG @ 10
    assert NDCG(rel=4) == NDCG(rel=4.0)
    assert len({NDCG @ 10, parse("ndcg@10"), NDCG(gain="exp", k=10)}) == 1
    with pytest.raises(AttributeError):
        NDCG.gain = "linear"  # type: ignore[misc]


def test_order_is_by_name_then_options_then_k():
    wanted = [AUC, NDCG @ 5, NDCG @ 10, NDCG @ 100, NDCG, NDCG(gain="linear") @ 5, Recall @ 1]
    assert sorted(set(wanted)) == wanted
    with pytest.raises(TypeError):
        sorted([NDCG, "ndcg"])  # type: ignore[type-var]


@given(st.data())
def test_every_metric_round_trips(data):
    """Any combination of options survives text."""
    metric = getattr(metrics, data.draw(st.sampled_from(metrics.REGISTRY)))
    options = {name: data.draw(st.sampled_from(values)) for name, values in metric.choices.items()}
    if hasattr(metric, "rel"):
        options["rel"] = data.draw(st.none() | st.floats(1e-300, 1e300) | st.integers(1, 10**20))
    if hasattr(metric, "p"):
        options["p"] = data.draw(st.floats(0, 1, exclude_min=True, exclude_max=True))
    if metric.cutoff != "none":
        options["k"] = data.draw(st.integers(1, 10**9))
    made = metric(**options)
    assert parse(str(made)) == made


def test_registry_is_sorted_and_complete():
    kinds = {n: 0 if n.upper() == n else 1 if n[0].isupper() else 2 for n in metrics.__all__}
    assert metrics.__all__ == sorted(metrics.__all__, key=lambda n: (kinds[n], n))
    own = {n for n in dir(metrics) if isinstance(getattr(metrics, n), Metric)}
    assert own == set(metrics.REGISTRY)


def test_registry_of_core_finds_and_builds_metrics():
    from fullrank.core import registry

    assert registry.find("metric", "ndcg") is NDCG
    assert registry.build("metric", "NDCG", {"gain": "linear", "k": 5}) == NDCG(gain="linear") @ 5
    with pytest.raises(SpecError, match="did you mean 'gain'"):
        registry.build("metric", "NDCG", {"gian": "linear"})


def test_error_metrics_name_their_source():
    assert {RMSE.source, MAE.source} == {"predictions"}
    assert not any(metric.higher_is_better for metric in (RMSE, MAE, MeanRank))
    assert Precision.higher_is_better


def test_import_loads_no_heavy_library():
    """Metrics are parsed by commands that compute none: no Numba, SciPy or Polars yet."""
    import subprocess
    import sys

    code = (
        "import sys, fullrank.metrics as m; m.parse_many('ndcg@10,20'); "
        "print([n for n in ('numba', 'scipy', 'polars', 'pandas') if n in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
