"""Every registered metric of ranks keeps the contract, with and without options."""

from __future__ import annotations

import pytest

from fullrank import metrics
from fullrank.metrics import MAP, MRR, NDCG, RBP, Recall
from fullrank.testing.metric import MetricContract


def _instances():
    for name in metrics.REGISTRY:
        metric = getattr(metrics, name)
        if metric.source == "ranks":
            if metric.cutoff != "none":
                yield metric @ 5
            if metric.cutoff != "required":
                yield metric
    yield from (NDCG(gain="linear") @ 3, MAP(denominator="relevant") @ 2, RBP(p=0.5) @ 4)
    yield from (Recall(rel=2) @ 5, MRR(rel=2))


@pytest.fixture(params=_instances(), ids=str)
def subject(request):
    return request.param


_TESTS = sorted(name for name in vars(MetricContract) if name.startswith("test_"))


@pytest.mark.parametrize("test", _TESTS)
def test_contract(subject, test):
    contract = MetricContract()
    type(contract).metric = subject
    getattr(contract, test)()


def test_registry_names_are_the_names_of_the_metrics():
    for name in metrics.REGISTRY:
        assert getattr(metrics, name).name == name


class TestSubclassed(MetricContract):
    metric = NDCG @ 10
