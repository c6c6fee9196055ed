"""Full ranking beside the bare product and beside other tools: `python -m benchmarks.full_ranking`.

One pass gives the top 100, the rank of each of 8 targets with its tie bounds, history masked, and
30 metrics a query (NDCG, Recall, MRR, MAP, HitRate at six cut-offs). The limit is one float32
product of the same shape in the same run, as NumPy does it; a better tiling is told beside it. A
peer's figure is one call that gives a part of this.
"""

from __future__ import annotations

import statistics
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks._measure import alone, interleaved
from benchmarks._rows import Row, main

SIZES = {(138_000, 20_000): 3.5, (100_000, 100_000): 2.5}
"""Users and items, and how many times faster than the fastest peer the goal is."""
TWICE, MEMORY, THREE_CUTS = 2.0, 512, 20.0
BLOCKS = (256, 1024, 4096)
"""Users in a block of the bare product; the fastest counts."""
CUTS = [1, 5, 10, 20, 50, 100]


def ours(q: int, c: int, rounds: int) -> dict[str, float]:
    """Median seconds of ranking, of its metrics and of the bare product; extra GiB; recall@10."""
    import numpy as np

    import fullrank as fr
    from benchmarks._growth_pieces import problem, timed
    from fullrank.metrics import per_query_many
    from fullrank.rank import rank

    model, queries = problem(q, c)
    families = (fr.NDCG, fr.Recall, fr.MRR, fr.MAP, fr.HitRate)
    wanted = [metric for family in families for metric in family @ CUTS]
    seen: dict[str, float] = {}

    def whole() -> None:
        values = per_query_many(rank(model, queries, k=100).targets, wanted)
        seen["recall"] = float(np.mean(values[fr.Recall @ 10]))

    memory = timed(whole, lambda: rank(model, queries[:256], k=100), longest=0.0)["gib"]
    users, items = model.users, model.items
    pieces = {"whole": whole, "tiled": lambda: tiled_product(users, items)}
    for size in BLOCKS:
        pieces[f"sgemm {size}"] = partial(product, users, items, size)
    found = {name: statistics.median(s) for name, s in interleaved(pieces, rounds).items()}
    plain = min(found[f"sgemm {size}"] for size in BLOCKS)
    return {**found, "sgemm": plain, "gib": memory, **seen}


def product(users, items, size: int) -> None:
    """The bare product as NumPy does it, BLAS with all its threads: blocks of users × all items."""
    import numpy as np

    out = np.empty((size, len(items)), dtype=np.float32)
    for at in range(0, len(users), size):
        block = users[at : at + size]
        np.dot(block, items.T, out=out[: len(block)])


def tiled_product(users, items, size: int = 512, tile: int = 2048) -> None:
    """The fastest that was found: a worker a core with one BLAS thread, results in its cache."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    def work(half: int) -> None:
        flat = np.empty(size * tile, dtype=np.float32)
        for at in range(half * size, len(users), 2 * size):
            block = users[at : at + size]
            for start in range(0, len(items), tile):
                part = items[start : start + tile]
                out = flat[: len(block) * len(part)].reshape(len(block), len(part))
                np.dot(block, part.T, out=out)

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (0, 1)))


def rows(quick: bool) -> list[Row]:
    """Against the product, against peers, and memory, for each size."""
    out = []
    for (q, c), times in SIZES.items():
        if quick:
            q, c = q // 100, c // 20
        shape = f"{q:,} × {c:,} × 64"
        run = alone("benchmarks.full_ranking:ours", q, c, 1 if quick else 3, gib=64)
        if run.error:
            out.append(Row(shape, "–", None, False, note=f"failed: {run.error}"))
        else:
            out += _alone_rows(shape, run.value)
            out += _peer_rows(shape, run.value["whole"], times, q, c)
    return out


def _alone_rows(shape: str, found: dict[str, float]) -> list[Row]:
    """Against the product, and memory."""
    mib = 1024 * found["gib"]
    return [
        Row(
            f"top 100, ranks of 8 targets and 30 metrics, {shape}",
            f"at most {TWICE:g}× the product, aim for 1.3×",
            found["whole"],
            found["whole"] <= TWICE * found["sgemm"],
            limit=found["sgemm"],
            limit_name="sgemm",
            note=f"the fastest tiling of the product that was found: {found['tiled']:.2f} s; "
            f"recall@10 {found['recall']:.6f}",
        ),
        Row(
            f"its memory beyond the inputs, results included, {shape}",
            f"under {MEMORY} MiB",
            mib,
            mib < MEMORY,
            unit="MiB",
        ),
    ]


def _peer_rows(shape: str, taken: float, times: float, q: int, c: int) -> list[Row]:
    """Beside the single calls of peers, and beside three cut-offs of irspack."""
    from benchmarks.peers.ranking import as_peers, figures

    peers = as_peers(figures(q, c), q)
    three = {name: figure for name, figure in peers.items() if "three" in name}
    single = {name: figure for name, figure in peers.items() if name not in three}
    out = []
    for goal, some in ((times, single), (THREE_CUTS, three)):
        fastest = min((x for x in some.values() if not isinstance(x, str)), default=None)
        met = None if fastest is None else fastest >= goal * taken
        words = f"{goal:g}× as fast as the fastest of them"
        out.append(Row(f"beside peers, {shape}", words, taken, met, peers=some))
    return out


if __name__ == "__main__":
    main(rows)
