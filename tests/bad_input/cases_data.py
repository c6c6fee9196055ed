"""Files that are no table of interactions."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def info(fault: str, file: str, place: str, remedy: str) -> Case:
    """A file that ``data info`` refuses."""
    return Case(fault, f"data info {file}", place, remedy)


DATA = (
    info("no such file", "lgo.csv", "file lgo.csv", "did you mean 'log.csv'"),
    info("a folder", "full", "full is a folder", "name a file in it"),
    info("a folder with a slash", "./full", "full is a folder", "name a file in it"),
    info("an empty file", "empty.csv", "empty.csv", "expected a table"),
    info("a header and no rows", "only_header.csv", "only_header.csv", "expected interactions"),
    info("a web page under .csv", "web_page.csv", "web_page.csv", "fetch the file again"),
    info(
        "Latin-1 without the option",
        "latin1.csv",
        "latin1.csv, line 3: byte 0xe9",
        "--read encoding=latin-1",
    ),
    info("UTF-16", "utf16.csv", "utf16.csv", "pass encoding='utf-16'"),
    info("NUL bytes", "nul_bytes.csv", "nul_bytes.csv, line 3", "encoding='utf-16'"),
    info(
        "a stray quote", "stray_quote.csv", "stray_quote.csv, line 3", "pass escape=.* or quote=''"
    ),
    info(
        "a quote that is never closed", "open_quote.csv", "open_quote.csv, line 3", "pass escape="
    ),
    info(
        "a row with too few fields",
        "ragged.csv",
        "ragged.csv, line 4: expected 4 fields .* found 2",
        "mend the line",
    ),
    info(
        "a row with too many fields",
        "extra_field.csv",
        "extra_field.csv, line 3: .* found 5",
        "mend the line",
    ),
    info(
        "a column named twice",
        "twice_a_column.csv",
        "twice_a_column.csv: .*'item_id' more than once",
        "rename one",
    ),
    info("no column of items", "no_item.csv", "no_item.csv .*item_id", "--columns item_id=NAME"),
    info(
        "a row without user",
        "missing_user.csv",
        "missing_user.csv, line 3: no user_id",
        "drop these rows",
    ),
    info(
        "a row without item",
        "missing_item.csv",
        "missing_item.csv, line 3: no item_id",
        "drop these rows",
    ),
    info(
        "a missing id in Parquet",
        "missing_id.parquet",
        "missing_id.parquet, row 2",
        "drop these rows",
    ),
    info(
        "ids of two types in one column",
        "mixed_ids.jsonl",
        "mixed_ids.jsonl, line 1: 'user_id'",
        "write one type",
    ),
    info(
        "ids with a fraction in JSON",
        "float_ids.jsonl",
        "float_ids.jsonl, line 1: .*1.5",
        "mend the column",
    ),
    info(
        "ids with a fraction in Parquet",
        "float_ids.parquet",
        "float_ids.parquet, row 2: .*2.5",
        "mend the column",
    ),
    info(
        "lists as ids",
        "list_ids.parquet",
        "'item_id' .*of list_ids.parquet",
        "split the lists first",
    ),
    info(
        "JSON lines cut short", "cut.jsonl", "cut.jsonl, line 2", "expected one JSON object a line"
    ),
    info("one JSON array", "array.json", "array.json", "write JSON lines instead"),
    info("text among ratings", "text_ratings.csv", "text_ratings.csv, line 3: .*'good'", "mend it"),
    info("NaN among ratings", "nan_ratings.csv", "nan_ratings.csv, line 3: .*nan", "drop or fill"),
    info(
        "an infinite rating",
        "infinite_rating.csv",
        "infinite_rating.csv, line 3: .*inf",
        "drop or fill",
    ),
    info(
        "seconds and milliseconds in one column",
        "mixed_units.csv",
        "mixed_units.csv, line 2.*mixed_units.csv, line 3",
        "convert one of them",
    ),
    info(
        "a date that is none",
        "bad_date.csv",
        "bad_date.csv, line 3: '2024-13-41'",
        "expected a number since 1970, or ISO 8601",
    ),
    info("one column", "one_column.csv", "one_column.csv .*user_id", "is that its separator"),
    info("a TREC run", "trec.run", "trec.run", "use it with evaluate"),
    info("half a Parquet file", "half.parquet", "half.parquet", "fetch or write it again"),
    info("half a zip archive", "half.zip", "half.zip", "fetch it again"),
    info("half a gzip file", "half.csv.gz", "half.csv.gz", "fetch it again"),
    info(
        "a zip archive with two tables",
        "two_tables.zip",
        "two_tables.zip, found 2: a, b",
        "unpack the archive",
    ),
    info(
        "a zip archive with nothing in it",
        "no_table.zip",
        "no_table.zip, found 0",
        "unpack the archive",
    ),
    info("an office document", "sheet.xlsx", "sheet.xlsx", "export the sheet as CSV"),
    info("a bzip2 archive", "log.csv.bz2", "log.csv.bz2", "unpack it first"),
    info("a pickle", "model.pkl", "model.pkl", "export the table as Parquet"),
    info(
        "a misspelt reading option",
        "log.csv --read seperator=,",
        "'seperator'",
        "did you mean 'separator'",
    ),
    info(
        "an unknown encoding",
        "log.csv --read encoding=latin-99",
        "'latin-99'",
        "common ones: utf-8",
    ),
    info(
        "an encoding of the wrong type",
        "log.csv --read encoding=1",
        "encoding .* got 1",
        "put it in quotes",
    ),
    info(
        "the wrong encoding",
        "latin1.csv --read encoding=ascii",
        "latin1.csv, line 3: .* not valid ascii",
        "pass the encoding",
    ),
    info("an unknown format", "log.csv --read format=csvv", "'csvv'", "known: arrow, delimited"),
    info(
        "the wrong format",
        "log.csv --read format=parquet",
        "log.csv is no Parquet",
        "leave format out",
    ),
    info(
        "a separator that cuts nothing",
        "log.csv --read separator=';'",
        "log.csv .*column_1",
        "is that its separator",
    ),
    info(
        "an unknown unit of time", "log.csv --read time_unit=min", "time_unit 'min'", "known: s, ms"
    ),
    info("a quote of two signs", "log.csv --read quote=qq", "quote .*'qq'", "at most 1 ASCII sign"),
    info(
        "an unknown role", "log.csv --columns user=user_id", "role 'user'", "did you mean 'user_id'"
    ),
    info(
        "a column that is not there",
        "log.csv --columns user_id=uid",
        "user_id='uid', and log.csv",
        "did you mean 'user_id'",
    ),
    info("--columns without a pair", "log.csv --columns user_id", "'user_id'", "user_id=uid"),
    info("an unknown data set", "ml-1n", "data set 'ml-1n'", "did you mean 'ml-1m'"),
    info(
        "options for a named data set",
        "online-retail --read separator=,",
        "'online-retail'",
        "write './online-retail'",
    ),
    info(
        "a known data set and FULLRANK_DATA unset",
        "ml-1m",
        "ml-1m",
        "set the environment variable FULLRANK_DATA",
    ),
    Case(
        "a known data set that is not in FULLRANK_DATA",
        "data info ml-1m",
        r"ml-1m/ratings.dat is not in FULLRANK_DATA \(nothing\)",
        "get the set from https:",
        environment={"FULLRANK_DATA": "nothing"},
    ),
    Case(
        "an unknown format to write",
        "data convert log.csv -o log.xyz",
        "'log.xyz'",
        "end the name in one of .parquet",
    ),
    Case(
        "a folder to write to",
        "data convert log.csv -o full",
        "full: it is a folder",
        "name a file",
    ),
    Case(
        "a file where a folder is needed",
        "data convert log.csv -o recs.csv/log.parquet",
        "recs.csv is a file",
        "name another place",
    ),
    Case(
        "bad input to convert",
        "data convert ragged.csv -o fresh/log.parquet",
        "ragged.csv, line 4",
        "mend the line",
    ),
)
