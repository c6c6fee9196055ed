"""``list``, and what the command line says of names that there are not."""

from importlib.util import find_spec

import pytest


def test_metrics_are_listed_with_their_aliases(cli):
    said = cli("list", "metrics")
    assert said.code == 0
    (line,) = [line for line in said.out.splitlines() if line.startswith("HitRate")]
    assert "hr" in line
    rows = {row["name"]: row for row in cli("list", "metrics", "--json").json()}
    assert "hr" in rows["HitRate"]["aliases"]
    assert "aliases" not in cli("list", "models", "--json").json()[0]


@pytest.mark.parametrize(
    "kind",
    [
        "models", "metrics", "splits", "filters", "negatives", "objectives", "estimators",
        "subsamplers",
    ],
)  # fmt: skip
def test_everything_is_listed_with_settings(cli, kind):
    rows = cli("list", kind, "--json").json()
    shown = cli("list", kind)
    assert shown.code == 0
    for row in rows:
        assert row["name"] in shown.out
        assert row["about"]
        assert isinstance(row["settings"], dict)


def test_negatives_end_with_what_models_take_in_training(cli):
    from fullrank.negatives.training import recipe

    last = cli("list", "negatives").out.splitlines()[-1]
    for form in (
        "uniform",
        "popularity(exponent=0.75)",
        "mixture(uniform, popularity, share=0.5)",
        "hardest(uniform, of=10)",
        "in_batch",
    ):
        assert form in last
        recipe(form)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is there")
def test_models_that_lack_pytorch_are_listed_with_what_they_need(cli):
    rows = {row["name"]: row for row in cli("list", "models", "--json").json()}
    assert "pip install 'fullrank[neural]'" in rows["MultiVAE"]["about"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "metric"], "'metric' is not one of 'models', 'metrics', 'splits', 'filters'"),
        (["list", "metric"], "did you mean 'metrics'?"),
        (["list", "wizards"], "'wizards' is not one of"),
        (["evaluate", "--recs", "a", "--truth", "b", "-m", "mrr", "--interval", "bcaa"], "'bca'?"),
    ],
)
def test_a_choice_that_there_is_not_suggests_the_nearest(cli, arguments, message):
    said = cli(*arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert "Value error" not in said.err
    assert ("did you mean" in said.err) is ("wizards" not in arguments)


def test_an_unknown_metric_lists_names_and_no_aliases(cli):
    said = cli("evaluate", "--recs", "a", "--truth", "b", "-m", "zzz@3")
    assert said.err == (
        "fullrank: unknown metric 'zzz'; known: AUC, DCG, F1, HitRate, MAE, MAP, MeanRank, MRR, "
        "NDCG, Precision, RBP, Recall, RMSE, RPrecision\n"
    )
    assert (
        "did you mean 'hit'" in cli("evaluate", "--recs", "a", "--truth", "b", "-m", "hist@3").err
    )


def test_a_format_that_is_not_written_is_told_by_the_suffix(cli, tmp_path):
    (tmp_path / "log.csv").write_text("user_id,item_id\n1,2\n")
    said = cli("data", "convert", tmp_path / "log.csv", "-o", tmp_path / "ml.xlsx")
    assert said.code == 2
    assert "end the name in one of .parquet, .csv" in said.err
    assert "or pass format" not in said.err


def test_reading_options_are_named_as_the_command_line_has_them(cli, tmp_path):
    (tmp_path / "log.csv").write_text('user_id,item_id\n1,"2\n')
    said = cli("data", "info", tmp_path / "log.csv")
    assert "--read quote=''" in said.err
    assert "--read escape='\\'" in said.err
    assert cli("data", "info", tmp_path / "log.csv", "--read", "quote=").code == 0
