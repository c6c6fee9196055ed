"""``subsample``: fewer training rows, with a manifest of what was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fullrank.cli._card import share_text
from fullrank.cli._output import busy, parse_settings, print_json, print_line
from fullrank.cli.data import Columns, Json, Read, load
from fullrank.core.errors import SpecError, told
from fullrank.core.paths import check_folder_place


def subsample(
    data: Annotated[
        str, typer.Argument(help="File or data set of training rows, or folder of a split.")
    ],
    strategy: Annotated[str, typer.Option(help="Name of a strategy: fullrank list subsamplers.")],
    keep: Annotated[float, typer.Option(help="Share of the training rows to keep, in (0, 1).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the sample.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Settings of the strategy: --set unit=user."),
    ] = None,
    size: Annotated[
        Literal["exact", "whole", "faithful"],
        typer.Option(help="Trim the last unit, keep units whole, or do as the published code."),
    ] = "exact",
    floor: Annotated[
        list[str] | None,
        typer.Option("--floor", help="Least of a usable sample: --floor users=20 --floor rows=50."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Before the sampling, of a file: --filter 'core={users=5}'."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    columns: Columns = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Keep a share of the training rows; writes train.parquet, catalogue.parquet, manifest.json.

    Of a folder that fullrank split wrote, only the training rows are sampled, and the whole split
    is written. All rows of a file are taken for training rows: split before you sample.
    """
    from fullrank.core.registry import construct
    from fullrank.subsample import Floor, parse_sampler, save
    from fullrank.subsample import subsample as sampled

    check_folder_place(out, new=True)
    how = parse_sampler(strategy, parse_settings(settings or (), "--set"))
    least = construct("--floor", Floor, parse_settings(floor or (), "--floor"))
    with busy("sampling", quiet=json):
        rows = training_rows(data, filters, seed, columns, read)
        with told(f"{data}: "):
            sample = sampled(rows, how, keep, seed, size=size, floor=least)
        save(sample, out)
    if json:
        print_json(sample.manifest)
        return
    typer.echo(f"{out}")
    for line in _lines(sample.manifest):
        print_line(f"  {line}")


def training_rows(
    data: str,
    filters: list[str] | None,
    seed: int,
    columns: str | None,
    read: list[str] | None,
) -> Any:
    """A split that a folder holds, or the rows of a file or named data set, filtered."""
    from fullrank.data.filters import apply_all, parse_filter
    from fullrank.split import Split

    if (Path(data) / "split.json").is_file():
        for option, given in (("--filter", filters), ("--columns", columns), ("--read", read)):
            if given:
                raise SpecError(
                    f"{data} is a split, which is sampled as it is; leave {option} out, or give it "
                    "to fullrank split"
                )
        return Split.load(data)
    steps = [parse_filter(parse_settings([text], "--filter")) for text in filters or ()]
    with told(f"{data}: "):
        return apply_all(load(data, columns, read).interactions, steps, seed, compact=True)


def _lines(manifest: Any) -> list[str]:
    """What people want to know first."""
    out = []
    for name, part in manifest["realised"].items():
        out.append(f"{name}: {part['kept']:,} of {part['of']:,} ({share_text(part['share'])})")
    catalogue = manifest["catalogue"]
    cold = catalogue["cold_items"]
    out.append(
        f"catalogue: all {catalogue['items']:,} items that had training rows, {cold:,} of them "
        "have none left"
    )
    return [*out, *manifest["notes"]]
