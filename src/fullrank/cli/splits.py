"""``split``: cut data into train, validation and test, with a card of what that means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli._card import card_lines
from fullrank.cli._output import busy, parse_settings, print_json, print_line
from fullrank.cli.data import Columns, Json, Read, load
from fullrank.core.errors import told
from fullrank.core.paths import check_folder_place


def split(
    data: Annotated[str, typer.Argument(help="File, or name of a data set.")],
    strategy: Annotated[str, typer.Option(help="Name of a strategy: fullrank list splits.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the parts.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Settings of the strategy: --set test=0.1 --set valid=0.1."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            help="Before the split, in order: --filter 'binarise={at=4}' or 'core={users=5}'.",
        ),
    ] = None,
    train_filters: Annotated[
        list[str] | None, typer.Option("--train-filter", help="On training rows only.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    columns: Columns = None,
    read: Read = None,
    json: Json = False,
) -> None:
    """Split data without leakage; writes Parquet parts and split.json (folds in sub-folders)."""
    check_folder_place(out, new=True)
    with busy("splitting", quiet=json):
        folds = _folds(data, strategy, settings, filters, train_filters, seed, columns, read)
        places = [out] if len(folds) == 1 else [out / f"fold-{j}" for j in range(len(folds))]
        for one, place in zip(folds, places):
            one.save(place)
    cards = [one.card() for one in folds]
    if json:
        print_json({"out": [str(place) for place in places], "cards": cards})
        return
    for card, place in zip(cards, places):
        typer.echo(f"{place}")
        for line in card_lines(card):
            print_line(f"  {line}")


def _folds(
    data: str,
    strategy: str,
    settings: list[str] | None,
    filters: list[str] | None,
    train_filters: list[str] | None,
    seed: int,
    columns: str | None,
    read: list[str] | None,
) -> list[Any]:
    from fullrank.core.registry import build
    from fullrank.data.filters import apply_all, parse_filter
    from fullrank.split import with_train_filter

    def parsed(texts: list[str] | None, option: str) -> list[Any]:
        steps = [parse_settings([text], option) for text in texts or ()]
        return [parse_filter(step) for step in steps]

    how = build("split", strategy, parse_settings(settings or (), "--set"))
    before, train = parsed(filters, "--filter"), parsed(train_filters, "--train-filter")
    with told(f"{data}: "):
        rows = apply_all(load(data, columns, read).interactions, before, seed, compact=True)
        return [with_train_filter(one, train, rng=seed) for one in how.splits(rows, rng=seed)]
