"""What the training benchmarks share: interactions, a timed fit, peers, and their rows."""

from __future__ import annotations

import resource
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks._interactions import matrix
from benchmarks._measure import alone
from benchmarks._peers import PeerUnavailableError, python_of
from benchmarks._rows import Row


def cpu_seconds() -> float:
    """Processor seconds of this process so far, all threads: what a busy machine changes least."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def interactions(folder: str) -> Any:
    """Training rows as fullrank has them, their matrix made."""
    import numpy as np

    from fullrank.core.interactions import Interactions
    from fullrank.core.vocabulary import Vocabulary

    X = matrix(folder).tocoo()
    user_ids, item_ids = (Vocabulary.of(np.arange(n), name) for n, name in zip(X.shape, ("u", "i")))
    data = Interactions(X.row.astype(np.int32), X.col.astype(np.int32), user_ids, item_ids)
    data.csr("binary")
    return data


def timed_fit(data: Any, model: Any, rounds: int, **options: Any) -> tuple[float, float]:
    """Median seconds of a fit after one on a few rows, and peak GiB of the first beyond what the
    process held before: the interpreter, libraries, interactions and their matrix.
    """
    import numpy as np

    type(model)(**model.settings()).fit(data.take(np.arange(3000)))
    times, peaks = [], []
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    for _ in range(rounds):
        start = time.perf_counter()
        model.fit(data, **options)
        times.append(time.perf_counter() - start)
        peaks.append(memory("VmHWM") - before)
    return statistics.median(times), peaks[0]  # later ones hold the arrays of the fit before too


def memory(field: str) -> float:
    """GiB of a field of ``/proc/self/status``."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(x for x in lines if x.startswith(field)).split()[1]) / 2**20


def gib(*counts_and_bytes: tuple[int, int]) -> float:
    """Size of arrays, each given by its length and the bytes of an element."""
    return sum(n * size for n, size in counts_and_bytes) / 2**30


def peer(tool: str, function: str, *arguments: Any, blas: int = 1) -> dict[str, float] | str:
    """What the tool's function returned, or why there is nothing."""
    try:
        python = python_of(tool)
    except PeerUnavailableError as error:
        return f"could not be installed: {error}"
    env = {"OPENBLAS_NUM_THREADS": str(blas), "OMP_NUM_THREADS": "2"}
    target = f"benchmarks.peers.training_{tool}:{function}"
    found = alone(target, *arguments, python=python, env=env)
    return f"failed: {found.error}" if found.error else found.value


def training_rows(
    what: str, ours: Any, peers: dict[str, Any], goal: str = "faster than each", **more: Any
) -> list[Row]:
    """The row of a model's time, and that of its memory where that was measured.

    What ``ours`` and the peers give: ``seconds``; ``recall``, ``cpu`` (processor seconds) and
    ``said`` (words) go into the note and beside the peers' names where they are there.
    """
    if ours.error:
        return [Row(what, goal, None, False, note=f"failed: {ours.error}")]
    found, named = ours.value, {}
    for name, value in peers.items():
        known = isinstance(value, dict)
        about = f", {_said(value)}" if known and _said(value) else ""
        named[name + about] = value["seconds"] if known else value
    seconds = found["seconds"]
    limit = more.get("limit")
    fastest = min((p for p in named.values() if not isinstance(p, str)), default=seconds)
    met = seconds <= (fastest if limit is None else min(fastest, 1.2 * limit))
    time_row = Row(what, goal, seconds, met, peers=named, note=_said(found), **more)
    return [time_row, _memory_row(what, found)] if "peak" in found else [time_row]


def _said(found: dict[str, Any]) -> str:
    parts = [f"recall {found['recall']:.4f}"] if "recall" in found else []
    parts += [f"{found['cpu']:.2f} s of the processor"] if "cpu" in found else []
    parts += [found["said"]] if "said" in found else []
    return ", ".join(parts)


def _memory_row(what: str, found: dict[str, float]) -> Row:
    return Row(
        f"its peak memory: {what}", "at most 1.5× of what can't be avoided", found["peak"],
        found["peak"] <= 1.5 * found["least"], unit="GiB", limit=found["least"],
        limit_name="arrays",
    )  # fmt: skip
