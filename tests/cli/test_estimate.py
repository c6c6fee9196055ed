"""``fullrank estimate``: the table, the JSON, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.estimators.worlds import as_ranks, full_ranks, sampled

from fullrank.cli._run import run
from fullrank.core.ranked import UNRANKED
from fullrank.estimators import estimate, ranks_frame, read_ranks, write_ranks

N, M = 2000, 1500


@pytest.fixture
def ranks(tmp_path):
    rng = np.random.default_rng(0)
    found = sampled(full_ranks("sharp", N, M, rng), N, 100, rng)
    path = tmp_path / "ranks.csv"
    pl.DataFrame({"user_id": [f"u{j:04d}" for j in range(M)], "rank": found}).write_csv(path)
    return path


SIZES = ("--catalog-size", str(N), "--sample-size", "100")


def test_table_shows_the_sampled_number_and_why_they_differ(ranks, capsys):
    assert run(["estimate", str(ranks), *SIZES, "-m", "ndcg@10", "-m", "recall@10,20"]) == 0
    out = capsys.readouterr().out
    assert "sampled" in out.splitlines()[0]
    assert out.count("Recall@") == 2
    assert "why they differ" in out
    assert "approximate: ranks 1 to 20 (N/n)" in out
    assert "itself among them: 100.0 of 2,000.0 on average" in out


def test_methods_that_differ_are_named_by_metric(ranks, capsys):
    options = ("-m", "ndcg@10", "-m", "auc", "--resamples", "20")
    assert run(["estimate", str(ranks), *SIZES, *options]) == 0
    out = capsys.readouterr().out
    assert "NDCG@10: SH, posterior draws; AUC: MLE, bootstrap" in out


def test_the_raw_metric_stands_in_no_column_of_estimates(ranks, capsys):
    assert run(["estimate", str(ranks), *SIZES, "-m", "recall@10", "--method", "raw"]) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[0] == "Recall@10"
    assert row[2:] == ["–", "–"]


def test_json_is_what_the_library_says(ranks, capsys):
    assert run(["estimate", str(ranks), *SIZES, "-m", "ndcg@10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    mine = estimate(read_ranks(ranks, sample_size=100, catalog_size=N), "ndcg@10")[0]
    one = found["metrics"]["NDCG@10"]
    assert one == mine.to_dict()
    assert one["low"] < one["value"] < one["high"] < one["raw"]
    assert one["n_queries"] == M
    assert found["method"] == "SH"
    assert set(found) >= {"policies", "protocol", "provenance"}


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_written_ranks_read_back(tmp_path, suffix):
    rng = np.random.default_rng(1)
    sizes = rng.choice([50, 100], 200)
    catalogs = rng.integers(400, 500, 200)
    made = as_ranks(1 + rng.integers(0, 20, 200), sizes, catalogs)
    path = tmp_path / f"ranks.{suffix}"
    write_ranks(made, path)
    back = read_ranks(path)
    for name in ("ranks", "sizes", "catalog_sizes", "others"):
        assert np.array_equal(getattr(back.sample, name), getattr(made.sample, name))
    assert np.array_equal(back.users, made.users)
    assert not back.sample.replacement


def test_missing_ranks_are_misses_and_counted(tmp_path, capsys):
    path = tmp_path / "r.csv"
    path.write_text("case,rank\n" + "a,1\na,2\na,5\na,\n" * 50)
    assert run(["estimate", str(path), *SIZES, "-m", "recall@10"]) == 0
    assert "50 targets without a rank" in capsys.readouterr().out
    found = read_ranks(path, sample_size=100, catalog_size=N)
    assert (found.best == UNRANKED).sum() == 50


def test_settled_ties_are_taken_and_a_row_without_rank_has_no_place():
    tied = pl.DataFrame({"rank": [1, 2, 3] * 5, "best": [1] * 15, "worst": [3] * 15})
    assert len(read_ranks(tied, sample_size=100, catalog_size=N)) == 15
    frame = {"user_id": ["a"] * 3, "rank": [2, None, 9], "others": [0, 1, 1]}
    found = read_ranks(pl.DataFrame(frame), sample_size=100, catalog_size=N)
    assert found.sample.ranks.tolist() == [2, 9, 0]


def test_several_targets_of_a_query_need_others(tmp_path):
    frame = {"user_id": ["a", "a", "b"], "rank": [1, 4, 2]}
    with pytest.raises(Exception, match="has 2 targets in one query; give a column 'others'"):
        read_ranks(pl.DataFrame(frame), sample_size=100, catalog_size=N)
    found = read_ranks(
        pl.DataFrame({**frame, "others": [0, 1, 0], "stars": [3, 1, 2]}),
        sample_size=100,
        catalog_size=N,
        grade="stars",
    )
    assert len(found) == 2
    assert found.sample.others.tolist() == [0, 1, 0]
    assert found.gains.tolist() == [3.0, 1.0, 2.0]
    assert ranks_frame(found)["rank"].to_list() == [1, 4, 2]


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("rank\n101\n", SIZES, "rank 101 among a sample of 100"),
        ("rank\n0\n", SIZES, "rank is '0' in row 1; ranks are whole numbers from 1"),
        ("rank\n1.5\n", SIZES, "ties settled at random"),
        ("rank\nfirst\n", SIZES, "rank is 'first' in row 1"),
        ("rank\n-3\n", SIZES, "rank is '-3' in row 1"),
        ("rank\n99999999999\n", SIZES, "rank is '99999999999' in row 1"),
        ("pos\n1\n", SIZES, "expected a column 'rank'"),
        ("best,worst\n1,3\n", SIZES, "ties are left open"),
        ("rank\n1\n", ("--catalog-size", "10"), "give --sample-size"),
        ("rank\n1\n", ("--sample-size", "10"), "give --catalog-size"),
        ("rank\n1\n", ("--sample-size", "1", "--catalog-size", "90"), "from 2 (the target and"),
        (
            "rank\n1\n",
            ("--sample-size", "100", "--catalog-size", "90", "--no-replacement"),
            "a sample of 100 from a catalogue of 90 without replacement",
        ),
        ("rank\n1\n", ("--sample-size", "50", "--catalog-size", "90"), "say --replacement or"),
        ("rank,sample_size\n1,50\n", SIZES, "leave one out"),
        ("rank,replacement\n1,true\n2,false\n", SIZES, "differs between rows"),
        ("rank,replacement\n1,maybe\n", SIZES, "must be true or false"),
        ("rank\n1\n", (*SIZES, "--method", "mlee"), "did you mean 'MLE'"),
        ("rank\n1\n", (*SIZES, "--grade", "stars"), "has no column 'stars'"),
        ("rank\n1\n", (*SIZES, "--columns", "rnk=rank"), "did you mean 'rank'"),
        ("rank\n\n\n", SIZES, "has columns but no rows"),
        ("user_id,rank\na,\nb,\n", SIZES, "nothing can be estimated"),
        ("rank\n1\nnan\n", SIZES, "rank is 'nan' in row 2"),
        ("rank,replacement\n1,true\n2,\n", SIZES, "replacement is missing in row 2"),
        ("rank,replacement\n1,true\n", (*SIZES, "--no-replacement"), "leave the option out"),
        ("user_id,rank\na,1\n,2\n", SIZES, "user_id is missing in row 2"),
        ("rank,sample_size\n1,\n", ("--catalog-size", "90"), "sample_size is missing in row 1"),
        ("rank,best,worst\n" + "1,1,3\n" * 10, SIZES, "in all 10 rows with ties"),
        ("rank,best,worst\n" + "3,1,3\n" * 10, SIZES, "the rank is the worst"),
        ("rank,scheme\n1,uniform\n2,weighted\n", SIZES, "scheme is 'weighted'"),
        ("user_id,rank,others\na,1,0\na,2,0\n", SIZES, "has 0 others ahead, expected 1"),
        ("user_id,rank,others\na,1,7\nb,2,0\n", SIZES, "has 7 others ahead, expected 0"),
        ("rank\n1\n", ("--catalog-size", "3000000000", "--sample-size", "9"), "to 2,147,483,646"),
        ("rank\n1\n", ("--catalog-size", "-3", "--sample-size", "9"), "from 2 (the target and"),
        ("rank,catalog_size\n1,3000000000\n", ("--sample-size", "9"), "up to 2,147,483,646"),
        ("rank\n1\n", (*SIZES, "--level", "1.5"), "level"),
        ("rank\n1\n", (*SIZES, "-m", "rmse"), "is no metric of ranks"),
    ],
)
def test_refusals(tmp_path, capsys, text, options, says):
    path = tmp_path / "ranks.csv"
    path.write_text(text)
    assert run(["estimate", str(path), "-m", "ndcg@10", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err
