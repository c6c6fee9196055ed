"""Advice that can't be given."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def asked(fault: str, options: str, place: str, remedy: str, *, data: str = "log.csv") -> Case:
    """A question that ``advise`` refuses."""
    return Case(fault, f"advise {data} {options}", place, remedy)


ADVICE = (
    asked("advice for nothing", "--keep 0", "keep .*got 0", r"share in \(0, 1\)"),
    asked("advice for a share in per cent", "--keep 10", "keep .*got 10", r"share in \(0, 1\)"),
    asked(
        "advice on too few rows",
        "--keep 0.5",
        "log.csv: RandomInteractions with keep = 0.5 leaves 27 rows",
        "keep more, or lower the floor",
    ),
    asked(
        "the latest rows, asked for without times",
        "--keep 0.5 --strategy Temporal --scenario implicit --floor rows=1 --floor users=1 "
        "--floor items=1",
        "no_times.csv: .*Temporal .*no time column",
        "name it",
        data="no_times.csv",
    ),
    asked(
        "ratings to be predicted and none there",
        "--keep 0.5 --scenario explicit",
        "no_times.csv: the scenario 'explicit' needs ratings",
        "--columns rating=NAME",
        data="no_times.csv",
    ),
    asked(
        "a scenario that was not learnt",
        "--keep 0.5 --scenario implict",
        "'implict'",
        "did you mean 'implicit'",
    ),
    asked(
        "a metric that was not learnt",
        "--keep 0.5 --scenario implicit --metric ndcg@11",
        "NDCG@11",
        "did you mean 'NDCG@10'",
    ),
    asked(
        "a sampler that there is not",
        "--keep 0.5 --strategy RandomUser",
        "'RandomUser'",
        "did you mean 'RandomUsers'",
    ),
    asked(
        "a choice between random rows and random rows",
        "--keep 0.5 --strategy RandomInteractions --floor rows=1 --floor users=1 --floor items=1",
        "log.csv: RandomInteractions is the only sampler",
        "name another strategy",
    ),
    asked(
        "a proxy that is not wanted and asked for",
        "--keep 0.5 --no-proxy --scenario implicit --strategy 'SVPCF(unit=user, proxy=bias_only)'",
        "SVPCF.* trains a proxy",
        "leave --no-proxy out",
    ),
    asked("a learner that there is not", "--keep 0.5 --learner Rigde", "'Rigde'", "mean 'Ridge'"),
    asked("a level in per cent", "--keep 0.5 --level 80", "got 80", r"in \(0.5, 1\)"),
    asked(
        "meta-data that are not there",
        "--keep 0.5 --meta none",
        "no folder none",
        r"MetaData\.save",
    ),
    asked(
        "a folder without meta-data",
        "--keep 0.5 --meta full",
        "full holds no meta-data",
        r"MetaData\.save",
    ),
    asked(
        "an advised sample in a folder with other things in it",
        "--keep 0.5 -o full",
        "full exists",
        "name a new one",
    ),
)
