"""Benchmark files: every clause is read, every slip is one message with its line."""

import tomllib

import pytest
from tests.experiment.worlds import bench, content, spec

from fullrank.core.errors import SpecError
from fullrank.core.registry import build
from fullrank.experiment import bench as bench_module
from fullrank.experiment._lines import line_of
from fullrank.experiment.check import check
from fullrank.experiment.run import run
from fullrank.experiment.spec import parse_spec, read_spec

WHOLE = """\
name = "whole"
seeds = [3, 4]
baseline = "Top"
metrics = ["ndcg@10", "recall@5,10"]
level = 0.9

[[data]]
name = "mine"
path = "log.csv"
columns = { user_id = "uid" }
read = { separator = ";", header = true }
grade = "rating"

[[data]]
name = "ml-100k"

[filters]
seed = 5
before = [{ binarise = { at = 4 } }]
train = [{ core = { users = 2, items = 3 } }]

[split]
strategy = "GlobalTime"
test = 0.1
valid = 0.15
seed = 7
repeats = "keep"

[ranking]
catalogue = "all"
eligible = "stock.csv"
candidates = "full"
cold_users = "fallback"

[tune]
metric = "mrr@10"
seconds = 1.5
users = "all"
refit = "train"
seed = 9
sampler = "random"

[[model]]
name = "Popularity"
label = "Top"
settings = { count = "rows" }

[[model]]
name = "EASE"
search = { reg = { low = 1.0, high = 1e4, log = true } }
trials = 3

[[model]]
name = "my.package:MyModel"
search = "default"
"""


def parse(text):
    return parse_spec(tomllib.loads(text), "bench.toml", text)


def refused(text, error=SpecError):
    with pytest.raises(error) as found:
        parse(text)
    return str(found.value)


def test_every_clause_is_read():
    read = parse(WHOLE)
    assert (read.name, read.seeds, read.level) == ("whole", (3, 4), 0.9)
    assert read.baseline_title == "Top"
    assert read.data[0].columns == {"user_id": "uid"}
    assert read.data[0].read.options == {"separator": ";", "header": True}
    assert (read.data[0].grade, read.data[1].path) == ("rating", None)
    assert read.filters.before == ({"binarise": {"at": 4}},)
    assert read.filters.train == ({"core": {"users": 2, "items": 3}},)
    assert read.filters.seed == 5
    assert read.split.settings == {"test": 0.1, "valid": 0.15}
    assert (read.split.seed, read.split.repeats) == (7, "keep")
    assert read.ranking.model_dump() == {
        "catalogue": "all",
        "eligible": "stock.csv",
        "candidates": "full",
        "cold_users": "fallback",
    }
    assert (read.tune.seconds, read.tune.trials, read.tune.users) == (1.5, None, "all")
    assert (read.tune.refit, read.tune.seed, read.tune.sampler) == ("train", 9, "random")
    assert [model.title for model in read.model] == ["Top", "EASE", "MyModel"]
    assert read.model[1].trials == 3
    assert read.model[2].search == "default"


def test_what_a_file_leaves_out_has_a_default():
    read = spec(seeds=None, tune=None, model=[{"name": "Random"}])
    assert (read.seeds, read.level, read.baseline_title) == ((1,), 0.95, "Random")
    assert (read.ranking.catalogue, read.ranking.cold_users) == ("fit", "apart")
    assert (read.split.seed, read.split.repeats, read.tune) == (0, "drop", None)


@pytest.mark.parametrize(
    ("old", "new", "key", "hint"),
    [
        ("level = 0.9", "levle = 0.9", "levle", "'level'"),
        ('grade = "rating"', 'garde = "rating"', "data[0].garde", "'grade'"),
        ("before =", "befor =", "filters.befor", "'before'"),
        ("cold_users", "cold_user", "ranking.cold_user", "'cold_users'"),
        ("refit", "refti", "tune.refti", "'refit'"),
        ("trials = 3", "trails = 3", "model[1].trails", "'trials'"),
        ("separator =", "seperator =", "data[0].read.seperator", "'separator'"),
        ('eligible = "stock.csv"', 'grade = "x"', "ranking.grade", "grade under [[data]]"),
        ('refit = "train"', 'repeats = "train"', "tune.repeats", "repeats under [split]"),
        (
            'label = "Top"',
            "level = 0.8",
            "model[0].level",
            "'label', or level above the first table",
        ),
    ],
)
def test_an_unknown_key_is_told_with_its_line_and_the_nearest_one(old, new, key, hint):
    text = WHOLE.replace(old, new)
    line = next(j for j, row in enumerate(text.splitlines(), start=1) if new in row)
    message = refused(text)
    assert f"bench.toml line {line}: " in message
    assert f"unknown key '{key}'" in message
    assert f"did you mean {hint}?" in message


def test_a_setting_of_a_model_beside_its_name_is_told_where_it_stands():
    message = refused(WHOLE.replace("trials = 3", "reg = 3.0"))
    assert message.endswith("a setting of the model itself stands in settings = { reg = … }")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("seeds = [3, 4]", 'seeds = ["3"]', "seeds[0]"),
        ("seeds = [3, 4]", "seeds = [true]", "seeds[0]"),
        ("seeds = [3, 4]", "seeds = [-1]", "seeds[0]"),
        ("seeds = [3, 4]", "seeds = []", "seeds"),
        ('metrics = ["ndcg@10", "recall@5,10"]', 'metrics = "ndcg@10"', "metrics"),
        ("level = 0.9", "level = 1.0", "level"),
        ("level = 0.9", 'level = "0.9"', "level"),
        ('repeats = "keep"', 'repeats = "maybe"', "split.repeats"),
        ('cold_users = "fallback"', 'cold_users = "hide"', "ranking.cold_users"),
        ("trials = 3", 'trials = "3"', "model[1].trials"),
        ("trials = 3", "trials = 0", "model[1].trials"),
        ("seconds = 1.5", "seconds = 0.0", "tune.seconds"),
        ('search = "default"', 'search = "defualt"', "model[2].search"),
        ('settings = { count = "rows" }', "settings = 3", "model[0].settings"),
        ("{ binarise = { at = 4 } }", "{ binarise = 4 }", "filters.before[0].binarise"),
    ],
)
def test_a_wrong_type_is_told_with_its_line(old, new, key):
    text = WHOLE.replace(old, new)
    line = next(j for j, row in enumerate(text.splitlines(), start=1) if new in row)
    assert f"bench.toml line {line}: {key}: " in refused(text)


@pytest.mark.parametrize("key", ["metrics", "split.strategy", "model[0].name", "tune.metric"])
def test_a_missing_key_is_named(key):
    name = key.rpartition(".")[2]
    lines, done = [], False
    for row in WHOLE.splitlines():
        within = 'name = "Popularity"' in row if key == "model[0].name" else True
        skip = not done and row.startswith(f"{name} =") and within
        done = done or skip
        lines += [] if skip else [row]
    assert f"the key '{key}' is missing" in refused("\n".join(lines))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "EASE"', 'name = "EASE"\nlabel = "Top"', "model label 'Top' is used twice"),
        ('name = "ml-100k"', 'name = "mine"', "data name 'mine' is used twice"),
        ("seeds = [3, 4]", "seeds = [3, 3]", "seed '3' is used twice"),
        ('baseline = "Top"', 'baseline = "Tap"', "did you mean 'Top'?"),
        ("seconds = 1.5", "seconds = 1.5\ntrials = 2", "either trials"),
        ("seconds = 1.5", "", "either trials"),
        (
            "trials = 3",
            "settings = { reg = 2.0 }",
            "'reg' is both fixed and searched",
        ),
        ('settings = { count = "rows" }', "trials = 3", "trials are of a search"),
    ],
)
def test_clauses_that_contradict_each_other(old, new, message):
    found = refused(WHOLE.replace(old, new))
    assert message in found
    assert "bench.toml line " in found


def test_a_search_needs_a_budget():
    with pytest.raises(SpecError, match="'ItemKNN' has a search space and there is no budget"):
        spec(tune=None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ["ndgc@10"]}, "line 1: .*did you mean 'ndcg'"),
        ({"metrics": ["hitrate"]}, "line 1: .*cut-off"),
        ({"metrics": ["rmse"]}, "needs a model that predicts ratings"),
        ({"split": {"strategy": "GlobalTme"}}, "did you mean 'GlobalTime'"),
        ({"split": {"strategy": "GlobalTime", "tset": 0.1}}, "no setting 'tset'.*'test'"),
        ({"split": {"strategy": "GlobalTime", "test": 2}}, "test"),
        ({"split": {"strategy": "GlobalTime", "refit": "train"}}, r"mean refit under \[tune\]"),
        ({"filters": {"before": [{"cor": {}}]}}, "unknown filter 'cor'.*'core'"),
        ({"filters": {"train": [{"core": {"user": 1}}]}}, "no setting 'user'.*'users'"),
        ({"model": [{"name": "EAES"}]}, "unknown model 'EAES'.*'EASE'"),
        ({"model": [{"name": "no.such:Model"}]}, "can't import.*no module 'no'"),
        ({"model": [{"name": "os:path"}]}, "subclass of fullrank.Recommender"),
        ({"model": [{"name": "EASE", "settings": {"rge": 1.0}}]}, "no setting 'rge'.*'reg'"),
        ({"model": [{"name": "EASE", "settings": {"reg": -1.0}}]}, "reg"),
        ({"model": [{"name": "EASE", "search": {"rge": [1.0]}}]}, "no setting 'rge'"),
        ({"model": [{"name": "EASE", "search": {"reg": {"low": 1.0}}}]}, "both low and high"),
        ({"tune": {"metric": "rmse", "trials": 2}}, "predicts no ratings"),
        ({"data": [{"name": "x", "path": "log.csv", "read": {"format": "csv"}}]}, "'csv'.*known"),
        ({"data": [{"name": "x", "path": "log.csv", "read": {"quote": "''"}}]}, "quote must be"),
        ({"ranking": {"catalogue": "absent.csv"}}, "there is no file .*absent.csv"),
        ({"data": [{"name": "x", "path": "absent.csv"}]}, "there is no file .*absent.csv"),
    ],
)
def test_names_and_settings_are_checked_before_any_data_is_loaded(
    tmp_path, monkeypatch, changes, message
):
    monkeypatch.setattr(bench_module, "read", lambda *a, **k: pytest.fail("data were loaded"))
    path = bench(tmp_path, **changes)
    with pytest.raises(SpecError, match=message) as found:
        run(path, tmp_path / "store")
    assert f"{path} line " in str(found.value)
    assert not (tmp_path / "store").exists()


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"model": [{"name": "EASE", "settings": {"reg": INF}}]}, "reg"),
        ({"model": [{"name": "EASE", "settings": {"reg": NAN}}]}, "reg"),
        ({"model": [{"name": "EASE", "settings": {"reg": [1.0, INF]}}]}, "reg"),
        ({"model": [{"name": "EASE", "search": {"reg": [1.0, INF]}}]}, "reg"),
        ({"model": [{"name": "EASE", "search": {"reg": {"low": 1.0, "high": INF}}}]}, "high"),
        ({"model": [{"name": "EASE", "search": {"reg": {"low": -INF, "high": 1.0}}}]}, "low"),
        ({"filters": {"before": [{"values": {"min": -INF}}]}}, "min"),
        ({"filters": {"train": [{"binarise": {"at": NAN}}]}}, "at"),
        ({"split": {"strategy": "GlobalTime", "test": INF}}, "test"),
        ({"split": {"strategy": "GlobalCut", "cut": INF}}, "cut"),
        ({"tune": {"metric": "ndcg@10", "seconds": INF}}, "seconds"),
    ],
)  # fmt: skip
def test_numbers_without_end_are_refused_before_a_store_is_made(
    tmp_path, monkeypatch, changes, name
):
    monkeypatch.setattr(bench_module, "read", lambda *a, **k: pytest.fail("data were loaded"))
    path = bench(tmp_path, **changes)
    with pytest.raises(SpecError, match=rf"{name} must hold finite numbers, got -?(inf|nan)") as e:
        run(path, tmp_path / "store")
    line = next(j for j, row in enumerate(path.read_text().splitlines(), 1) if f"{name} =" in row)
    assert f"{path} line {line}: " in str(e.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("kind", "name", "settings"),
    [("model", "EASE", {"reg": INF}), ("split", "GlobalCut", {"cut": NAN})],
)
def test_numbers_without_end_are_refused_wherever_settings_come_from(kind, name, settings):
    with pytest.raises(SpecError, match="must hold finite numbers"):
        build(kind, name, settings)


def test_check_gives_the_metrics_each_once():
    read = spec(metrics=["ndcg@10", "recall@5,10", "recall@10"])
    assert [str(metric) for metric in check(read)] == ["NDCG@10", "Recall@5", "Recall@10"]


def test_files_that_are_no_benchmark(tmp_path):
    with pytest.raises(SpecError, match="there is no benchmark file"):
        read_spec(tmp_path / "absent.toml")
    with pytest.raises(SpecError, match="is a folder"):
        read_spec(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'metrics = ["ndcg@10"]\nname = "caf\xe9"\n')
    with pytest.raises(SpecError, match=r"line 2 is not UTF-8"):
        read_spec(latin)
    broken = tmp_path / "broken.toml"
    broken.write_text("metrics = [\n[split]\n")
    with pytest.raises(SpecError, match=r"not valid TOML.*line"):
        read_spec(broken)


def test_paths_are_relative_to_the_file(tmp_path):
    assert read_spec(bench(tmp_path))[1] == tmp_path


LINES = """\
name = "x"
[a]
k = 1 # of a
"quoted key" = 2
[[list]]
k = { inner = 1, other = { deep = 2 } }
[[list]]
k = [
  { one = 1 },
  { two = 2 },
]
[list.sub]
k = 3
"""


@pytest.mark.parametrize(
    ("loc", "line"),
    [
        (("name",), 1),
        (("a",), 2),
        (("a", "k"), 3),
        (("a", "quoted key"), 4),
        (("a", "absent"), 2),
        (("list", 0, "k", "other", "deep"), 6),
        (("list", 1), 7),
        (("list", 1, "k"), 8),
        (("list", 1, "k", 1, "two"), 10),
        (("list", 1, "sub", "k"), 13),
        (("absent",), None),
    ],
)
def test_lines_of_places(loc, line):
    assert line_of(LINES, loc) == line


def test_the_world_of_these_tests_is_a_benchmark():
    assert parse_spec(content()) == spec()
