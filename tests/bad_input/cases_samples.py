"""Samples that can't be drawn."""

from __future__ import annotations

from tests.bad_input.corpus import Case


def drawn(fault: str, options: str, place: str, remedy: str, *, data: str = "log.csv") -> Case:
    """A sample that ``subsample`` refuses."""
    return Case(fault, f"subsample {data} -o out {options}", place, remedy)


SAMPLES = (
    drawn(
        "an unknown strategy",
        "--strategy RandomUser --keep 0.5",
        "'RandomUser'",
        "did you mean 'RandomUsers'",
    ),
    drawn(
        "an unknown setting of a strategy",
        "--strategy RandomWalk --keep 0.5 --set restarts=0.1",
        "'restarts'",
        "did you mean 'restart'",
    ),
    drawn(
        "a share of nothing",
        "--strategy RandomUsers --keep 0",
        "keep .*got 0",
        r"share in \(0, 1\)",
    ),
    drawn(
        "a share in per cent",
        "--strategy RandomUsers --keep 10",
        "keep .*got 10",
        r"share in \(0, 1\)",
    ),
    drawn(
        "a size that there is not",
        "--strategy RandomUsers --keep 0.5 --size half",
        "'half'",
        "'exact', 'whole', 'faithful'",
    ),
    drawn(
        "the latest rows without times",
        "--strategy Temporal --keep 0.5",
        "no_times.csv: .*Temporal .*no time column",
        "name it",
        data="no_times.csv",
    ),
    drawn(
        "the latest rows with a time missing",
        "--strategy Temporal --keep 0.5",
        "missing_times.csv: .*1 of 4 rows",
        "drop them",
        data="missing_times.csv",
    ),
    drawn(
        "a sample that is too small to be of use",
        "--strategy RandomInteractions --keep 0.5",
        "log.csv: RandomInteractions with keep = 0.5 leaves 27 rows",
        "keep more, or lower the floor",
    ),
    drawn(
        "a floor of nothing",
        "--strategy RandomUsers --keep 0.5 --floor users=0",
        "users .*got 0",
        "whole number >= 1",
    ),
    drawn(
        "a floor twice",
        "--strategy RandomUsers --keep 0.5 --floor users=5 --floor users=9",
        "--floor has 'users' twice",
        "give each key once",
    ),
    drawn(
        "a power that no number holds",
        "--strategy SVPCFProp --keep 0.5 --set proxy=Popularity --set a=1000",
        "got a = 1000",
        "take a smaller a",
    ),
    drawn(
        "an unknown floor",
        "--strategy RandomUsers --keep 0.5 --floor user=5",
        "'user'",
        "did you mean 'users'",
    ),
    drawn(
        "a strategy that was never published, as published",
        "--strategy RandomItems --keep 0.5 --size faithful",
        "log.csv: RandomItems",
        "take size 'exact' or 'whole'",
    ),
    drawn(
        "an unknown proxy",
        "--strategy SVPCF --keep 0.5 --set proxy=mff",
        "'mff'",
        "did you mean 'mf'",
    ),
    drawn(
        "errors of ratings by a proxy that predicts none",
        "--strategy SVPCF --keep 0.5 --set proxy=EASE --set scenario=explicit",
        "proxy EASE",
        "take mf, bias_only",
    ),
    drawn(
        "errors of ratings without ratings",
        "--strategy SVPCF --keep 0.5 --set scenario=explicit",
        "no_times.csv: .*'explicit'",
        "name the column",
        data="no_times.csv",
    ),
    drawn(
        "an importance that is not there",
        "--strategy SVPCF --keep 0.5 --set importance=none.npz",
        "log.csv: there is no file none.npz",
        "leave the setting out",
    ),
    drawn(
        "an importance that is none",
        "--strategy SVPCF --keep 0.5 --set importance=log.csv",
        "log.csv holds no importance",
        r"Importance\.save",
    ),
    drawn(
        "a chance above 1",
        "--strategy ForestFire --keep 0.5 --set burn=4",
        "burn .*got 4",
        "a share in",
    ),
    Case(
        "a folder with other things in it",
        "subsample log.csv -o full --strategy RandomUsers --keep 0.5",
        "full exists",
        "name a new one",
    ),
)
