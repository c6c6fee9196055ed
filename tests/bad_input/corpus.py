"""Malformed inputs, and what the command line says to each.

``python -m tests.bad_input.corpus`` prints README.md; with a folder as argument it writes all
inputs there, to try them by hand.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch


@dataclass(frozen=True)
class Case:
    """One input that can't be used as it is.

    Attributes:
        fault: what is wrong with it.
        command: what is run in the folder of inputs.
        place: regex: where the fault is (file, line, row, column, user or key).
        remedy: regex: what to do.
        environment: variables that are set for it.
        free_memory: bytes that the machine claims to have free, if that matters.
        leaves: what it leaves behind, as a run that fails midway keeps what it has finished; it is
            removed again.
    """

    fault: str
    command: str
    place: str
    remedy: str
    environment: Mapping[str, str] = field(default_factory=dict)
    free_memory: int | None = None
    leaves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a command did; paths are relative to the folder of inputs."""

    code: int
    stdout: str
    stderr: str


def run_case(case: Case, folder: Path) -> Outcome:
    """Run a case in this process, in the folder of inputs."""
    from fullrank.cli._run import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(patch.dict(os.environ, case.environment))
        if case.free_memory is not None:
            free = "fullrank.models._memory.available_memory"
            stack.enter_context(patch(free, return_value=case.free_memory))
        if "FULLRANK_DATA" not in case.environment:
            os.environ.pop("FULLRANK_DATA", None)  # patch.dict brings it back
        code = run(shlex.split(case.command))
    for name in case.leaves:
        shutil.rmtree(folder / name)
    said = err.getvalue().replace(f"{folder}{os.sep}", "")
    return Outcome(code, out.getvalue(), said)


def contents(folder: Path) -> dict[str, str]:
    """Hash of every file below a folder, and the folders themselves."""
    return {
        str(path.relative_to(folder)): _hash(path) if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def _hash(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def readme(folder: Path) -> Iterator[str]:
    """Lines of the table of all cases with their messages."""
    from tests.bad_input.cases import CASES

    yield "# What fullrank says to bad input"
    yield ""
    yield "Written by `python -m tests.bad_input.corpus > tests/bad_input/README.md`; the tests"
    yield "check that it is current. Each command exits with 2, prints this one line on stderr and"
    yield "nothing on stdout, and leaves every file as it was. To try them by hand:"
    yield "`python -m tests.bad_input.corpus FOLDER` writes the inputs to a folder."
    for kind, cases in CASES.items():
        yield from ("", f"## {kind}", "", "| Fault | Command | Message |", "| --- | --- | --- |")
        for case in cases:
            yield f"| {case.fault} | {_code(_command(case))} | {_code(message(case, folder))} |"


def message(case: Case, folder: Path) -> str:
    """The line that a case prints.

    Where JSON is cut depends on the versions and times in it: what its parser says is left out.
    """
    said = run_case(case, folder).stderr.strip()
    return re.sub(r"is damaged \([^()]*\(char \d+\)\)", "is damaged (…)", said)


def _command(case: Case) -> str:
    settings = "".join(f"{name}={value} " for name, value in case.environment.items())
    return f"{settings}fullrank {case.command}"


def _code(text: str) -> str:
    """Code in a table of Markdown."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def main() -> None:
    """Print the table, or write the inputs."""
    from tests.bad_input.inputs import write_inputs

    if len(sys.argv) > 1:
        write_inputs(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_inputs(folder)
        print("\n".join(readme(folder)))


if __name__ == "__main__":
    main()
