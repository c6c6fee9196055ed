"""Every model on MovieLens 1M, tuned with the same few trials: the page of what was run.

`python -m replications.tuned FOLDER --store STORE` writes what CKE is given, runs what is not there
yet of both benchmark files, and writes `README.md`. The models of `ml-1m-neural.toml` need PyTorch.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import fullrank as fr
from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.experiment.run import Step
from fullrank.experiment.store import Store

HERE = Path(__file__).parent
TRIPLES = HERE / "triples.tsv"
FILES = ("ml-1m", "ml-1m-neural")
METRICS = ("NDCG@10", "Recall@10", "Recall@100")

INTRO = """\
# Every model on MovieLens 1M, tuned with the same four trials

    python -m replications.tuned DATA_FOLDER --store STORE

[`ml-1m.toml`](ml-1m.toml) and [`ml-1m-neural.toml`](ml-1m-neural.toml) are the benchmarks; the latter needs PyTorch. Ratings from 4 are the positives, cut by time into 80 % training, 10 % validation and 10 % test rows. Each model has four trials of its shipped search space, the first with its default settings, chosen by NDCG@10 of the warm validation users; models that train in epochs stop after three evaluations without a gain. What was chosen is fitted on training and validation rows and ranks all items of these that the user does not have. Values are of warm test users, intervals of the differences those of the same users' values under both models (BCa bootstrap by user, 95 %, each by itself). "Default" and "best" are the first trial's validation NDCG@10 and the best one's.

CKE is given genre and year of each film as triples. Seconds are wall time on one thread of a machine that other jobs shared, so that they tell orders of magnitude.

Four trials are few: the table says how models compare for one who gives each of them that, not what each can reach. The epochs of the networks are limited in the file so that the whole of it takes hours of one core, not days. Most models lie within each other's intervals: a difference between two of them of less than about 0.01 says nothing. Networks over the order of the history (SASRec, SVAE, GRU4Rec, BERT4Rec) have their best epoch early, after one to six, and do not beat Popularity here; a likely reason, not tested, is that users of MovieLens rate in few long sittings, in the order of a list on a screen. MF and BiasOnly predict ratings and are no rankers.

"""  # noqa: E501


def triples(items: pl.DataFrame) -> pl.DataFrame:
    """Genres and year of films as head, relation and tail."""
    genres = items.select("item_id", tail=pl.col("genres").str.split("|")).explode("tail")
    year = items.select("item_id", tail=pl.col("title").str.extract(r"\((\d{4})\)\s*$"))
    return pl.concat(
        table.drop_nulls().select(
            pl.col("item_id").cast(pl.String).alias("head"),
            pl.lit(relation).alias("relation"),
            "tail",
        )
        for relation, table in (("genre", genres), ("year", year))
    )


def rows(results: Results, store: Store) -> Iterator[tuple[float, str]]:
    """A line of the table for each model, with what the table is sorted by."""
    board = leaderboard(results)
    value = {(row["metric"], row["model"]): row for row in board if row["users"] == "warm"}
    tests = {
        row["model"]: row
        for row in paired_tests(results)
        if row["users"] == "warm" and row["metric"] == "NDCG@10"
    }
    for model in results.models:
        main = value["NDCG@10", model]
        cells = [model, f"{main['value']:.4f} ({main['low']:.4f} … {main['high']:.4f})"]
        test = tests.get(model)
        cells.append(
            ""
            if test is None
            else f"{test['difference']:+.4f} ({test['low']:+.4f} … {test['high']:+.4f})"
        )
        cells += [f"{value[metric, model]['value']:.4f}" for metric in METRICS[1:]]
        cells += searched(results, model, store)
        yield main["value"], f"| {' | '.join(cells)} |"


def searched(results: Results, model: str, store: Store) -> list[str]:
    """Default, best, seconds of the search, of the fit."""
    about = results.of("ml-1m", model)[0].about
    spent = about["resources"]
    tuning = about.get("tuning")
    fit = f"{spent['fit_seconds']:.0f}"
    if not tuning:
        return ["", "", "", fit]
    trials = store.trials(tuning["key"])
    first = next(trial for trial in trials if trial["number"] == 0)
    default = "" if first["value"] is None else f"{first['value']:.4f}"
    return [default, f"{tuning['value']:.4f}", f"{tuning['seconds']:.0f}", fit]


def told(step: Step) -> None:
    """Say what is at work."""
    print(f"{step.done} of {step.total}: {step.text}", flush=True)


def main() -> None:
    """Run what isn't there yet and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path, default=Path("tuned_store"))
    parser.add_argument("--only", choices=FILES, help="one of the files, and no page")
    args = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(args.data)
    items = fr.read("ml-1m").items
    assert items is not None, f"{args.data}/ml-1m holds no movies.dat, which CKE is given"
    triples(items).write_csv(TRIPLES, separator="\t")
    files = [args.only] if args.only else FILES
    lines = {}
    for name in files:
        found = fr.run(HERE / f"{name}.toml", args.store / name, progress=told)
        for value, line in rows(found, Store.open(args.store / name)):
            lines.setdefault(line.split(" | ")[0], (value, line))
    if args.only:
        return
    head = ["model", "NDCG@10", "less Popularity's", *METRICS[1:], "default", "best"]
    head += ["seconds of trials", "of the fit"]
    table = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    table += [line for _, line in sorted(lines.values(), key=lambda x: -x[0])]
    (HERE / "README.md").write_text(INTRO + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
