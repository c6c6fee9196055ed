"""Result folders that can't be read, and reports that can't be written."""

from __future__ import annotations

from tests.bad_input.corpus import Case

STORES = (
    Case(
        "no such store", "report stroe -o fresh.html", "stroe is no store", "name the folder that"
    ),
    Case(
        "a folder that is no store",
        "report full -o fresh.html",
        "full is no store",
        "name the folder that",
    ),
    Case(
        "a file as store",
        "report log.csv -o fresh.html",
        "log.csv is no store",
        "name the folder that",
    ),
    Case(
        "a store of a newer version",
        "report store_newer -o fresh.html",
        "store_newer has store format 99",
        "use the version that wrote it",
    ),
    Case(
        "a store whose mark is no object",
        "report store_list -o fresh.html",
        "store_list has store format None",
        "new folder",
    ),
    Case(
        "store.json cut short",
        "report store_mark_cut -o fresh.html",
        "store_mark_cut/store.json is damaged",
        "write .*format",
    ),
    Case(
        "bench.json cut short",
        "report store_manifest_cut -o fresh.html",
        "store_manifest_cut/bench.json is damaged",
        "run the benchmark again",
    ),
    Case(
        "a benchmark that did not end",
        "report store_unfinished -o fresh.html",
        "store_unfinished holds no finished",
        "run `fullrank run",
    ),
    Case(
        "cell.json cut short",
        "report store_cell_cut -o fresh.html",
        "store_cell_cut/cells/.*/cell.json is damaged",
        "delete the folder store_cell_cut/cells",
    ),
    Case(
        "the ranks of a cell cut short",
        "report store_ranks_cut -o fresh.html",
        "ranks.parquet is missing or damaged",
        "delete the folder",
    ),
    Case(
        "the queries of a cell cut short",
        "report store_queries_cut -o fresh.html",
        "queries.parquet is missing or damaged",
        "delete the folder",
    ),
    Case(
        "bench.json without content",
        "report store_manifest_bare -o fresh.html",
        "store_manifest_bare/bench.json is damaged",
        "run the benchmark again",
    ),
    Case(
        "bench.json of another version",
        "report store_manifest_newer -o fresh.html",
        "store_manifest_newer/bench.json: .*'engine'",
        "or use that version",
    ),
    Case(
        "cell.json without content",
        "report store_cell_bare -o fresh.html",
        "store_cell_bare/cells/.*/cell.json is damaged",
        "delete the folder",
    ),
    Case(
        "ranks of another test",
        "report store_ranks_other -o fresh.html",
        "store_ranks_other/cells/.*/ranks.parquet .*rows for",
        "delete the folder",
    ),
    Case(
        "a table without its columns",
        "report store_ranks_bare -o fresh.html",
        "store_ranks_bare/cells/.*no column 'item_id'",
        "delete the folder",
    ),
    Case(
        "a cell that is gone",
        "report store_cell_gone -o fresh.html",
        "cell .* is missing from store_cell_gone",
        "run again to make it",
    ),
    Case(
        "an unknown format of the report",
        "report store -o fresh.xyz",
        "'fresh.xyz'",
        "end it in .html",
    ),
    Case("no format of the report", "report store -o fresh", "'fresh'", "end it in .html"),
    Case(
        "a report below a file",
        "report store -o log.csv/report.html",
        "log.csv is a file",
        "name another place",
    ),
    Case(
        "a report over a folder",
        "report store -o folder.html",
        "folder.html: it is a folder",
        "name a file",
    ),
    Case("nothing to analyse", "analyse", "argument 'stores'", "see fullrank --help"),
    Case("an analysis of no store", "analyse stroe", "stroe is no store", "name the folder that"),
    Case("an analysis of a file", "analyse log.csv", "log.csv is no store", "name the folder that"),
    Case(
        "an analysis of a benchmark that did not end",
        "analyse store_unfinished",
        "store_unfinished holds no finished",
        "run `fullrank run",
    ),
    Case(
        "an analysis of damaged ranks",
        "analyse store store_ranks_cut --only costs",
        "store_ranks_cut/cells/.*ranks.parquet is missing or damaged",
        "delete the folder",
    ),
    Case("a store twice", "analyse store store", "the store store is named twice", "each once"),
    Case(
        "co-optimality without trials",
        "analyse store -m ndcg@5 -m mrr@5 --only co-optimality",
        "no model was searched",
        "give models a search space",
    ),
    Case(
        "a correlation of one metric",
        "analyse store --only correlation",
        "NDCG@5 is the only one",
        "name others with -m",
    ),
    Case(
        "a correlation of one model",
        "analyse store_one_model --only correlation -m ndcg@5,10",
        "Popularity is the only one",
        "add models to the benchmark",
    ),
    Case(
        "an order of one model",
        "analyse store_one_model --only stability",
        "Popularity is the only one",
        "add models to the benchmark",
    ),
    Case(
        "an unknown analysis",
        "analyse store --only effect",
        "unknown analysis 'effect'",
        "did you mean 'effects'",
    ),
    Case(
        "an analysis of rating metrics",
        "analyse store --only stability -m rmse",
        "only rating metrics",
        "name a rank metric, such as -m ndcg@10",
    ),
    Case(
        "a metric of grades that were not named",
        'analyse store --only costs -m "ndcg(rel=3)@5"',
        "rel=3 needs a grade column",
        "under \\[\\[data\\]\\]",
    ),
    Case(
        "a level in per cent",
        "analyse store --level 95",
        "got 95.0",
        "level must lie between 0.5 and 1",
    ),
    Case(
        "one resample",
        "analyse store --resamples 1",
        "resamples .*got 1",
        "whole number >= 10",
    ),
    Case(
        "an unknown format of an analysis",
        "analyse store -o page.pdf",
        "'page.pdf'",
        "end it in .html",
    ),
)
