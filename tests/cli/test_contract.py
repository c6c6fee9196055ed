"""What holds for every command: exit codes, JSON alone on stdout, help, no traceback."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.experiment.worlds import bench, call, command, environment

COMMANDS = [
    ("demo",), ("run",), ("report",), ("evaluate",), ("compare",), ("split",), ("schema",),
    ("estimate",), ("plan",), ("analyse",), ("subsample",), ("psi",), ("advise",),
    ("list",), ("data",), ("data", "list"), ("data", "info"), ("data", "convert"),
]  # fmt: skip


def test_these_are_all_commands(cli):
    import typer

    from fullrank.cli._app import app

    group = typer.main.get_command(app)
    found = set()
    for name, one in group.commands.items():
        found.add((name,))
        found |= {(name, part) for part in getattr(one, "commands", {})}
    assert found == set(COMMANDS)


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_help_of_every_command(cli, names):
    said = cli(*names, "--help")
    assert said.code == 0
    assert said.err == ""
    assert said.out.startswith(f"Usage: fullrank {' '.join(names)}")
    if names != ("data",):
        assert "--json" in said.out
    assert cli(*names, "-h").out == said.out


def test_version(cli):
    from fullrank import __version__

    assert cli("--version").out == f"fullrank {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runn"], "runn"),
        (["run"], "bench"),
        (["run", "x.toml", "--stroe", "y"], "--stroe"),
        (["run", "x.toml", "--jobs", "0"], "jobs"),
        (["run", "x.toml", "--engine", "cloud"], "cloud"),
        (["run", "absent.toml"], "there is no benchmark file absent.toml"),
        (["list", "modles"], "modles"),
        (["evaluate", "--recs", "a.csv"], "--truth"),
        (["report", "absent"], "absent"),
        (["data", "info", "absent.csv"], "absent.csv"),
    ],
)
def test_bad_usage_is_exit_2_and_one_message(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = cli(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("fullrank: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert list(tmp_path.iterdir()) == []


def test_without_a_command_the_help_is_shown(cli):
    said = cli()
    assert said.code == 2
    assert "Usage: fullrank" in said.out + said.err


def test_debug_shows_the_traceback(tmp_path):
    quiet = call("report", tmp_path)
    assert quiet.returncode == 2
    assert "Traceback" not in quiet.stderr
    loud = call("report", tmp_path, "--debug")
    assert loud.returncode != 0
    assert "Traceback" in loud.stderr
    assert "StoreError" in loud.stderr


def test_an_unforeseen_error_is_called_a_bug(cli, monkeypatch):
    import fullrank.core.registry as registry

    monkeypatch.setattr(registry, "names", lambda kind: 1 / 0)
    said = cli("list", "models")
    assert said.code == 3
    assert said.err == (
        "fullrank: this is a bug in fullrank, please report it: ZeroDivisionError: division by "
        "zero (--debug shows where)\n"
    )


def test_a_reader_that_leaves_is_no_error():
    process = subprocess.Popen(
        command("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


def test_json_is_alone_on_stdout_whatever_is_warned_of(cli, lists):
    said = cli(
        "evaluate", "--recs", lists / "a.csv", "--truth", lists / "truth.csv", "-m", "ndcg@50",
        "--json",
    )  # fmt: skip
    assert said.code == 0
    assert said.err.startswith("fullrank: warning: every list has 8 items")
    assert said.json()["metrics"]


@pytest.mark.parametrize("seconds", [False, True])
def test_a_terminal_sees_progress_and_a_pipe_does_not(tmp_path, seconds):
    tune = {"metric": "ndcg@10", "seconds": 0.3} if seconds else {"metric": "ndcg@10", "trials": 3}
    path = bench(tmp_path, tune=tune)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("run", path),
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**environment(), "TERM": "xterm"},
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    out = process.stdout.read()
    process.stdout.close()
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    assert b"EASE" in shown
    assert b"Traceback" not in shown
    assert "\x1b" not in out
    again = call("run", path)
    assert "nothing to do" in again.stderr
    assert "\x1b" not in again.stderr


def test_light_commands_load_nothing_heavy():
    code = (
        "import sys\nfrom fullrank.cli._run import run\nrun(['--version'])\n"
        "heavy = {'polars', 'pandas', 'numba', 'scipy', 'optuna', 'altair', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stderr == "[]\n"


def test_the_module_and_the_script_are_the_same_command():
    assert json.loads(call("list", "metrics", "--json").stdout)
    script = Path(sys.executable).with_name("fullrank")
    if script.exists():
        done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == call("--version").stdout
