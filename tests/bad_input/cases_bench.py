"""Benchmark files."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def bench(fault: str, file: str, place: str, remedy: str) -> Case:
    """A benchmark file that ``run`` refuses."""
    return Case(fault, f"run {file}.toml --store fresh", place, remedy)


BENCH = (
    bench(
        "a setting of a model that is text, as a number",
        "model_setting_number",
        "line 19: BPRMF: optimiser",
        "must be text, got 5",
    ),
    bench(
        "a bracket that is never closed",
        "broken",
        "broken.toml .*line 3",
        "mend it there or just before",
    ),
    bench("a key written twice", "twice_a_key", "twice_a_key.toml .*line 7", "each key once"),
    bench("an empty file", "empty", "empty.toml: the key 'metrics'", "add a line metrics"),
    bench("Latin-1", "latin1", "latin1.toml line 5", "save the file as UTF-8"),
    bench(
        "an unknown key at the top",
        "unknown_key_top",
        "line 2: .*'basline'",
        "did you mean 'baseline'",
    ),
    bench(
        "an unknown key of the data",
        "unknown_key_data",
        r"line 7: .*'data\[0\].garde'",
        "did you mean 'grade'",
    ),
    bench(
        "an unknown key of the filters",
        "unknown_key_filters",
        "line 20: .*'filters.befor'",
        "did you mean 'before'",
    ),
    bench(
        "an unknown setting of the split",
        "unknown_key_split",
        "line .*'vaild'",
        "did you mean 'valid'",
    ),
    bench(
        "an unknown key of the ranking",
        "unknown_key_ranking",
        "line 20: .*'ranking.catalog'",
        "did you mean 'catalogue'",
    ),
    bench(
        "an unknown key of the search",
        "unknown_key_tune",
        "line 22: .*'tune.trails'",
        "did you mean 'trials'",
    ),
    bench(
        "an unknown key of a model",
        "unknown_key_model",
        r"line 21: .*'model\[2\].setings'",
        "did you mean 'settings'",
    ),
    bench("an unknown table", "unknown_table", "line 19: .*'rankings'", "did you mean 'ranking'"),
    bench("no split", "no_split", "'split' is missing", r"add a table \[split\]"),
    bench(
        "a split without strategy",
        "no_strategy",
        "line 8: .*'split.strategy'",
        "add a line strategy",
    ),
    bench("no model", "no_model", "'model' is missing", r"add a table \[\[model\]\]"),
    bench(
        "one bracket where two are needed",
        "one_table_data",
        "line 4: data",
        r"write \[\[data\]\] with two brackets",
    ),
    bench(
        "text where a list is needed",
        "metrics_as_text",
        "line 1: metrics: .*'ndcg@5'",
        "must be a list",
    ),
    bench("no metric", "metrics_empty", "line 1: metrics", "at least one entry"),
    bench(
        "a seed in words", "seeds_as_text", r"line 2: seeds\[0\]: .*'one'", "must be a whole number"
    ),
    bench(
        "a seed with a fraction",
        "seed_fraction",
        r"line 2: seeds\[0\]: .*1.5",
        "must be a whole number",
    ),
    bench(
        "a negative seed",
        "seed_negative",
        r"line 2: seeds\[1\]: .*-2",
        "greater than or equal to 0",
    ),
    bench("a seed written twice", "seeds_twice", "line 2: seed '1'", "write each seed once"),
    bench("a confidence level of 2", "level_two", "line 2: level: .*2", "less than 1"),
    bench("a misspelt metric", "unknown_metric", "line 1: .*'ndgc'", "did you mean 'ndcg'"),
    bench(
        "a misspelt option of a metric", "metric_option", "line 1: .*'gian'", "did you mean 'gain'"
    ),
    bench(
        "a metric that needs k without k",
        "metric_without_k",
        "line 1: Precision",
        "such as Precision@10",
    ),
    bench("a metric at 0", "metric_at_zero", "line 1: NDCG: .*got 0", "whole number >= 1"),
    bench(
        "a metric of ratings and no model that predicts any",
        "metric_of_ratings",
        "line 1: .*rmse",
        "such as BiasOnly",
    ),
    bench("an unknown model", "unknown_model", "line 16: .*'Randon'", "did you mean 'Random'"),
    bench(
        "a model whose module is not there",
        "model_not_there",
        "line 19: .*'no.such.module:Model'",
        "can't import",
    ),
    bench(
        "a class that is no model",
        "model_is_no_model",
        "line 19: 'json:JSONDecoder'",
        "name a subclass of fullrank.Recommender",
    ),
    bench(
        "a misspelt setting of a model",
        "model_setting",
        "line .*EASE.*'regg'",
        "did you mean 'reg'",
    ),
    bench(
        "a setting of a model in words",
        "model_setting_text",
        "line .*EASE.*reg .*'strong'",
        "must be a number",
    ),
    bench(
        "a setting out of range", "model_setting_negative", "line .*EASE: reg .*-1.0", "must be > 0"
    ),
    bench(
        "a setting without end",
        "model_setting_infinite",
        "line 21: reg must hold finite numbers, got inf",
        "write a number",
    ),
    bench(
        "two models of one label",
        "labels_twice",
        "line 19: .*'Popularity'",
        "give one of them a label",
    ),
    bench(
        "a baseline that is no model",
        "baseline_unknown",
        "line 2: baseline 'Popularty'",
        "did you mean 'Popularity'",
    ),
    bench(
        "two data sets of one name",
        "data_twice",
        "line 8: .*'shop'",
        "name each data set differently",
    ),
    bench(
        "a data file that is not there",
        "data_not_there",
        "line 6: .*lgo.csv",
        "relative to the benchmark file",
    ),
    bench("an unknown data set", "data_unknown", "line [45]: .*'shop'", "known: "),
    bench(
        "a known data set and FULLRANK_DATA unset",
        "data_set_away",
        "line [45]: ml-1m",
        "set the environment variable FULLRANK_DATA",
    ),
    bench(
        "a column that the data don't have",
        "data_columns",
        "line 4: .*user_id='uid', and log.csv",
        "did you mean 'user_id'",
    ),
    bench("a damaged data file", "data_ragged", "line 4: ragged.csv, line 4", "mend the line"),
    bench(
        "an unknown strategy",
        "unknown_strategy",
        "line 9: .*'GlobalTme'",
        "did you mean 'GlobalTime'",
    ),
    bench(
        "a share in words", "strategy_setting_text", "line .*test .*'a fifth'", "must be a share"
    ),
    bench("a share above 1", "share_above_one", "line .*test .*20", "must be a share"),
    bench(
        "shares that leave nothing to train on",
        "shares_leave_nothing",
        "line .*test = 0.5 and valid = 0.5",
        "their sum must be below 1",
    ),
    bench(
        "an unknown policy of repeats",
        "repeats_unknown",
        "line 12: split.repeats: .*'maybe'",
        "'drop' or 'keep'",
    ),
    bench("a split by time without times", "times_needed", "line 9: .*no time column", "name it"),
    bench(
        "a split by time with a time missing", "times_missing", "line 9: .*1 of 4 rows", "drop them"
    ),
    bench(
        "targets that all are in the history",
        "parts_repeat_train",
        "line 9: shop: .*2 test rows, 2 of them in the history",
        "split.repeats = 'keep'",
    ),
    bench("an unknown filter", "unknown_filter", "line 20: .*'kcore'", "did you mean 'core'"),
    bench(
        "an unknown setting of a filter",
        "filter_setting",
        "line 20: filter 'core' .*'user'",
        "did you mean 'users'",
    ),
    bench(
        "a filter that is no table",
        "filter_text",
        r"line 20: filters.before\[0\]: .*'core'",
        "must be a table",
    ),
    bench(
        "a setting of a filter in words",
        "filter_wrong_type",
        "line 20: filter core: users .*'two'",
        "whole number",
    ),
    bench(
        "a filter that leaves nothing",
        "filter_leaves_nothing",
        "line 4: filter core.*none of 54 rows",
        "weaken it",
    ),
    bench(
        "a search and no budget",
        "search_without_tune",
        "line 21: model 'EASE'",
        r"add a table \[tune\]",
    ),
    bench(
        "a search without trials or seconds",
        "tune_without_budget",
        "line 23: tune",
        "trials = 20 or seconds",
    ),
    bench("trials and seconds at once", "tune_two_budgets", "line 23: tune", "one budget: either"),
    bench(
        "no trials", "tune_no_trials", "line 25: tune.trials: .*got 0", "greater than or equal to 1"
    ),
    bench(
        "an unknown metric to choose by", "tune_metric", "line 24: .*'ndcgg'", "did you mean 'ndcg'"
    ),
    bench(
        "a search and no validation part",
        "tune_without_valid",
        "line 9: shop: .*validation part",
        "set split.valid",
    ),
    bench(
        "an empty range",
        "search_empty_range",
        "line .*EASE.*search.reg: .*100.0 and 10.0",
        "low <= high",
    ),
    bench(
        "a number where a range is needed",
        "search_no_range",
        "line .*search.reg .*got 5",
        "low, high",
    ),
    bench(
        "a misspelt key of a range",
        "search_unknown_key",
        "line .*search.reg .*'lo'",
        "did you mean 'low'",
    ),
    bench("a setting fixed and searched", "search_and_fixed", "line .*'reg' is both", "keep one"),
    bench(
        "a range that the model refuses",
        "search_negative",
        "line .*EASE: reg .*'reg': -5.0",
        "must be > 0",
    ),
    bench(
        "a catalogue file that is not there",
        "catalogue_not_there",
        "line 20: .*fitt",
        "relative to the benchmark file",
    ),
    bench(
        "a catalogue without a known item",
        "catalogue_strangers",
        "line 19: .*'catalogue_strangers.csv'",
        "check the ids of the file",
    ),
    bench(
        "a catalogue with ids of another type",
        "catalogue_integers",
        "line 19: catalogue_integers.csv: .*'i0'.*1",
        "convert one side",
    ),
    bench(
        "a catalogue without a column of items",
        "catalogue_no_item",
        "line 19: catalogue_no_item.csv .*title, price",
        "add or rename one",
    ),
    bench(
        "a file of eligible items that is not there",
        "eligible_not_there",
        "line 20: .*stock.csv",
        "relative to the benchmark file",
    ),
    bench(
        "users without eligible items",
        "eligible_short",
        "line 19: eligible_short.csv: 6 users .*'u2'",
        "list what each user may get",
    ),
    bench(
        "an unknown policy of cold users",
        "cold_users_unknown",
        "line 20: ranking.cold_users: .*'drop'",
        "'apart', 'fallback' or 'out'",
    ),
    bench(
        "sampled candidates", "candidates_sampled", "line 20: ranking.candidates", "must be 'full'"
    ),
    bench("an unknown grade column", "grade_unknown", "line 4: .*'stars'", "known: values"),
    bench(
        "a negative grade",
        "grade_negative",
        "line 10: .*'rating' .*-4 .*'u9', item 'i7'",
        "shift or drop",
    ),
    bench(
        "play counts as exponential gain",
        "grade_too_large",
        "line 1: .*got 500 .*user 'u",
        "say gain=linear",
    ),
    Case(
        "no such benchmark file",
        "run bnech.toml --store fresh",
        "bnech.toml",
        "did you mean 'bench.toml'",
    ),
    Case(
        "a folder as benchmark file",
        "run full --store fresh",
        "full is a folder",
        "name the benchmark file in it",
    ),
    Case(
        "a store in a folder with other things",
        "run bench.toml --store full",
        "full holds other things",
        "name a new or empty folder",
    ),
    Case(
        "a store where a file is",
        "run bench.toml --store log.csv",
        "log.csv .*is a file",
        "name another place",
    ),
    Case(
        "a store below a file",
        "run bench.toml --store log.csv/store",
        "log.csv is a file",
        "name another place",
    ),
    Case(
        "a store of a newer version",
        "run bench.toml --store store_newer",
        "store_newer has store format 99",
        "into a new folder",
    ),
    Case(
        "no processes",
        "run bench.toml --store fresh --jobs 0",
        "'--jobs'",
        "greater than or equal to 1",
    ),
    Case(
        "an unknown engine", "run bench.toml --store fresh --engine dask", "'--engine'", "'local'"
    ),
    Case(
        "EASE on a catalogue that memory can't hold",
        "run ease_too_large.toml --store fresh",
        "EASE on 8 items .*768 bytes",
        "take ItemKNN or IALS",
        free_memory=100,
        leaves=("fresh",),
    ),
)
