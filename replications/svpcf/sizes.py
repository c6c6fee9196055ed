"""Asked and realised sizes of samples: `python -m replications.svpcf.sizes DATA_FOLDER`.

Runs ``fullrank subsample`` on MovieLens 1M (ratings of 4 and 5) by its command line, once a
strategy and size, and tables what the manifests say to ``sizes.md``. The proxy's importance is
learnt by the first command that needs it and read from its folder by the others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fullrank.cli._run import run

DATA = "ml-1m-pos4"
KEEPS = (0.8, 0.6, 0.4, 0.2, 0.1, 0.01)
FLOOR = ("--floor", "rows=100", "--floor", "users=1", "--floor", "items=1")
"""At 1 % whole users leave fewer than the 50 that are asked for by default."""

PLAIN = (
    "RandomInteractions", "RandomUsers", "RandomItems", "HeadUsers", "HeadItems", "Temporal",
    "Stratified", "KCore", "PageRank", "RandomWalk", "ForestFire",
)  # fmt: skip
LEARNT = (
    "SVPCF", "SVPCF(unit=user)", "SVPCF(unit=item)", "SVPCFProp", "SVPCFProp(unit=user)",
    "SVPCFProp(unit=item)", "ScoreStratified",
)  # fmt: skip
"""By the importance of rows for MF, 50 epochs."""

NEEDED = {
    "strategy": str, "settings": dict, "units": str, "size": str, "seed": int, "keep": float,
    "asked": dict, "realised": dict, "exact": bool, "nested": bool, "cold_users": dict,
    "catalogue": dict, "fingerprint": dict, "recipe": list, "about": dict, "notes": list,
    "seconds": dict, "fullrank": str,
}  # fmt: skip
"""What a complete manifest has, with its kinds."""

HEAD = (
    "strategy", "asked", "rows", "of rows", "users", "items", "cold users", "cold items",
    "manifest",
)  # fmt: skip
PAGE = Path(__file__).with_name("sizes.md")


def sample(strategy: str, keep: float, out: Path, importance: Path | None) -> Any:
    """Manifest of a sample that the command line drew, called in this process.

    Raises:
        RuntimeError: the command failed, with what it said, or printed other than it wrote.
    """
    settings = () if importance is None else ("--set", f"importance={importance}")
    command = [
        "subsample", DATA, "--strategy", strategy, "--keep", str(keep), "-o", str(out),
        *settings, *FLOOR, "--json",
    ]  # fmt: skip
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = run(command)
    if code:
        raise RuntimeError(f"fullrank {' '.join(command)}: {said.getvalue().strip()}")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    if manifest != json.loads(printed.getvalue()):
        raise RuntimeError(f"{strategy} at {keep}: what was printed is not what was written")
    return manifest


def faults(manifest: Mapping[str, Any], keep: float) -> list[str]:
    """What is missing from a manifest, or does not agree with itself; none if it is complete."""
    out = [
        f"{name}: {'missing' if name not in manifest else 'of another kind'}"
        for name, kind in NEEDED.items()
        if not isinstance(manifest.get(name), kind)
    ]
    if out:
        return out
    realised = manifest["realised"]
    for name in ("rows", "users", "items"):
        part = realised[name]
        if part["share"] != part["kept"] / part["of"]:
            out.append(f"{name}: share is not kept over all")
    if manifest["keep"] != keep:
        out.append("keep: not what was asked")
    if manifest["exact"] != (realised["rows"]["kept"] == manifest["asked"]["rows"]):
        out.append("exact: not what the rows say")
    users, items = realised["users"], realised["items"]
    if manifest["cold_users"]["count"] != users["of"] - users["kept"]:
        out.append("cold users: not those without rows")
    if manifest["catalogue"]["cold_items"] != items["of"] - items["kept"]:
        out.append("cold items: not those without rows")
    return out


def lines(folder: Path) -> Iterator[tuple[str, ...]]:
    """A line of the table for each strategy and size."""
    importance: Path | None = None
    for strategy in (*PLAIN, *LEARNT):
        for keep in KEEPS:
            out = folder / f"{strategy}-{keep}"
            taken = importance if strategy in LEARNT else None
            found = sample(strategy, keep, out, taken)
            if strategy in LEARNT and importance is None:
                importance = out / "importance.npz"
            yield _line(found, strategy, keep)
            print(f"{strategy} {keep}", file=sys.stderr, flush=True)


def _line(found: Mapping[str, Any], strategy: str, keep: float) -> tuple[str, ...]:
    rows, users, items = (found["realised"][name] for name in ("rows", "users", "items"))
    wrong = faults(found, keep)
    return (
        strategy,
        f"{keep:.0%} = {found['asked']['rows']:,}",
        f"{rows['kept']:,}{'' if found['exact'] else ' (nearest)'}",
        f"{rows['share']:.3%}",
        f"{users['kept']:,} ({users['share']:.1%})",
        f"{items['kept']:,} ({items['share']:.1%})",
        f"{found['cold_users']['count']:,}",
        f"{found['catalogue']['cold_items']:,}",
        "complete" if not wrong else "; ".join(wrong),
    )


def page() -> str:
    """The whole page."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(lines(Path(folder)))
    table = [HEAD, ("---",) * len(HEAD), *found]
    exact = sum("nearest" not in line[2] for line in found)
    whole = sum(line[-1] == "complete" for line in found)
    return "\n".join(
        [
            "# Sizes of samples, asked and realised",
            "",
            "Written by `python -m replications.svpcf.sizes DATA_FOLDER`: `fullrank subsample` on "
            "MovieLens 1M, ratings of 4 and 5, all rows taken for training rows, seed 0, once a "
            "strategy and size. SVPCF, SVPCFProp and ScoreStratified go by one importance of the "
            "rows (MF, 50 epochs, all negatives). Cold users and items have no row left; the "
            "catalogue keeps the items. A manifest is complete if it has all that "
            "`docs/subsample.md` says and agrees with itself.",
            "",
            f"{exact} of {len(found)} samples have just the rows that were asked for; {whole} of "
            f"{len(found)} manifests are complete.",
            "",
            *(f"| {' | '.join(line)} |" for line in table),
            "",
        ]
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with ml-1m-pos4/interactions.parquet")
    os.environ["FULLRANK_DATA"] = str(parser.parse_args().data)
    found = page()
    PAGE.write_text(found, encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
