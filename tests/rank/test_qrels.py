"""TREC qrels and runs as truth and lists: judged documents are not all relevant."""

import pytest

from fullrank.core.errors import SpecError
from fullrank.experiment.evaluate import evaluate
from fullrank.rank import ranks_from_lists

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a -1\n2 0 b 1\n3 0 a 0\n"
RUN = "1 Q0 b 1 9.0 t\n1 Q0 a 2 8.0 t\n2 Q0 a 1 9.0 t\n2 Q0 b 2 8.0 t\n3 Q0 a 1 1.0 t\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "run", tmp_path / "qrels"


def test_relevance_0_and_below_is_no_hit(files):
    found = evaluate(*files, ["p@1", "recall@2", "ndcg(gain=linear)@2"])
    values = {str(m.metric): m.estimate.value for m in found.measurements}
    assert values["Precision@1"] == 0.0
    assert values["Recall@2"] == (1 / 2 + 1) / 2  # the third query has nothing relevant
    assert found.ranked.counts["negative_relevance"] == 1
    assert found.protocol["grade"] == "relevance"
    assert found.ranked.design["gain"] == "relevance column of the qrels"
    assert not found.warnings


@pytest.mark.parametrize("grade", ["relevance", "rating"])
def test_the_grade_of_qrels_may_be_named(files, grade):
    named = evaluate(*files, ["recall(rel=2)@2"], grade=grade)
    assert named.protocol == evaluate(*files, ["recall@2"]).protocol
    assert named.measurements[0].estimate.value == 1.0


def test_another_grade_of_qrels_is_refused(files):
    with pytest.raises(SpecError, match="no grade column 'relevanc'; did you mean 'relevance'"):
        ranks_from_lists(*files, grade="relevanc")


NAMES = {
    "map": "map(denominator=relevant)", "Rprec": "rprecision", "recip_rank": "mrr",
    **{f"P_{k}": f"p@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
}  # fmt: skip


def test_trec_eval_prints_the_same_of_its_own_files(real_data):
    """The run has ranks beside scores and no two of a query are equal, so no order is chosen."""
    folder = real_data / "trec-eval" / "native"
    printed = {}
    for line in (folder / "out.test").read_text().splitlines():
        name, _, value = line.split()
        printed[name] = value
    found = evaluate(folder / "results.test", folder / "qrels.test", list(NAMES.values()))
    assert len(found.measurements) == len(NAMES)
    for name, m in zip(NAMES, found.measurements, strict=True):
        assert m.estimate.value == pytest.approx(float(printed[name]), abs=5.01e-5), name
