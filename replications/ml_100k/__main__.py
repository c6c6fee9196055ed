"""Every registered model on MovieLens 100K: `python -m replications.ml_100k DATA_FOLDER`.

Models that are done are kept in ``--store``, so that it can be stopped and goes on where it was.
With ``OMP_NUM_THREADS=1`` and nothing else at work it takes about 15 minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import fullrank as fr
from fullrank.core.registry import find
from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.experiment.spec import parse_spec
from fullrank.models import REGISTRY

HERE = Path(__file__).parent
TRIPLES = HERE / "triples.tsv"
SPLITS = {
    "leave_last": ("LeaveLast", 'strategy = "LeaveLast"', ("all",)),
    "global_time": (
        "GlobalTime 80/10/10",
        'strategy = "GlobalTime"\ntest = 0.1\nvalid = 0.1',
        ("warm", "all"),
    ),
}
"""File, title, table of the split, and whose users are shown, the ones that are judged first."""

BENCH = """\
# Every registered model with its defaults; written by python -m replications.ml_100k.
name = "MovieLens 100K, {title}"
seeds = [1]
baseline = "Popularity"
metrics = ["ndcg@10", "recall@10"]

[[data]]
name = "ml-100k"

[filters]
before = [{{ binarise = {{ at = 4 }} }}]

[split]
{split}
"""

INTRO = """\
# Every model with its defaults on MovieLens 100K

    python -m replications.ml_100k DATA_FOLDER

Ratings from 4 are the positives. Models are fitted once (seed 1) on training and validation rows with their default settings, nothing tuned, and rank all items of these rows that the user does not have. The interval of a difference is that of the same users' values under both models (BCa bootstrap by user, 95 %, each by itself; the word after it says on which side of 0 it lies). CKE is given genre and year of each film as triples; without anything of the kind it can't be made. Seconds and processor seconds are those of the fit, on two cores of an AMD EPYC that other jobs shared, so that the former say little.

"""  # noqa: E501


def triples(items: pl.DataFrame) -> pl.DataFrame:
    """Genres and year of films as head, relation and tail."""
    info = fr.data.source_info("ml-100k")
    names = [name for side in info.side if side.of == "items" for name in side.names[5:]]
    genres = items.unpivot(names, index="item_id", variable_name="tail").filter(pl.col("value") > 0)
    year = items.select("item_id", tail=pl.col("release_date").str.slice(-4)).drop_nulls()
    return pl.concat(
        table.select(
            pl.col("item_id").cast(pl.String).alias("head"),
            pl.lit(relation).alias("relation"),
            "tail",
        )
        for relation, table in (("genre", genres), ("year", year))
    )


def stored(store: Path) -> set[str]:
    """Models of this version that are done."""
    cells = [json.loads(path.read_text()) for path in store.glob("cells/*/cell.json")]
    return {c["model"] for c in cells if c["version"] == find("model", c["class"]).version}


def bench(title: str, split: str, models: Sequence[str]) -> str:
    """The benchmark file of a split."""
    out = BENCH.format(title=title, split=split)
    for name in models:
        out += f'\n[[model]]\nname = "{name}"\n'
        if name == "CKE":
            out += f'settings = {{ triples = "{TRIPLES.name}" }}\n'
    return out


def signed(row: dict[str, Any]) -> str:
    """A difference with its interval, and the side of 0 that it lies on."""
    side = "above" if row["low"] > 0 else "below" if row["high"] < 0 else ""
    return f"{row['difference']:+.4f} ({row['low']:+.4f} … {row['high']:+.4f}) {side}".rstrip()


def table(results: Results, segments: tuple[str, ...]) -> Iterator[str]:
    """Lines of the table of a split, the best model first."""
    board = [row for row in leaderboard(results) if row["metric"] == "NDCG@10"]
    value = {(row["users"], row["model"]): row for row in board}
    tests = {(r["users"], r["model"]): r for r in paired_tests(results) if r["metric"] == "NDCG@10"}
    n = {users: value[users, "Popularity"]["n_queries"] for users in segments}
    head = ["model"]
    for users in segments:
        head += [f"NDCG@10, {n[users]} {'' if users == 'all' else users + ' '}users"]
        head += [] if users != segments[0] else ["less Popularity's"]
    yield f"| {' | '.join([*head, 'seconds', 'processor seconds'])} |"
    yield "|---" * (len(head) + 2) + "|"
    first = segments[0]
    for model in sorted(results.models, key=lambda m: -value[first, m]["value"]):
        cells = [model]
        for users in segments:
            row = value[users, model]
            cells.append(f"{row['value']:.4f} ({row['low']:.4f} … {row['high']:.4f})")
            if users == first:
                test = tests.get((users, model))
                cells.append(signed(test) if test else "")
        spent = results.of("ml-100k", model)[0].about["resources"]
        cells += [f"{spent['fit_seconds']:.1f}", f"{spent['fit_cpu_seconds']:.1f}"]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Run what isn't there yet and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path, default=Path("ml_100k_store"))
    parser.add_argument("--stored", action="store_true", help="fit nothing: a page of what is done")
    args = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(args.data)
    items = fr.read("ml-100k").items
    assert items is not None, f"{args.data}/ml-100k holds no u.item, which CKE is given"
    triples(items).write_csv(TRIPLES, separator="\t")
    page = INTRO
    for name, (title, split, segments) in SPLITS.items():
        (HERE / f"{name}.toml").write_text(bench(title, split, REGISTRY))
        done = stored(args.store / name) if args.stored else set(REGISTRY)
        chosen = [model for model in REGISTRY if model in done]
        spec = parse_spec(tomllib.loads(bench(title, split, chosen)))
        results = fr.run(spec, args.store / name, base=HERE)
        page += f"## {title}\n\n" + "\n".join(table(results, segments)) + "\n\n"
        if left := [model for model in REGISTRY if model not in done]:
            page += f"Not run yet on this split: {', '.join(left)}.\n\n"
    (HERE / "README.md").write_text(page.rstrip() + "\n")


if __name__ == "__main__":
    main()
