"""Splits that can't be made."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def cut(fault: str, options: str, place: str, remedy: str, *, data: str = "log.csv") -> Case:
    """A split that ``split`` refuses."""
    return Case(fault, f"split {data} -o out {options}", place, remedy)


SPLITS = (
    cut("an unknown strategy", "--strategy GlobalTme", "'GlobalTme'", "did you mean 'GlobalTime'"),
    cut(
        "an unknown setting",
        "--strategy GlobalTime --set tset=0.1",
        "'tset'",
        "did you mean 'test'",
    ),
    cut(
        "a setting without value",
        "--strategy GlobalTime --set test",
        "'test'",
        "key=value, such as",
    ),
    cut("a share above 1", "--strategy GlobalTime --set test=20", "test .*got 20", "a share in"),
    cut("a share in words", "--strategy GlobalTime --set test=some", "test .*'some'", "a share in"),
    cut(
        "shares that leave nothing to train on",
        "--strategy GlobalTime --set test=0.5 --set valid=0.5",
        "test = 0.5 and valid = 0.5",
        "their sum must be below 1",
    ),
    cut(
        "a share that rounds to nothing",
        "--strategy GlobalTime --set test=0.001",
        "log.csv: the test part is empty .*'test': 0.001",
        "choose other shares",
    ),
    cut(
        "a split by time without times",
        "--strategy GlobalTime",
        "no_times.csv: .*no time column",
        "name it",
        data="no_times.csv",
    ),
    cut(
        "a split by time with a time missing",
        "--strategy GlobalTime",
        "missing_times.csv: .*1 of 4 rows",
        "drop them",
        data="missing_times.csv",
    ),
    cut(
        "a cut that is no date",
        "--strategy GlobalCut --set cut=yesterday",
        "cut .*'yesterday'",
        "an ISO date such as",
    ),
    cut(
        "a cut after all rows",
        "--strategy GlobalCut --set cut=2030-01-01",
        "log.csv: .*cut = '2030-01-01'",
        "choose a cut between them",
    ),
    cut("a needed setting left out", "--strategy GlobalCut", "'cut'", "add cut ="),
    cut("one fold", "--strategy KFold --set k=1", "k .*got 1", "whole number >= 2"),
    cut("nothing held out", "--strategy LeaveLast --set n=0", "n .*got 0", "whole number >= 1"),
    cut(
        "more held out than anybody has",
        "--strategy LeaveLast --set n=50",
        "log.csv: the test part is empty .*'n': 50",
        "choose other shares",
    ),
    cut(
        "an unknown column of parts",
        "--strategy Given --set column=part",
        "log.csv: .*column 'part'",
        "known: ",
    ),
    cut(
        "a label of no part",
        "--strategy Given",
        "parts.csv: .*'split' holds 'holdout' in 1 rows",
        "list it in left_out",
        data="parts.csv",
    ),
    cut(
        "repeats in words of one's own",
        "--strategy GlobalTime --set repeats=maybe",
        "repeats .*'maybe'",
        "'drop' or 'keep'",
    ),
    cut(
        "an unknown filter",
        "--strategy GlobalTime --filter kcore={users=2}",
        "'kcore'",
        "did you mean 'core'",
    ),
    cut(
        "an unknown setting of a filter",
        "--strategy GlobalTime --filter core={user=2}",
        "'user'",
        "did you mean 'users'",
    ),
    cut(
        "a filter without settings",
        "--strategy GlobalTime --filter core",
        "'core'",
        "key=value, such as",
    ),
    cut(
        "a filter that leaves nothing",
        "--strategy GlobalTime --filter core={users=50,items=50}",
        "log.csv: filter core",
        "weaken it",
    ),
    cut(
        "a filter of training rows that leaves nothing",
        "--strategy GlobalTime --train-filter core={users=50,items=50}",
        "log.csv: filter core",
        "weaken it",
    ),
    cut(
        "a threshold in words",
        "--strategy GlobalTime --filter 'binarise={at=\"high\"}'",
        "at .*'high'",
        "must be a",
    ),
    cut(
        "a threshold above all values",
        "--strategy GlobalTime --filter binarise={at=40}",
        "log.csv: binarise.*highest of 54 is 5",
        "lower the threshold",
    ),
    cut(
        "a filter on values that are not there",
        "--strategy LeaveLast --filter binarise={at=4}",
        "no_times.csv: binarise",
        "name the rating column",
        data="no_times.csv",
    ),
    cut(
        "a negative seed",
        "--strategy RandomRows --seed -1",
        "'--seed'",
        "greater than or equal to 0",
    ),
    cut(
        "a row with too few fields",
        "--strategy GlobalTime",
        "ragged.csv, line 4",
        "mend the line",
        data="ragged.csv",
    ),
    Case(
        "a folder with other things in it",
        "split log.csv -o full --strategy GlobalTime",
        "full exists",
        "name a new one",
    ),
    Case(
        "a folder below a file",
        "split log.csv -o recs.csv/out --strategy GlobalTime",
        "recs.csv is a file",
        "name another place",
    ),
)
