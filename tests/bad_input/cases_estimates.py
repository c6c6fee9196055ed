"""Sampled ranks that nothing can be told from, and plans that can't be made."""

from __future__ import annotations

from tests.bad_input.corpus import Case

SIZES = "--catalog-size 2000 --sample-size 100"


def ranks(
    fault: str, file: str, place: str, remedy: str, *, options: str = SIZES, metric: str = "ndcg@10"
) -> Case:
    """Ranks, or options, that ``estimate`` refuses."""
    asked = f" -m {metric}" if metric else ""
    return Case(fault, f"estimate {file}{asked} {options}".rstrip(), place, remedy)


def planned(fault: str, options: str, place: str, remedy: str) -> Case:
    """A plan that ``plan`` refuses."""
    return Case(fault, f"plan -m ndcg@10 {options}", place, remedy)


ESTIMATES = (
    ranks("no such file of ranks", "rnaks.csv", "rnaks.csv", "did you mean 'ranks.csv'"),
    ranks("an empty file of ranks", "empty.csv", "empty.csv is empty", "expected a table"),
    ranks("a header and no ranks", "ranks_only_header.csv", "no rows", "expected one row a target"),
    ranks("no column of ranks", "ranks_no_rank.csv", "user_id, position", "--columns rank=NAME"),
    ranks(
        "a column that isn't there",
        "ranks.csv",
        "no column 'pos'",
        "known: rank, user_id",
        options=f"{SIZES} --columns rank=pos",
    ),
    ranks(
        "an unknown role of a column",
        "ranks.csv",
        "'sample'",
        "did you mean 'sample_size'",
        options=f"{SIZES} --columns sample=rank",
    ),
    ranks("half ranks of ties", "ranks_half.csv", "'1.5' in row 2", "settled at random"),
    ranks("best and worst ranks", "ranks_ties.csv", "ranks_ties.csv", "settle equal scores at"),
    ranks(
        "the best rank that ties allow",
        "ranks_ties_best.csv",
        "all 12 rows with ties .* is the best",
        "settle equal scores at random",
    ),
    ranks("rank 0", "ranks_zero.csv", "'0' in row 2", "whole numbers from 1"),
    ranks("a negative rank", "ranks_negative.csv", "'-2' in row 2", "whole numbers from 1"),
    ranks("NaN among ranks", "ranks_nan.csv", "'nan' in row 2", "whole numbers from 1"),
    ranks("an infinite rank", "ranks_infinite.csv", "'inf' in row 2", "whole numbers from 1"),
    ranks("ranks in words", "ranks_text.csv", "'first' in row 1", "whole numbers from 1"),
    ranks(
        "a rank beyond 32 bits",
        "ranks_beyond_int32.csv",
        "'3000000000' in row 2",
        "whole numbers from 1",
    ),
    ranks(
        "a rank beyond the sample", "ranks_too_large.csv", "rank 250 .* of 100", "1 to the sample"
    ),
    ranks("no rank at all", "ranks_none.csv", "no target was ranked", "nothing can be estimated"),
    ranks("a row without user id", "ranks_missing_user.csv", "user_id .* row 2", "or drop the row"),
    ranks(
        "nobody says the sample size",
        "ranks.csv",
        "the sample size",
        "give --sample-size, or a column",
        options="--catalog-size 2000",
    ),
    ranks(
        "nobody says the size of the catalogue",
        "ranks.csv",
        "the catalog size",
        "give --catalog-size, or a column",
        options="--sample-size 100",
    ),
    ranks(
        "the sample size twice told",
        "adaptive.csv",
        "column 'sample_size', and --sample-size 100",
        "leave one out",
    ),
    ranks(
        "a sample of the target alone",
        "ranks.csv",
        "--sample-size .*got 1",
        "from 2 .the target and one candidate",
        options="--catalog-size 2000 --sample-size 1",
    ),
    ranks(
        "a row with a sample of the target alone",
        "ranks_size_one.csv",
        "target 2 of 2: a sample of 1",
        "draw at least 1",
        options="--catalog-size 2000",
    ),
    ranks(
        "a sample beyond the catalogue",
        "ranks_size_above.csv",
        "target 2 of 2: a sample of 900 from a catalogue of 500",
        "without replacement",
        options="--catalog-size 500 --no-replacement",
    ),
    ranks(
        "a sample size missing",
        "ranks_missing_size.csv",
        "sample_size .* row 2",
        "or drop the row",
        options="--catalog-size 2000",
    ),
    ranks(
        "a sample size in words",
        "ranks_text_size.csv",
        "'many' in row 2",
        "whole number up to",
        options="--catalog-size 2000",
    ),
    ranks(
        "a catalogue in words",
        "ranks.csv",
        "--catalog-size",
        "valid integer",
        options="--catalog-size all --sample-size 100",
    ),
    ranks(
        "a negative catalogue",
        "ranks_negative_catalogue.csv",
        "'-500' in row 2",
        "whole number up to",
        options="--sample-size 20",
    ),
    ranks(
        "a catalogue beyond 32 bits",
        "ranks_large_catalogue.csv",
        "'3000000000' in row 2",
        "whole number up to 2,147,483,646",
        options="--sample-size 20",
    ),
    ranks(
        "a catalogue beyond 32 bits as an option",
        "ranks.csv",
        "--catalog-size .*got 3000000000",
        "to 2,147,483,646",
        options="--catalog-size 3000000000 --sample-size 100",
    ),
    ranks(
        "a large share of the catalogue, drawn who knows how",
        "ranks.csv",
        "50% of the catalogue",
        "say --replacement or --no-replacement",
        options="--catalog-size 200 --sample-size 100",
    ),
    ranks("replacement mixed", "ranks_mixed.csv", "differs between rows", "replacement apart"),
    ranks("replacement in words", "ranks_replacement_words.csv", "sometimes", "true or false"),
    ranks("replacement missing", "ranks_replacement_gap.csv", "row 2", "or drop the row"),
    ranks(
        "replacement twice told",
        "ranks_with.csv",
        "replacement is True",
        "leave the option out",
        options=f"{SIZES} --no-replacement",
    ),
    ranks(
        "candidates drawn by popularity",
        "ranks_weighted.csv",
        "scheme is 'weighted'",
        r"draw with Uniform\(m=…\)",
    ),
    ranks("several targets, unordered", "ranks_no_others.csv", "user 'u1'", "column 'others'"),
    ranks(
        "others that can't be",
        "ranks_others_twice.csv",
        "user 'u1' has 0 others ahead, expected 1",
        "a row to every target",
    ),
    ranks("others in words", "ranks_others_text.csv", "'none' in row 1", "whole number up to"),
    ranks(
        "others that ranks contradict",
        "ranks_others_reversed.csv",
        "12 of 12 pairs",
        "count those that score higher",
    ),
    ranks(
        "targets of a query in two catalogues",
        "ranks_two_catalogues.csv",
        "user 'u1' have catalogues of 2,000 and 3,000 items",
        "give one size, or tell cases apart by query_id",
        options="--sample-size 20",
    ),
    ranks(
        "a catalogue of nothing",
        "ranks_no_catalogue.csv",
        "catalog_size is 0 in row 2",
        "at least 1",
        options="--sample-size 20",
    ),
    ranks(
        "a blank line in one column",
        "ranks_blank_line.csv",
        "line 3: a blank line",
        "add a column .user_id.* or drop the line",
    ),
    ranks(
        "a table method for targets ranked in full",
        "ranks_whole.csv",
        "1 of 3 targets were compared with their whole catalogue",
        "take SH or MLE",
        options="--catalog-size 2000 --no-replacement --method bv",
    ),
    ranks(
        "resamples without end",
        "ranks.csv",
        "resamples .*got 100000000",
        "at most 100,000",
        options=f"{SIZES} --resamples 100000000",
    ),
    ranks(
        "an unknown column of grades",
        "ranks.csv",
        "no column 'stars'",
        "known: ",
        options=f"{SIZES} --grade stars",
    ),
    ranks(
        "grades in words",
        "ranks_grade_text.csv",
        "good in row 1",
        "numbers >= 0",
        options=f"{SIZES} --grade rating",
    ),
    ranks(
        "a negative grade",
        "ranks_grade_negative.csv",
        "-1 in row 1",
        "numbers >= 0",
        options=f"{SIZES} --grade rating",
    ),
    ranks("no metric", "ranks.csv", "no metric", "-m ndcg@10", metric=""),
    ranks("an unknown metric", "ranks.csv", "'ndgc'", "did you mean 'ndcg'", metric="ndgc@10"),
    ranks("a metric of ratings", "ranks.csv", "RMSE", "such as ndcg@10", metric="rmse"),
    ranks("a cut-off of 0", "ranks.csv", "got 0", "whole number >= 1", metric="ndcg@0"),
    ranks(
        "an unknown method",
        "ranks.csv",
        "'mlee'",
        "did you mean 'MLE'",
        options=f"{SIZES} --method mlee",
    ),
    ranks(
        "a table method for several sizes",
        "adaptive.csv",
        "BV needs one sample size .* 25 to 100",
        "take SH or MLE",
        options="--catalog-size 2000 --method bv",
    ),
    ranks(
        "a method for another design",
        "ranks.csv",
        "came first in their sample and were not ranked in full",
        r"candidates=ScreenedExact\(…\), or take SH",
        options=f"{SIZES} --method horvitzthompson",
    ),
    ranks(
        "the smooth-head fit asked for what it lumps",
        "ranks.csv",
        "AUC",
        "method='auto'",
        options=f"{SIZES} --method sh",
        metric="auc",
    ),
    ranks(
        "a level out of range", "ranks.csv", "got 95", "such as 0.95", options=f"{SIZES} --level 95"
    ),
    ranks(
        "too few resamples",
        "ranks.csv",
        "resamples .*got 5",
        "at least 20",
        options=f"{SIZES} --resamples 5",
    ),
    ranks(
        "efficiency of one size",
        "ranks.csv",
        "all samples have the size 100",
        r"Doubling\(n_max=…\)",
        options=f"{SIZES} --efficiency",
        metric="",
    ),
    ranks(
        "efficiency of targets that stopped by a coin",
        "ranks_coin.csv",
        "1 target came first",
        r"Doubling\(n_max=…\)",
        options="--catalog-size 2000 --efficiency",
        metric="",
    ),
    ranks(
        "a chart under an unknown ending",
        "adaptive.csv",
        "'.pdf'",
        "known: .html, .svg",
        options="--catalog-size 2000 --efficiency --save chart.pdf",
        metric="",
    ),
    ranks(
        "a chart of nothing",
        "adaptive.csv",
        "--save",
        "give both",
        options="--catalog-size 2000 --save chart.svg",
    ),
    ranks(
        "a chart in a folder that isn't there",
        "adaptive.csv",
        "no folder missing",
        "make it first",
        options="--catalog-size 2000 --efficiency --save missing/chart.svg",
        metric="",
    ),
    planned(
        "a plan for nothing", "--catalog-size 2000 --law power:1", "give either", "or --difference"
    ),
    planned(
        "a plan for two things",
        "--catalog-size 2000 --law power:1 --half-width 0.1 --difference 0.1",
        "give either",
        "half_width or difference",
    ),
    planned(
        "a negative half-width",
        "--catalog-size 2000 --law power:1 --half-width -0.1",
        "got -0.1",
        "must be above 0",
    ),
    planned(
        "a power above 1",
        "--catalog-size 2000 --law power:1 --difference 0.1 --power 80",
        "80",
        "power within 0 and 1",
    ),
    planned(
        "a plan without ranks",
        "--catalog-size 2000 --half-width 0.1",
        "pilot .* or a law",
        "--pilot or --law on the command line",
    ),
    planned(
        "an unknown law",
        "--catalog-size 2000 --half-width 0.1 --law zipf",
        "'zipf'",
        "such as power:0.8",
    ),
    planned(
        "a law without a sum",
        "--catalog-size 2000 --half-width 0.1 --law power:-900",
        "'power:-900'",
        "such as power:0.8",
    ),
    planned(
        "a plan without a catalogue",
        "--half-width 0.1 --law power:1",
        "nothing says the size of the catalogue",
        "give --catalog-size, or a pilot",
    ),
    planned(
        "a catalogue of one",
        "--catalog-size 1 --half-width 0.1 --law power:1",
        "got 1",
        "at least 2",
    ),
    planned(
        "a cost of nothing",
        "--catalog-size 2000 --half-width 0.1 --law power:1 --pair-seconds 0",
        "pair_seconds .*got 0",
        "above 0",
    ),
    planned(
        "a cost of the full ranking alone",
        "--catalog-size 2000 --half-width 0.1 --law power:1 --query-seconds 1",
        "query_seconds",
        "goes with pair_seconds",
    ),
    planned(
        "a cost beyond any",
        "--catalog-size 2000 --half-width 0.1 --law power:1 --pair-seconds 1e308",
        "pair_seconds .*got 1e.308",
        r"up to 1e\+09",
    ),
    planned(
        "a half-width that nobody reaches",
        "--catalog-size 2000 --half-width 1e-300 --law power:1",
        r"more than 1e\+12 queries",
        "ask for a wider interval",
    ),
    planned(
        "a half-width without end",
        "--catalog-size 2000 --half-width inf --law power:1",
        "got inf",
        "above 0 and finite",
    ),
    planned(
        "a catalogue too large to simulate",
        "--catalog-size 2147483646 --half-width 0.1 --law power:1",
        "got 2147483646",
        "up to 10,000,000",
    ),
    planned(
        "columns of a pilot without one",
        "--catalog-size 2000 --half-width 0.1 --law power:1 --columns rank=pos",
        "--columns is of the pilot",
        "add --pilot RANKS",
    ),
    planned(
        "a pilot with half ranks",
        "--pilot ranks_half.csv --catalog-size 2000 --sample-size 100 --half-width 0.1",
        "ranks_half.csv: .*'1.5' in row 2",
        "settled at random",
    ),
    planned(
        "a pilot that isn't there",
        "--pilot rnaks.csv --catalog-size 2000 --sample-size 100 --half-width 0.1",
        "rnaks.csv",
        "did you mean 'ranks.csv'",
    ),
)
