"""What commands print: JSON or tables on stdout, progress and warnings on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fullrank.core.errors import SpecError
from fullrank.core.text import one_line

if TYPE_CHECKING:
    from fullrank.experiment.run import Step


def print_json(content: Any) -> None:
    """One JSON document on stdout, or an error and nothing there."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False, default=_plain)
    sys.stdout.write(f"{text}\n")


def _plain(value: Any) -> Any:
    """NumPy scalars and dates."""
    return value.item() if hasattr(value, "item") else str(value)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A table on stdout; columns of numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = Text(one_line(title)) if title else None
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
    for j, column in enumerate(columns):
        numbers = all(row[j][:1] in "0123456789+-–" for row in rows)
        justify: Literal["left", "right"] = "right" if j and numbers else "left"
        table.add_column(Text(one_line(column)), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    with console.capture() as capture:
        console.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def print_line(text: str) -> None:
    """One line on stdout, whatever the labels in it hold."""
    sys.stdout.write(f"{one_line(text)}\n")


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Step], None] | None]:
    """A bar with the time left on stderr; nothing where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading data", total=None)

        def show(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total, description=step.text)

        yield show


@contextmanager
def busy(text: str, quiet: bool = False) -> Iterator[None]:
    """A spinner on stderr for work without steps; nothing where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def warn(message: str) -> None:
    """One line on stderr."""
    print(f"fullrank: warning: {one_line(message)}", file=sys.stderr)  # noqa: T201


def check_output(path: Path) -> None:
    """Refuse a table's path that can't be written, before the work is done."""
    from fullrank.core.paths import check_file_place
    from fullrank.data.writing import format_of

    check_file_place(path)
    format_of(path)


def parse_columns(text: str | None) -> dict[str, str]:
    """Read ``user_id=uid,item_id=iid``."""
    out: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        role, sign, name = part.partition("=")
        if not sign or not role.strip() or not name.strip():
            raise SpecError(f"--columns takes role=name pairs like user_id=uid, got {part!r}")
        out[role.strip()] = name.strip()
    return out


def parse_settings(pairs: Sequence[str], option: str) -> dict[str, Any]:
    """Read ``key=value`` pairs whose values are TOML (numbers, true, "text", [1, 2], {a = 1})."""
    import tomllib

    out: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        key = key.strip()
        if not sign or not key:
            raise SpecError(f"{option} takes key=value, such as {option} a=1, got {pair!r}")
        if key in out:
            raise SpecError(f"{option} has {key!r} twice; give each key once")
        try:
            out[key] = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            out[key] = value.strip()  # plain text needs no quotes on a command line
    return out


def parse_read(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Read the options of ``--read``."""
    from fullrank.data._options import check_read

    settings = parse_settings(pairs or (), "--read")
    check_read(settings)
    return settings


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """``0.1234 [0.1200, 0.1268]``, a dash where undefined."""
    if value is None:
        return "–"
    if low is None or high is None:
        return f"{value:.4f} [no interval]"
    return f"{value:.4f} [{low:.4f}, {high:.4f}]"
