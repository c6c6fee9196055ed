"""The PyTorch backend on a GPU beside the engine's own kernels: `python -m benchmarks.gpu`.

Run it in an environment that has fullrank and a PyTorch that sees the GPU. The limit is a bare
float32 product (no TF32) of the same shape on the same GPU; the peer is the engine on the CPU of
the same machine. Both must give the same ranks, lists and scores, or the row says that they don't.
"""

from __future__ import annotations

import importlib.util
import statistics

from benchmarks._measure import alone, interleaved
from benchmarks._rows import Row, main

SIZES = ((138_000, 20_000), (100_000, 100_000))
MEMORY = 4 * 2**30
"""Bytes on the device, besides the item factors."""


def device() -> str | None:
    """Name of the GPU, None if PyTorch sees none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def measured(q: int, c: int, rounds: int, where: str, memory: int) -> dict[str, float]:
    """Median seconds of both engines and of the bare product, GiB on the device, and equality."""
    import numpy as np
    import torch

    from benchmarks._growth_pieces import problem
    from fullrank.rank import rank
    from fullrank.rank.backends._device import full_precision

    on = torch.device(where)
    model, queries = problem(q, c)

    def ours():
        return rank(model, queries, k=100)

    def theirs():
        return rank(model, queries, k=100, backend="torch", device=where, memory=memory)

    def product() -> None:
        users, items = (torch.from_numpy(x).to(on) for x in (model.users, model.items))
        size = max(1, memory // (8 * c))
        out = torch.empty((size, c), device=on)
        for at in range(0, q, size):
            block = users[at : at + size]
            torch.mm(block, items.T, out=out[: len(block)])
        out[:1, :1].cpu()  # waits for the device

    def whole(ranking):
        t, top = ranking.targets, ranking.top
        return t.best, t.worst, t.n_candidates, top.items, top.scores

    want, got = whole(ours()), whole(theirs())
    same = all(np.array_equal(a, b) for a, b in zip(want, got, strict=True))
    if on.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        theirs()
    peak = torch.cuda.max_memory_allocated() / 2**30 if on.type == "cuda" else 0.0
    with full_precision(on):
        product()
        found = interleaved({"ours": ours, "theirs": theirs, "product": product}, rounds)
    medians = {name: statistics.median(seconds) for name, seconds in found.items()}
    return medians | {"gib": peak, "same": same}


def rows(quick: bool) -> list[Row]:
    """A row for each size; one that says why where there is no GPU."""
    name = "ranking on a GPU: top 100 and ranks of 8 targets"
    if importlib.util.find_spec("torch") is None:
        return [Row(name, "–", None, None, note="no PyTorch here")]
    gpu = alone("benchmarks.gpu:device")
    if gpu.error or gpu.value is None:
        return [Row(name, "–", None, None, note=gpu.error or "no GPU here")]
    out = []
    for q, c in SIZES:
        if quick:
            q, c = q // 100, c // 20
        run = alone("benchmarks.gpu:measured", q, c, 1 if quick else 3, "cuda", MEMORY, gib=1024)
        what = f"{name}, {q:,} × {c:,} × 64"
        if run.error:
            out.append(Row(what, "–", None, False, note=f"failed: {run.error}"))
            continue
        taken, same = run.value, run.value["same"]
        note = f"{gpu.value}; {taken['gib']:.2f} GiB on it"
        out.append(
            Row(
                what,
                "the same as on the CPU",
                taken["theirs"],
                same,
                limit=taken["product"],
                limit_name="float32 product there",
                peers={"the engine on the CPU": taken["ours"]},
                note=note if same else f"{note}; RANKS OR LISTS DIFFER",
            )
        )
    return out


if __name__ == "__main__":
    main(rows)
