"""Recommendation lists, truths and options of ``evaluate`` and ``compare``."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def lists(
    fault: str,
    place: str,
    remedy: str,
    *,
    recs: str = "recs.csv",
    truth: str = "truth.csv",
    more: str = "",
    metric: str = "ndcg@3",
) -> Case:
    """Lists that ``evaluate`` refuses."""
    command = f"evaluate --recs {recs} --truth {truth} -m '{metric}' {more}"
    return Case(fault, command.strip(), place, remedy)


LISTS = (
    lists("no such lists", "file rec.csv", "did you mean 'recs.csv'", recs="rec.csv"),
    lists("no such truth", "file truht.csv", "did you mean 'truth.csv'", truth="truht.csv"),
    lists(
        "text ids of users against integers",
        "user_id is text in recs.csv .*'u0'.* truth_integers.csv .*1",
        "convert one side",
        truth="truth_integers.csv",
    ),
    lists(
        "text ids of items against integers",
        "item_id is text in recs.csv .*'i0'.*10",
        "convert one side",
        truth="truth_item_integers.csv",
    ),
    lists(
        "training rows with integers",
        "user_id is integers in train_integers.csv",
        "convert one side",
        more="--train train_integers.csv",
    ),
    lists(
        "held-out items that all were in the training rows",
        "truth.csv",
        "--keep-seen",
        more="--train truth.csv",
    ),
    lists(
        "no user in common",
        "recs.csv .*truth_strangers.csv .*'u0' there, 'ann' here",
        "check that both sides",
        truth="truth_strangers.csv",
    ),
    lists(
        "a truth without rows",
        "truth_empty.csv has no rows",
        "name the held-out items",
        truth="truth_empty.csv",
    ),
    lists("lists without rows", "recs_empty.csv", "check the export", recs="recs_empty.csv"),
    lists(
        "a rank used twice",
        "recs_rank_twice.csv: .*user 'u0'",
        "give scores and no rank",
        recs="recs_rank_twice.csv",
    ),
    lists(
        "a rank with a fraction",
        "user 'u0', item 'i1' is 1.5",
        "give each item its place",
        recs="recs_rank_fraction.csv",
    ),
    lists(
        "a negative rank",
        "item 'i0' is -1",
        "give each item its place",
        recs="recs_rank_negative.csv",
    ),
    lists(
        "a rank in words",
        "recs_rank_text.csv, line 3: .*'second'",
        "mend it",
        recs="recs_rank_text.csv",
    ),
    lists(
        "a missing rank",
        "item 'i1' is missing",
        "give each item its place",
        recs="recs_rank_missing.csv",
    ),
    lists(
        "a NaN score",
        "recs_nan_score.csv: .*user 'u0', item 'i1'",
        "leave out what",
        recs="recs_nan_score.csv",
    ),
    lists(
        "an infinite score",
        "recs_infinite_score.csv: .*user 'u0', item 'i1' is inf",
        "mend it",
        recs="recs_infinite_score.csv",
    ),
    lists(
        "ranks from 0 beside ranks from 1",
        "recs_rank_from_0_and_1.csv: .*user 'u0' begin at 0 .*user 'u1' at 1",
        "count all lists from 1",
        recs="recs_rank_from_0_and_1.csv",
    ),
    lists(
        "ids that no integer type holds beside each other",
        "item ids reach from -5 to 9223372036854775813",
        "put a letter before each",
        recs="recs_negative_ids.csv",
        truth="truth_large_ids.csv",
    ),
    lists(
        "a cut-off that no ranking reaches",
        "NDCG: the cut-off k must be below 2,147,483,647",
        "take a smaller one",
        metric="ndcg@100000000000000000000",
    ),
    lists(
        "equal scores in the definition of a tool with an order of its own",
        "NDCG.dialect=trec.: trec orders .*user 'u0'",
        "give a rank column",
        recs="recs_equal_scores.csv",
        metric="ndcg(dialect=trec)@3",
    ),
    lists(
        "a score in words",
        "recs_text_score.csv, line 3: .*'high'",
        "mend it",
        recs="recs_text_score.csv",
    ),
    lists(
        "lists without a column of items",
        "recs_no_item.csv .*item_id",
        "--columns item_id=NAME",
        recs="recs_no_item.csv",
    ),
    lists(
        "three columns without header",
        "recs_three_columns.csv",
        "add a header",
        recs="recs_three_columns.csv",
    ),
    lists("half a Parquet file as lists", "half.parquet", "write it again", recs="half.parquet"),
    lists(
        "a negative grade",
        "truth_negative_grade.csv: .*'rating' holds -2.0 .*'u1', item 'i1'",
        "shift or drop",
        truth="truth_negative_grade.csv",
        more="--grade rating",
    ),
    lists(
        "a NaN grade",
        "truth_nan_grade.csv: .*'rating' .*'u1', item 'i1'",
        "drop such rows",
        truth="truth_nan_grade.csv",
        more="--grade rating",
    ),
    lists(
        "a grade in words",
        "truth_text_grade.csv: .*'rating'",
        "mend it",
        truth="truth_text_grade.csv",
        more="--grade rating",
    ),
    lists(
        "an unknown grade column",
        "truth.csv .*'ratings'",
        "did you mean 'rating'",
        more="--grade ratings",
    ),
    lists(
        "play counts as exponential gain",
        "got 120 .*user 'u1', item 'i1'",
        "say gain=linear",
        truth="truth_plays.csv",
        more="--grade plays",
    ),
    lists(
        "k beyond the declared depth",
        "NDCG@5 .*depth 3",
        "use k <= 3",
        metric="ndcg@5",
        more="--depth 3",
    ),
    lists("depth 0", "depth .*0", "must be 1 or more", more="--depth 0"),
    lists("depth in words", "'--depth'", "valid integer", more="--depth ten"),
    lists(
        "a metric that needs k without k", "Precision", "such as Precision@10", metric="precision"
    ),
    lists("ndcg@0", "NDCG: the cut-off k .*0", "whole number >= 1", metric="ndcg@0"),
    lists("k in words", "'ten' in 'ndcg@ten'", "whole number >= 1", metric="ndcg@ten"),
    lists("a misspelt metric", "'ndgc'", "did you mean 'ndcg'", metric="ndgc@5"),
    lists(
        "a misspelt option of a metric",
        "'gian'",
        "did you mean 'gain'",
        metric="ndcg(gian=linear)@3",
    ),
    lists(
        "an unknown gain", "gain .*'cube'", "known: binary, exp, linear", metric="ndcg(gain=cube)@3"
    ),
    lists(
        "an option of the wrong type",
        "rel .*'high'",
        "a number above 0",
        metric="recall(rel=high)@3",
    ),
    lists("a parameter out of range", "p .*got 2", "below 1", metric="rbp(p=2)"),
    lists("a metric that takes no k", "AUC .*@3", "write AUC", metric="auc@3"),
    lists("AUC of lists without scores", "AUC .*no scores", "metric with a cut-off", metric="auc"),
    lists(
        "AUC of scored lists that were cut",
        "AUC .*every list has 2 items and together they hold 3",
        "give scores of the whole catalogue",
        recs="recs_cut.csv",
        metric="auc",
    ),
    lists(
        "a threshold of grades without grades",
        "Recall.rel=4.@3: rel=4 .*every target has gain 1",
        "name it: --grade COLUMN",
        metric="recall(rel=4)@3",
    ),
    lists(
        "a whole list in each cell of text",
        "recs_list_text.csv: .*'i0,i1,i2'",
        "split the lists first",
        recs="recs_list_text.csv",
    ),
    lists(
        "scores of a whole list in a cell",
        "recs_list_scores.csv, line 2: .*'0.9,0.8,0.7'",
        "split the lists first",
        recs="recs_list_scores.csv",
    ),
    lists(
        "an unknown reading option", "'encding'", "did you mean 'encoding'", more="--read encding=x"
    ),
    lists("a metric of ratings", "RMSE", "benchmark whose models predict", metric="rmse"),
    lists("an empty metric", "''", "a form like ndcg@10", metric=""),
    lists(
        "half a bracket", "'ndcg.gain=linear@3'", "a form like ndcg@10", metric="ndcg(gain=linear@3"
    ),
    lists(
        "a file of segments that is not there",
        "segment.csv",
        "did you mean 'segments.csv'",
        more="--by segment.csv:country",
    ),
    lists(
        "an unknown column of segments",
        "segments.csv: .*'county'",
        "did you mean 'country'",
        more="--by segments.csv:county",
    ),
    lists("segments without a column", "'segments.csv'", "FILE:COLUMN", more="--by segments.csv"),
    lists(
        "a user in two segments",
        "segments_twice.csv: user 'u0'",
        "give each user one",
        more="--by segments_twice.csv:country",
    ),
    lists(
        "a confidence level above 1",
        "level .*95",
        "between 0 and 1, such as 0.95",
        more="--level 95",
    ),
    lists("an unknown method of intervals", "'bootstrp'", "'bca'", more="--interval bootstrp"),
    lists(
        "no resamples",
        "resamples .*got 0",
        "at least 100",
        more="--interval percentile --resamples 0",
    ),
    lists(
        "a negative seed",
        "'--seed'",
        "greater than or equal to 0",
        more="--interval percentile --seed -1",
    ),
    lists(
        "per-query values to an unknown format",
        "'out.xyz'",
        "end the name in one of .parquet",
        more="--per-query out.xyz",
    ),
    lists(
        "per-query values to below a file",
        "log.csv is a file",
        "name another place",
        more="--per-query log.csv/out.parquet",
    ),
    lists(
        "per-query values over a folder",
        "full: it is a folder",
        "name a file",
        more="--per-query full",
    ),
    lists("an unknown role", "'userid'", "did you mean 'user_id'", more="--columns userid=user_id"),
    lists(
        "a column that no file has",
        "column 'place'",
        "known: item_id, rank",
        more="--columns rank=place",
    ),
    Case("no truth", "evaluate --recs recs.csv -m ndcg@3", "'--truth'", "see fullrank --help"),
    Case(
        "no metric",
        "evaluate --recs recs.csv --truth truth.csv",
        "'--metric'",
        "see fullrank --help",
    ),
    Case("an unknown option", "evaluate --rec recs.csv", "--rec ", "Possible options"),
    Case("an unknown command", "evalute --recs recs.csv", "'evalute'", "Did you mean 'evaluate'"),
    Case("an unknown kind to list", "list model", "'model'", "did you mean 'models'"),
)

COMPARE = (
    Case("one system", "compare evaluation.parquet", "systems", "name at least two"),
    Case(
        "lists without truth",
        "compare recs.csv scored.csv -m ndcg@3",
        "recs.csv holds lists",
        "pass --truth FILE",
    ),
    Case(
        "lists without metric",
        "compare recs.csv scored.csv --truth truth.csv",
        "recs holds lists",
        "such as -m ndcg@10",
    ),
    Case(
        "two protocols",
        "compare evaluation.parquet other_evaluation.parquet",
        "targets:",
        "measure them alike",
    ),
    Case(
        "stores of two protocols",
        "compare store other_store",
        "split.recipe.test: 0.2 and 0.3",
        "measure them alike",
    ),
    Case(
        "a system that is not there",
        "compare evaluation.parquet evaluaton.parquet",
        "evaluaton.parquet",
        "did you mean 'evaluation.parquet'",
    ),
    Case(
        "a Parquet file that holds no evaluation",
        "compare evaluation.parquet plain.parquet",
        "plain.parquet",
        "pass --truth FILE",
    ),
    Case(
        "half a Parquet file",
        "compare evaluation.parquet half.parquet",
        "half.parquet",
        "write it again",
    ),
    Case(
        "a folder that is no store",
        "compare store full",
        "full is no store",
        "name the folder that",
    ),
    Case(
        "a metric that was not saved",
        "compare evaluation.parquet evaluation.parquet -m recall@3",
        "evaluation.parquet holds no Recall@3",
        "known: NDCG@3",
    ),
    Case(
        "an unknown baseline",
        "compare store --baseline Popularty",
        "'Popularty'",
        "did you mean 'Popularity'",
    ),
    Case("an unknown test", "compare store --test ttest", "'ttest'", "known: sign_flip"),
    Case(
        "an unknown correction",
        "compare store --correction bonferoni",
        "'bonferoni'",
        "known: bh, holm",
    ),
    Case(
        "a condition that can't be read",
        "compare store --fail-if 'ndcg@5 <= baseline'",
        "'ndcg@5 <= baseline'",
        "write it as",
    ),
    Case(
        "a condition on another metric",
        "compare store --fail-if 'recall@5 < baseline'",
        "Recall@5",
        "add -m Recall@5",
    ),
    Case(
        "a condition with a misspelt metric",
        "compare store --fail-if 'ndgc@5 < baseline'",
        "'ndgc'",
        "did you mean 'ndcg'",
    ),
    Case("a level out of range", "compare store --level 95", "level .*95", "such as 0.95"),
    Case(
        "a damaged store",
        "compare store_ranks_cut",
        "store_ranks_cut/cells/.*/ranks.parquet",
        "delete the folder",
    ),
)
