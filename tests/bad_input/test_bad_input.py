"""Bad input: exit 2, one line that says where and what to do, and nothing written or lost."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bad_input.cases import CASES
from tests.bad_input.corpus import Case, Outcome, contents, readme, run_case

from fullrank.experiment.results import Results

ALL = [(kind, case) for kind, cases in CASES.items() for case in cases]
README = Path(__file__).with_name("README.md")

UNREADABLE = re.compile(
    r"Traceback|np\.\w+\(|numpy|dtype|array\(|<class|<function|object at 0x|polars|pydantic|"
    r"bug in fullrank|Error\b"
)
"""What only a programmer of fullrank could read."""


def check_said(case: Case, outcome: Outcome) -> None:
    assert outcome.code == 2, outcome
    assert outcome.stdout == ""
    assert outcome.stderr.endswith("\n")
    assert outcome.stderr.count("\n") == 1, "one message is one line"
    assert outcome.stderr.startswith("fullrank: ")
    assert not UNREADABLE.search(outcome.stderr), outcome.stderr
    assert re.search(case.place, outcome.stderr), f"no place {case.place!r}: {outcome.stderr}"
    assert re.search(case.remedy, outcome.stderr), f"no remedy {case.remedy!r}: {outcome.stderr}"


@pytest.mark.parametrize(("kind", "case"), ALL, ids=[f"{k}-{c.fault}" for k, c in ALL])
def test_is_refused_in_one_line(kind: str, case: Case, inputs: Path) -> None:
    before = contents(inputs)
    outcome = run_case(case, inputs)
    after = contents(inputs)
    check_said(case, outcome)
    assert after == before


def test_there_are_enough_of_each_kind() -> None:
    counts = {kind: len(cases) for kind, cases in CASES.items()}
    assert min(counts.values()) >= 15
    assert sum(counts.values()) >= 250
    commands = [(case.command, *case.environment) for _, case in ALL]
    assert len(set(commands)) == len(commands)


def test_what_is_good_is_taken(inputs: Path, tmp_path: Path) -> None:
    """The good files beside the bad ones work, so that each case fails by its fault alone."""
    for command in (
        "data info log.csv",
        "evaluate --recs recs.csv --truth truth.csv -m ndcg@3 --by segments.csv:country",
        "evaluate --recs scored.csv --truth truth.csv -m ndcg@3 --grade rating --depth 3",
        "compare recs.csv scored.csv --truth truth.csv -m ndcg@3",
        "estimate ranks.csv -m ndcg@10 --catalog-size 2000 --sample-size 100",
        "estimate adaptive.csv -m ndcg@10 --catalog-size 2000",
        "estimate adaptive.csv --catalog-size 2000 --efficiency",
        "plan -m ndcg@10 --pilot ranks.csv --sample-size 100 --catalog-size 2000 --half-width 0.2",
        f"split log.csv -o {tmp_path / 'split'} --strategy GlobalTime",
        f"report store -o {tmp_path / 'report.md'}",
        f"run bench.toml --store {tmp_path / 'store'}",
    ):
        outcome = run_case(Case("none", command, "", ""), inputs)
        assert outcome.code == 0, (command, outcome)
        assert "warning" not in outcome.stderr
        assert "None" not in outcome.stdout
        assert "(name=" not in outcome.stdout, "a repr is no text for people"


def test_a_store_survives_every_refusal(inputs: Path) -> None:
    results = Results.load(inputs / "store")
    before = [cell.ranked.best.tolist() for cell in results.cells]
    for fault in (
        "report store -o log.csv/report.html",
        "compare store --baseline Popularty",
        "compare store other_store",
        "run broken.toml --store store",
        "run unknown_model.toml --store store",
        "run data_ragged.toml --store store",
        "run model_setting_negative.toml --store store",
    ):
        assert run_case(Case("", fault, "", ""), inputs).code == 2
    again = Results.load(inputs / "store")
    assert [cell.ranked.best.tolist() for cell in again.cells] == before


def test_a_mended_store_goes_on(inputs: Path, tmp_path: Path) -> None:
    """What the messages advise works: delete the folder that they name, run again."""
    for name in ("store_cell_cut", "store_ranks_cut", "store_ranks_other", "store_cell_bare"):
        store = tmp_path / name
        shutil.copytree(inputs / name, store)
        said = run_case(Case("", f"report {store} -o {tmp_path}/x.md", "", ""), inputs).stderr
        advised = re.search(r"delete the folder (\S+) and run", said)
        assert advised is not None, said
        shutil.rmtree(advised[1])
        assert run_case(Case("", f"run bench.toml --store {store}", "", ""), inputs).code == 0
        assert len(Results.load(store).cells) == 2


@pytest.mark.parametrize(
    "command",
    [
        "data info ragged.csv",
        "data info half.parquet",
        "evaluate --recs recs_nan_score.csv --truth truth.csv -m ndcg@3",
        "run unknown_key_top.toml --store fresh",
        "report store_cell_cut -o fresh.html",
        "compare evaluation.parquet other_evaluation.parquet --json",
        "evaluate --rec recs.csv",
    ],
)
def test_as_a_process(command: str, inputs: Path) -> None:
    """The same through a real process: libraries that print past Python's streams are seen."""
    before = contents(inputs)
    done = subprocess.run(
        [sys.executable, "-c", "from fullrank.cli import main; main()", *shlex.split(command)],
        cwd=inputs, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    check_said(Case("", command, "", ""), outcome)
    assert contents(inputs) == before


def test_debug_shows_where(inputs: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from fullrank.cli import main; main()",
         "data", "info", "ragged.csv", "--debug"],
        cwd=inputs, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "ragged.csv, line 4" in done.stderr


def test_the_readme_is_current(inputs: Path) -> None:
    def settled(text: str) -> str:
        # Keys of cells and fingerprints change with any change of the protocol's wording.
        return re.sub(r"[0-9a-f]{32}", "…", text)

    written = "\n".join(readme(inputs)) + "\n"
    assert settled(written) == settled(README.read_text(encoding="utf-8")), (
        "run python -m tests.bad_input.corpus > tests/bad_input/README.md"
    )
