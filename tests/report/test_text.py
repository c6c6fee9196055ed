"""The sentences at the end of a run claim what the tests support, and no more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.report.stores import make_results, ranks_of

from fullrank.core.ranked import TargetRanks
from fullrank.experiment.leaderboard import paired_tests
from fullrank.metrics import parse
from fullrank.report import print_summary, summary_text
from fullrank.report._sentences import listed, reading
from fullrank.report.standing import standings

N = 80
WEAK, STRONG = ranks_of(0.0, N, 1), ranks_of(0.9, N, 2)


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_clear_winner(tmp_path: Path) -> None:
    results = make_results(
        tmp_path / "s", {"base": WEAK, "good": STRONG, "mid": ranks_of(0.1, N, 3)}
    )
    text = words(summary_text(results))
    assert "Over all users (80), good has the highest NDCG@10" in text
    assert "It is better than the baseline base: difference +" in text
    assert "adjusted p < 0.001" in text
    assert "It is better than each of the other models (mid), at the 5 % level" in text


def test_equal_models_cannot_be_told_apart(tmp_path: Path) -> None:
    """Public fault D10: a run compared with itself."""
    results = make_results(tmp_path / "s", {"base": STRONG, "same": STRONG, "again": STRONG})
    text = words(summary_text(results))
    assert "base, same and again share the highest NDCG@10, 0.7" in text
    assert "none of them leads." in text
    assert "better than" not in text.split("no mark")[1]
    assert "nan" not in text.lower()


def test_a_leader_by_luck_is_not_called_better(tmp_path: Path) -> None:
    results = make_results(tmp_path / "s", {"base": WEAK, "twin": ranks_of(0.02, N, 9)})
    leader = standings(results, paired_tests(results))[0].leader
    text = words(summary_text(results))
    assert "can't be told apart from" in text
    assert "It is better than" not in text
    assert leader in text


def test_the_baseline_may_lead(tmp_path: Path) -> None:
    results = make_results(tmp_path / "s", {"base": STRONG, "weak": WEAK})
    text = words(summary_text(results))
    assert "That is the baseline itself: nothing here has a better value." in text
    assert "It is better than every other model (weak)" in text


def test_picking_the_leader_is_paid_for(tmp_path: Path) -> None:
    """The leader's tests are adjusted over all pairs of the other models."""
    models = {"base": WEAK, **{f"m{i}": ranks_of(0.5, N, 10 + i) for i in range(5)}}
    results = make_results(tmp_path / "s", models)
    (found,) = standings(results, paired_tests(results))
    assert found.family == "Holm over 10 comparisons (all pairs of 5 models)"
    assert len(found.ahead) + len(found.tied) == 4


def test_five_equal_differences_of_five_users(tmp_path: Path) -> None:
    """Public fault D10 (ii): no spread gives no certainty from five users."""
    better = TargetRanks.of([[1]] * 5, n_candidates=[50] * 5)
    worse = TargetRanks.of([[3]] * 5, n_candidates=[50] * 5)
    results = make_results(tmp_path / "s", {"base": worse, "good": better})
    text = words(summary_text(results))
    assert "5 users: too few (under 20) to say who leads by NDCG@10." in text
    assert "better than" not in text.split("no mark")[1]
    assert "nan" not in text.lower()
    (found,) = standings(results, paired_tests(results))
    assert not found.apart_from("base")


@pytest.mark.parametrize(("n_cold", "said"), [(1, "1 user: too few"), (19, "19 users: too few")])
def test_a_few_cold_users_have_no_leader(tmp_path: Path, n_cold: int, said: str) -> None:
    pick = np.arange(N)
    swapped = _join(STRONG[pick[:n_cold]], WEAK[pick[n_cold:]])
    models = {"base": swapped, "good": _join(WEAK[pick[:n_cold]], STRONG[pick[n_cold:]])}
    text = words(summary_text(make_results(tmp_path / "s", models, cold=n_cold / N)))
    assert f"Among cold users, {said} (under 20) to say who leads by NDCG@10." in text
    assert "leads for" not in text
    assert "good has the highest NDCG@10" in text


def test_equal_values_have_no_leader(tmp_path: Path) -> None:
    """Both models miss every target of the cold users: 0.0000 leads nobody."""
    missed = TargetRanks.of([[50]] * 40, n_candidates=[50] * 40)
    pick = np.arange(40)
    models = {"base": _join(missed, WEAK[pick]), "good": _join(missed, STRONG[pick])}
    text = words(summary_text(make_results(tmp_path / "s", models, cold=0.5)))
    assert "Among cold users (40), base and good share the highest NDCG@10, 0.0000" in text
    assert "leads for" not in text
    assert "good has the highest NDCG@10" in text


def test_a_single_model_is_compared_with_nobody(tmp_path: Path) -> None:
    text = words(summary_text(make_results(tmp_path / "s", {"only": STRONG})))
    assert "Over all users (80), NDCG@10 of only is 0.7" in text
    assert "baseline" not in text


def test_labels_do_not_break_the_summary(tmp_path: Path) -> None:
    models = {"base\nline": WEAK, "go\x1bod": STRONG}
    results = make_results(tmp_path / "s", models, data=("a\nb", "c"))
    text = summary_text(results)
    assert "a\\nb:\n" in text
    assert "go\\x1bod has the highest" in words(text)
    assert "\x1b" not in text
    assert "base\nline" not in text


def test_warm_and_cold_leaders(tmp_path: Path) -> None:
    half = N // 2
    pick = np.arange(N)
    cold_first = WEAK[pick[:half]]
    warm_then = STRONG[pick[half:]]
    lists = [
        _join(cold_first, warm_then),
        _join(STRONG[pick[:half]], WEAK[pick[half:]]),
        _join(WEAK[pick[:half]], ranks_of(0.4, N, 5)[pick[half:]]),
    ]
    models = dict(zip(("warmer", "colder", "third"), lists))
    results = make_results(tmp_path / "s", models, cold=0.5, baseline="third")
    text = words(summary_text(results, width=200))
    assert "Among warm users (40), warmer has" in text
    assert "Among cold users (40), colder has" in text
    assert (
        "warmer leads for warm users, colder for cold ones: the order over all users depends on "
        "how many of them are cold." in text
    )
    assert "NDCG@10, warm" in text
    assert "NDCG@10, cold" in text


def test_lower_is_better(tmp_path: Path) -> None:
    models = {"base": WEAK, "good": STRONG}
    results = make_results(tmp_path / "s", models, metrics=["meanrank"])
    (found,) = standings(results, paired_tests(results))
    assert (found.leader, found.test is not None) == ("good", True)
    assert "good has the lowest MeanRank" in summary_text(results)
    assert "It is better than the baseline base: difference −" in words(summary_text(results))


def test_no_value_at_all(tmp_path: Path) -> None:
    empty = TargetRanks.of([[], []], n_candidates=[50, 50])
    results = make_results(tmp_path / "s", {"base": empty, "other": empty})
    text = words(summary_text(results))
    assert "NDCG@10 has no value: no query has a relevant target." in text
    assert "nan" not in text.lower()


def test_several_data_sets(tmp_path: Path) -> None:
    models = {"base": WEAK, "good": STRONG}
    results = make_results(tmp_path / "s", models, data=("one", "two"))
    found = reading(standings(results, paired_tests(results)))
    assert list(found) == ["one", "two"]
    assert "one:\n" in summary_text(results)


@pytest.mark.parametrize("width", [60, 100, 400])
def test_tables_fit_the_terminal(tmp_path: Path, width: int) -> None:
    metrics = ["ndcg@10", "recall@10,50", "mrr@10", "map@10", "meanrank"]
    models = {"base": WEAK, "good": [STRONG, ranks_of(0.9, N, 7)]}
    text = summary_text(make_results(tmp_path / "s", models, metrics=metrics), width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    for metric in ("NDCG@10", "Recall@50", "MAP@10", "MeanRank"):
        assert metric in text


def test_metric_can_be_chosen(tmp_path: Path) -> None:
    results = make_results(tmp_path / "s", {"base": WEAK, "good": STRONG})
    (found,) = standings(results, (), parse("recall@10"))
    assert str(found.metric) == "Recall@10"
    assert found.test is None


def test_listed() -> None:
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_print_summary_writes_no_escapes_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_summary(make_results(tmp_path / "s", {"[red]base": WEAK}))
    out = capsys.readouterr().out
    assert "[red]base" in out
    assert "\x1b" not in out


def _join(a: TargetRanks, b: TargetRanks) -> TargetRanks:
    ranks = [
        row[lo:hi].tolist()
        for part in (a, b)
        for row, lo, hi in ((part.best, i, j) for i, j in zip(part.indptr, part.indptr[1:]))
    ]
    return TargetRanks.of(ranks, n_candidates=[50] * len(ranks))
