"""``data``, ``split`` and ``list``."""

import json
import re

import polars as pl
import pytest
from tests.experiment.worlds import log

from fullrank.core.registry import names
from fullrank.split import Split


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "log.csv"
    log().write_csv(path)
    return path


@pytest.mark.parametrize("kind", ["models", "metrics", "splits", "filters"])
def test_list_of_every_kind(cli, kind):
    found = cli("list", kind, "--json").json()
    expected = names(kind.removesuffix("s"))
    assert len(found) == len(expected)
    if kind != "filters":
        assert [entry["name"] for entry in found] == expected
    assert all(entry["about"].endswith(".") for entry in found)
    text = cli("list", kind)
    assert text.code == 0
    assert all(entry["name"] in text.out for entry in found)


def test_filters_are_listed_as_benchmark_files_spell_them(cli):
    found = {entry["name"]: entry for entry in cli("list", "filters", "--json").json()}
    assert found["core"]["settings"] == {"users": 5, "items": 5}
    assert found["binarise"]["settings"]["at"] == "(needed)"


def test_data_list_names_the_bundled_set(cli):
    found = {entry["name"]: entry for entry in cli("data", "list", "--json").json()}
    assert found["online-retail"]["available"] is True
    assert found["online-retail"]["rows"] > 200_000
    assert "online-retail" in cli("data", "list").out


def test_data_info_as_text_and_json(cli, rows):
    found = cli("data", "info", rows, "--json").json()
    assert "672" in json.dumps(found)
    text = cli("data", "info", rows)
    assert text.code == 0
    assert "672" in text.out
    assert "NaN" not in text.out


def test_data_info_says_licence_and_citation_of_the_bundled_set(cli):
    found = cli("data", "info", "online-retail", "--json")
    assert found.code == 0
    assert "CC BY 4.0" in found.out
    assert "CC BY 4.0" in cli("data", "info", "online-retail").out


def test_data_info_without_times_and_values(cli, rows, tmp_path):
    pl.read_csv(rows).select("user_id", "item_id").write_csv(tmp_path / "pairs.csv")
    assert cli("data", "info", tmp_path / "pairs.csv").code == 0
    cli("data", "info", tmp_path / "pairs.csv", "--json").json()


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl", "arrow"])
def test_convert_keeps_every_row(cli, rows, tmp_path, ending):
    out = tmp_path / "new" / f"out.{ending}"
    found = cli("data", "convert", rows, "-o", out, "--json").json()
    assert (found["out"], found["rows"]) == (str(out), 672)
    back = cli("data", "convert", out, "-o", tmp_path / "back.csv", "--json").json()
    assert back["fingerprint"] == found["fingerprint"]
    assert cli("data", "convert", rows, "-o", out).out == f"{out}: 672 rows\n"


def test_reading_options(cli, tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("uid;iid;note\nu1;caf\xe9;x\nu2;th\xe9;y\n".encode("latin-1"))
    refused = cli("data", "info", path)
    assert refused.code == 2
    assert "encoding" in refused.err
    columns = "user_id=uid,item_id=iid"
    read = ["--read", "encoding=latin-1", "--read", "separator=;"]
    said = cli("data", "convert", path, "-o", tmp_path / "o.csv", "--columns", columns, *read)
    assert said.code == 0, said.err
    assert pl.read_csv(tmp_path / "o.csv")["item_id"].to_list() == ["caf\xe9", "th\xe9"]
    wrong = cli("data", "info", path, "--read", "encodign=latin-1")
    assert wrong.code == 2
    assert "did you mean 'encoding'" in wrong.err


def test_split_writes_parts_that_load_again(cli, rows, tmp_path):
    out = tmp_path / "parts"
    arguments = ["--strategy", "GlobalTime", "--set", "test=0.2", "--set", "valid=0.1"]
    found = cli("split", rows, *arguments, "-o", out, "--json").json()
    assert found["out"] == [str(out)]
    split = Split.load(out)
    assert found["cards"] == [split.card()]
    assert sum(split.counts.values()) == 672
    assert abs(split.counts["test"] - 134) < 10
    text = cli("split", rows, *arguments, "-o", tmp_path / "again")
    assert f"test: {split.counts['test']:,} rows" in text.out
    assert "cold users" in text.out


def test_split_with_filters(cli, rows, tmp_path):
    said = cli(
        "split", rows, "--strategy", "LeaveLast", "--set", "n=2", "--set", "repeats=keep",
        "--filter", "binarise={at=4}", "--filter", "core={users=2, items=2}",
        "--train-filter", "activity={min_user=3}", "-o", tmp_path / "parts", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    split = Split.load(tmp_path / "parts")
    assert split.repeats == "keep"
    assert split.data.values.min() >= 4
    assert any("filters on training rows" in note for note in split.notes)


def test_split_into_folds(cli, rows, tmp_path):
    out = tmp_path / "folds"
    said = cli("split", rows, "--strategy", "KFold", "--set", "k=3", "-o", out, "--json")
    found = said.json()
    assert found["out"] == [str(out / f"fold-{j}") for j in range(3)]
    tests = [Split.load(out / f"fold-{j}").counts["test"] for j in range(3)]
    assert sum(tests) == 672


def test_the_seed_draws_another_split(cli, rows, tmp_path):
    def draw(name, seed):
        out = tmp_path / name
        options = ["--strategy", "RandomRows", "--seed", seed, "-o", out]
        assert cli("split", rows, *options).code == 0
        return Split.load(out).fingerprint

    assert draw("a", 1) == draw("b", 1) != draw("c", 2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--strategy", "GlobalTme"], "did you mean 'GlobalTime'"),
        (["--strategy", "GlobalTime", "--set", "tset=0.1"], "did you mean 'test'"),
        (["--strategy", "GlobalTime", "--set", "test"], "key=value"),
        (["--strategy", "GlobalTime", "--set", "test=1.5"], "test"),
        (["--strategy", "GlobalTime", "--filter", "cor={}"], "'core'"),
        (["--strategy", "GlobalTime", "--filter", "binarise={at=9}"], "no value reaches 9"),
    ],
)
def test_splits_that_can_not_be(cli, rows, tmp_path, more, message):
    said = cli("split", rows, *more, "-o", tmp_path / "parts")
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not (tmp_path / "parts").exists()


def test_split_never_writes_into_a_folder_in_use(cli, rows, tmp_path):
    out = tmp_path / "used"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    said = cli("split", rows, "--strategy", "GlobalTime", "-o", out)
    assert said.code == 2
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_the_card_is_in_words(cli, tmp_path):
    times = [*range(1, 40), 39]
    table = {"user_id": [n % 4 for n in range(40)], "item_id": list(range(40)), "timestamp": times}
    pl.DataFrame(table).write_csv(tmp_path / "log.csv")
    settings = ["--set", "test=0.05", "--set", "valid=0", "-o"]
    said = cli("split", tmp_path / "log.csv", "--strategy", "GlobalTime", *settings, tmp_path / "a")
    assert "test after a fit on train: 0 cold users (0 rows), 2 cold items (2 rows)" in said.out
    assert "ties at the cut of test: 2 rows with the time of the cut" in said.out
    assert "leak" not in said.out
    pl.DataFrame({**table, "user_id": [n // 10 for n in range(40)]}).write_csv(tmp_path / "log.csv")
    said = cli("split", tmp_path / "log.csv", "--strategy", "LeaveLast", "-o", tmp_path / "b")
    share = r"\n    [0-9]+\.[0-9] % of the training rows lie after the first test row "
    assert re.search(share + r"\(global leak\)\n", said.out)
    table["timestamp"] = [n // 8 for n in range(40)]
    pl.DataFrame(table).write_csv(tmp_path / "log.csv")
    said = cli("split", tmp_path / "log.csv", "--strategy", "LeaveLast", "-o", tmp_path / "c")
    assert "ties at the cut of test: 4 users with one time on both sides" in said.out


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.9911, "99.1 %"), (0.99999, "over 99.9 %"), (1.0, "100.0 %"), (1e-6, "under 0.1 %")],
)
def test_shares_never_round_to_all_or_nothing(share, text):
    from fullrank.cli._card import share_text

    assert share_text(share) == text
