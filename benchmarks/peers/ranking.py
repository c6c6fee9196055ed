"""What other tools need for the ranking problem: `python -m benchmarks.peers.ranking [Q C]`.

Each tool ranks in a process and an environment of its own, with two threads of its own and with
one BLAS thread and two; the better setting counts and is named, the other is kept beside it (the
default of every one of them is two, which fight with the tool's own threads). Times are of the
call alone: data are made, models given and a first small call made before.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks._measure import alone
from benchmarks._peers import PeerUnavailableError, python_of

BLAS = ("1", "2")
CALLS = {
    "implicit": ("recommend", "ranking_metrics_at_k"),
    "torch": ("topk",),
    "irspack": ("three", "one"),
    "lenskit": ("recommend",),
}
NAMES = {
    ("implicit", "recommend"): "implicit `recommend` top 100",
    ("implicit", "ranking_metrics_at_k"): "implicit `ranking_metrics_at_k`, one k",
    ("torch", "topk"): "PyTorch product, mask, top 100",
    ("irspack", "three"): "irspack `Evaluator`, three cut-offs",
    ("irspack", "one"): "irspack `Evaluator`, one cut-off",
    ("lenskit", "recommend"): "LensKit `batch.recommend` top 100",
}
SCORES_A_SECOND = {"irspack": 70e6, "lenskit": 8e6}
"""Rough speed of the slow ones, to choose a share of the users that takes under three minutes."""
LONGEST = 150


@dataclass(frozen=True)
class Figure:
    """Seconds of one call for all users.

    Attributes:
        seconds: with the better number of BLAS threads, scaled from ``users`` if these are fewer.
        blas: that number.
        other: seconds with the other number.
        users: how many were run.
        recall: at 10, to be the same for all.
    """

    seconds: float
    blas: int
    other: float
    users: int
    recall: float


def share(tool: str, q: int, c: int) -> int:
    """Users to run: all, unless that takes over three minutes."""
    if tool not in SCORES_A_SECOND:
        return q
    return min(q, max(1000, int(LONGEST * SCORES_A_SECOND[tool] / c)))


def figures(q: int, c: int, d: int = 64) -> dict[str, Figure | str]:
    """Figures of every call of every tool by name; a reason where there is none."""
    out: dict[str, Figure | str] = {}
    for tool, calls in CALLS.items():
        found = _of(tool, q, c, d)
        for call in calls:
            out[NAMES[tool, call]] = found if isinstance(found, str) else _figure(found, call, q)
    return out


def _of(tool: str, q: int, c: int, d: int) -> dict[int, dict[str, float]] | str:
    """What the tool returned, by number of BLAS threads."""
    try:
        python = python_of(tool)
    except PeerUnavailableError as error:
        return f"could not be installed: {error}"
    users = share(tool, q, c)
    found = {}
    for threads in BLAS:
        env = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "MKL")}
        target = f"benchmarks.peers.ranking_{tool}:seconds"
        run = alone(target, users, c, d, python=python, env=env, limit=600)
        if run.error:
            return f"failed: {run.error}"
        found[int(threads)] = {**run.value, "users": users}
    return found


def _figure(found: dict[int, dict[str, float]], call: str, q: int) -> Figure:
    best, other = sorted(found, key=lambda threads: found[threads][call])
    part = found[best]
    scale = q / part["users"]
    return Figure(
        seconds=part[call] * scale,
        blas=best,
        other=found[other][call] * scale,
        users=int(part["users"]),
        recall=part["recall"],
    )


def as_peers(found: dict[str, Figure | str], q: int) -> dict[str, float | str]:
    """For ``Row.peers``: the setting and the share of the users in the name."""
    out: dict[str, float | str] = {}
    for name, figure in found.items():
        if isinstance(figure, str):
            out[name] = figure
            continue
        scaled = "" if figure.users == q else f", scaled from {figure.users:,} users"
        other = f"{figure.blas} BLAS thread{'s' * (figure.blas > 1)}, else {figure.other:.1f} s"
        out[f"{name} ({other}{scaled})"] = figure.seconds
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("q", nargs="?", type=int, default=138_000)
    parser.add_argument("c", nargs="?", type=int, default=20_000)
    arguments = parser.parse_args()
    for name, figure in figures(arguments.q, arguments.c).items():
        print(f"{name}: {figure}")
