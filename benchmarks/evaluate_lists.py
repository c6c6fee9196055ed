"""Lists to metrics: fullrank beside pytrec_eval and ranx on the same Parquet files.

`python -m benchmarks.evaluate_lists` makes 1,000,000 users × 100 recommendations with text ids and
prints a table; `--users` takes another size. Each tool reads the files itself, in a process of
its own; all print the same means, which is checked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

METRICS = ("ndcg@10", "recall@10,20,100", "map@100", "mrr@100", "precision@10", "hr@10")
TREC = {
    "NDCG@10": "ndcg_cut_10",
    "Recall@10": "recall_10",
    "Recall@20": "recall_20",
    "Recall@100": "recall_100",
    "MAP@100": "map_cut_100",
    "MRR@100": "recip_rank",
    "Precision@10": "P_10",
    "HitRate@10": "success_10",
}
RANX = ("ndcg_burges@10", "recall@10", "recall@20", "recall@100", "map@100", "mrr@100",
        "precision@10", "hit_rate@10")  # fmt: skip


def by_fullrank(folder: Path) -> dict[str, float]:
    """The command line, as people use it."""
    import contextlib
    import io

    from fullrank.cli._run import run

    flags = [part for metric in METRICS for part in ("-m", metric)]
    # trec_eval and ranx divide AP by the number of relevant items.
    flags = ["map(denominator=relevant)@100" if f == "map@100" else f for f in flags]
    files = ["--recs", str(folder / "recs.parquet"), "--truth", str(folder / "truth.parquet")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert run(["evaluate", *files, *flags, "--json"]) == 0
    found = json.loads(printed.getvalue())["metrics"]
    return {name.replace("(denominator=relevant)", ""): m["value"] for name, m in found.items()}


def by_pytrec_eval(folder: Path) -> dict[str, float]:
    """Nested dictionaries, as the package wants them; ids and scores shared, to spare memory."""
    import polars as pl
    import pytrec_eval

    recs = pl.read_parquet(folder / "recs.parquet")
    truth = pl.read_parquet(folder / "truth.parquet")
    qrel: dict[str, dict[str, int]] = {}
    for user, item in truth.iter_rows():
        qrel.setdefault(user, {})[sys.intern(item)] = 1
    scores = [-float(rank) for rank in range(1001)]
    run: dict[str, dict[str, float]] = {}
    for user, item, rank in recs.iter_rows():
        run.setdefault(user, {})[sys.intern(item)] = scores[rank]
    del recs, truth
    found = pytrec_eval.RelevanceEvaluator(qrel, set(TREC.values())).evaluate(run)
    return {
        ours: sum(values[theirs] for values in found.values()) / len(found)
        for ours, theirs in TREC.items()
    }


def by_ranx(folder: Path) -> dict[str, float]:
    """From data frames, as its documentation shows."""
    import polars as pl
    from ranx import Qrels, Run, evaluate

    recs = pl.read_parquet(folder / "recs.parquet").with_columns(score=-pl.col("rank").cast(float))
    truth = pl.read_parquet(folder / "truth.parquet").with_columns(score=pl.lit(1, pl.Int64))
    names = {"q_id_col": "user_id", "doc_id_col": "item_id", "score_col": "score"}
    text = {"user_id": object, "item_id": object}  # ranx wants text columns as objects
    qrels = Qrels.from_df(truth.to_pandas().astype(text), **names)
    run = Run.from_df(recs.to_pandas().astype(text), **names)
    found = evaluate(qrels, run, list(RANX))
    return dict(zip(TREC, (float(found[name]) for name in RANX)))


TOOLS = {"fullrank": by_fullrank, "pytrec_eval": by_pytrec_eval, "ranx": by_ranx}


def table(users: int, tools: list[str], limit: float) -> str:
    """Make the files, run the tools, and return a Markdown table."""
    from benchmarks._measure import in_fresh_process, machine
    from benchmarks.make_lists import make

    lines = ["| tool | seconds | peak GiB | NDCG@10 |", "|---|---|---|---|"]
    seen: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), users, 100)
        for tool in tools:
            found = in_fresh_process("benchmarks.evaluate_lists", "--tool", tool, name, limit=limit)
            if found.status != 0:
                reason = found.output.strip().splitlines()[-1][:90] if found.output else "killed"
                if "memory" in found.output.lower():
                    reason = "asked for more than 20 GiB"
                lines.append(
                    f"| {tool} | stopped after {found.seconds:.0f} ({reason}) | "
                    f"{found.peak_gib:.1f} | |"
                )
                continue
            means = json.loads(found.output.strip().splitlines()[-1])
            for metric, value in means.items():
                assert abs(seen.setdefault(metric, value) - value) < 1e-9, (tool, metric)
            ndcg = means["NDCG@10"]
            lines.append(f"| {tool} | {found.seconds:.1f} | {found.peak_gib:.1f} | {ndcg:.6f} |")
    return "\n".join([f"{users:,} users × 100, text ids, Parquet; {machine()}", "", *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--tool", choices=TOOLS)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--limit", type=float, default=3600, help="seconds per tool")
    arguments = parser.parse_args()
    if arguments.tool:
        print(json.dumps(TOOLS[arguments.tool](arguments.folder)))
    else:
        print(table(arguments.users, arguments.only, arguments.limit))
