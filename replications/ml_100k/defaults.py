"""Defaults on validation rows: `python -m replications.ml_100k.defaults DATA_FOLDER`.

Learning rates and epochs of CDAE, CKE, LightGCN and NGCF on the validation part of the leave-last
split; test rows are not looked at. Runs that are done are kept in ``--cache``.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import fullrank as fr
from fullrank.core.registry import build
from fullrank.data.filters import Binarise, apply_all
from fullrank.rank import rank
from replications.ml_100k.__main__ import TRIPLES, triples

GRID = (
    ("CDAE", (0.005, 0.01, 0.02), 100),
    ("LightGCN", (0.005, 0.01, 0.02), 80),
    ("NGCF", (0.002, 0.005), 30),
    ("CKE", (0.002, 0.005, 0.01), 40),
)
"""Model, learning rates and epochs."""

PAGE = Path(__file__).parent / "defaults.md"
TEXT = """\
# Defaults chosen on validation rows

    python -m replications.ml_100k.defaults DATA_FOLDER

MovieLens 100K, ratings from 4, LeaveLast: models are fitted on the training part and ranked in full for the validation row of each user; test rows are not looked at. NDCG@10 of one seed after so many epochs, all other settings by default. The standard error of such a value is about {error:.4f} (that of IALS).

"""  # noqa: E501


def curve(split: fr.Split, name: str, rate: float, epochs: int) -> dict[str, object]:
    """NDCG@10 on validation rows after each ten epochs, and processor seconds a whole fit."""
    watch = fr.EarlyStop(split.queries("valid"), "ndcg@10", patience=None, every=5)
    settings: dict[str, object] = {"learning_rate": rate, "epochs": epochs}
    if name == "CKE":
        settings["triples"] = str(TRIPLES)
    model = build("model", name, settings)
    model.fit(split.train, rng=1, monitor=watch)
    seconds = model.log_.resources["fit_cpu_seconds"]
    found = {str(epoch + 1): value for epoch, value in watch.curve}
    return {"model": name, "rate": rate, "curve": found, "cpu_seconds": seconds}


def page(runs: list[dict[str, object]], error: float) -> str:
    """The page, a table a model."""
    out = TEXT.format(error=error)
    for name, _, _ in GRID:
        mine = [run for run in runs if run["model"] == name]
        if not mine:
            continue
        steps = [epoch for epoch in mine[0]["curve"] if int(epoch) % 10 == 0]  # type: ignore[attr-defined]
        out += f"## {name}\n\n| learning rate | {' | '.join(steps)} |\n"
        out += "|---" * (len(steps) + 1) + "|\n"
        for run in mine:
            values = " | ".join(f"{run['curve'][step]:.4f}" for step in steps)  # type: ignore[index]
            out += f"| {run['rate']:g} | {values} |\n"
        out += "\n"
    return out.rstrip() + "\n"


def main() -> None:
    """Run what isn't there yet and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("ml_100k_defaults.jsonl"))
    args = parser.parse_args()
    os.environ["FULLRANK_DATA"] = str(args.data)
    data = fr.read("ml-100k")
    triples(data.items).write_csv(TRIPLES, separator="\t")
    rows = apply_all(data.interactions, [Binarise(at=4)])
    split = fr.LeaveLast().split(rows)
    kept = args.cache.read_text().splitlines() if args.cache.exists() else []
    runs = [json.loads(line) for line in kept]
    for name, rates, epochs in GRID:
        for rate in rates:
            if any((run["model"], run["rate"]) == (name, rate) for run in runs):
                continue
            runs.append(curve(split, name, rate, epochs))
            with args.cache.open("a") as out:
                out.write(json.dumps(runs[-1]) + "\n")
    runs.sort(key=lambda run: (run["model"], run["rate"]))
    base = rank(fr.IALS().fit(split.train), split.queries("valid")).targets
    values = (fr.NDCG @ 10).per_query(base)
    PAGE.write_text(page(runs, float(values.std() / len(values) ** 0.5)))


if __name__ == "__main__":
    main()
