"""Runs that are killed, shared or repeated leave what one quiet run leaves."""

import json
import os
import signal
import subprocess
import time

import pytest
from benchmarks.kill_resume import differences, kill_and_resume
from tests.experiment.worlds import bench, call, command, environment, tables

from fullrank.experiment.results import Results
from fullrank.experiment.run import run
from fullrank.experiment.store import Store

MODELS = [
    {"name": "Popularity"},
    {"name": "Random"},
    {"name": "ItemKNN", "search": {"neighbours": {"low": 1, "high": 30}}},
    {"name": "EASE", "search": {"reg": {"low": 0.1, "high": 1000.0, "log": True}}},
    {"name": "IALS", "search": {"reg": {"low": 1e-4, "high": 0.1, "log": True}}},
]


def tuned(trials):
    return {"model": MODELS, "tune": {"metric": "ndcg@10", "trials": trials}}


def start(*arguments):
    return subprocess.Popen(
        command(*arguments),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.005)
    pytest.fail(f"nothing happened in {seconds:g} s")


def test_kill_9_at_random_moments_changes_nothing(tmp_path):
    path = bench(tmp_path, **tuned(25))
    found = kill_and_resume(path, tmp_path / "out", kills=4, seed=5, env=environment())
    assert found.differences == ()
    assert len(found.kills) == 4
    done = [kill.trials + kill.cells for kill in found.kills]
    assert done == sorted(done)
    assert done[0] < done[-1]  # the kills fell into the work
    results = Results.load(tmp_path / "out" / "killed")
    assert [c.about["tuning"]["trials"] for c in results.cells if c.about["tuning"]] == [25] * 4


def test_the_comparison_sees_a_difference(tmp_path):
    run(bench(tmp_path, **tuned(2)), tmp_path / "a")
    run(bench(tmp_path, **tuned(3)), tmp_path / "b")
    found = differences(tmp_path / "a", tmp_path / "b")
    assert sum(text.startswith("trial ") for text in found) == 3
    assert differences(tmp_path / "a", tmp_path / "a") == []


def test_two_processes_share_a_store(tmp_path):
    path = bench(tmp_path, **tuned(12))
    alone = call("run", path, "--store", tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    both = [start("run", path, "--store", tmp_path / "both") for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    assert differences(tmp_path / "alone", tmp_path / "both") == []
    with Store.open(tmp_path / "both").session():
        assert list((tmp_path / "both" / "tmp").iterdir()) == []


def test_jobs_share_the_work_and_change_nothing(tmp_path):
    path = bench(tmp_path, **tuned(12), split={"strategy": "KFold", "k": 2, "valid": 0.2})
    one = call("run", path, "--store", tmp_path / "one", "--json")
    two = call("run", path, "--store", tmp_path / "two", "--json", "--jobs", "2")
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert len(tables(tmp_path / "one")) == 2 * 3 * 7  # folds × tables × cells
    assert differences(tmp_path / "one", tmp_path / "two") == []
    assert json.loads(one.stdout)["leaderboard"] == json.loads(two.stdout)["leaderboard"]
    assert json.loads(two.stdout)["fresh"] == 2 * (7 + 3 * 12)


def test_dates_of_the_file_mean_the_same_to_helpers(tmp_path):
    path = bench(tmp_path, **tuned(2))
    text = path.read_text().replace(
        'strategy = "GlobalTime"\nvalid = 0.2\ntest = 0.2',
        'strategy = "GlobalCut"\ncut = 1972-03-01\nvalid = 1971-09-01',
    )
    assert "cut" in text
    path.write_text(text)
    results = run(path, tmp_path / "one")
    done = call("run", path, "--store", tmp_path / "two", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    recipe = results.cells[0].about["protocol"]["split"]["recipe"]
    assert str(recipe["cut"]).startswith("1972-03-01")


def test_helpers_end_with_a_killed_run(tmp_path):
    path = bench(tmp_path, **tuned(400))
    process = start("run", path, "--store", tmp_path / "store", "--jobs", "2")
    until(lambda: len(list((tmp_path / "store").glob("tune/*/trial-*.json"))) > 2)
    children = [
        int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent_of(pid) == process.pid
    ]
    assert children
    process.kill()
    process.communicate()
    until(lambda: not any(alive(pid) for pid in children), seconds=20)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_results_are_equal_for_one_core_and_all(tmp_path):
    models = [*MODELS, {"name": "UserKNN"}, {"name": "PureSVD", "settings": {"embedding_dim": 8}}]
    path = bench(tmp_path, **tuned(4) | {"model": models})
    core = min(os.sched_getaffinity(0))
    single = {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    outputs = []
    for name, extra, cores in (("one", single, {core}), ("all", {}, os.sched_getaffinity(0))):
        done = subprocess.run(
            command("run", path, "--store", tmp_path / name, "--json"),
            env={**environment(), **extra},
            preexec_fn=lambda cores=cores: os.sched_setaffinity(0, cores),
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(json.loads(done.stdout)["leaderboard"])
    assert differences(tmp_path / "one", tmp_path / "all") == []
    assert outputs[0] == outputs[1]


def test_ctrl_c_keeps_the_progress_and_says_so(tmp_path):
    path = bench(tmp_path, **tuned(400))
    process = start("run", path, "--store", tmp_path / "store")
    until(lambda: len(list((tmp_path / "store").glob("tune/*/trial-*.json"))) > 2)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert errors.strip().startswith("fullrank: stopped; finished trials and cells are kept")
    assert "Traceback" not in errors
    kept = len(list((tmp_path / "store").glob("tune/*/trial-*.json")))
    bench(tmp_path, **tuned(1))
    done = call("run", path, "--store", tmp_path / "store", "--json")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "store").glob("tune/*/trial-*.json"))) in range(kept, kept + 3)


def test_the_same_command_again_does_nothing_and_says_so(tmp_path):
    path = bench(tmp_path, **tuned(3))
    first = call("run", path)
    assert first.returncode == 0, first.stderr
    assert "nothing to do" not in first.stderr
    store = tmp_path / "runs" / "bench"
    before = {p: p.stat().st_mtime_ns for p in store.glob("cells/*/*")}
    again = call("run", path)
    assert again.returncode == 0
    assert again.stderr == f"fullrank: nothing to do: all 7 cells are in {store}\n"
    assert again.stdout == first.stdout
    assert before == {p: p.stat().st_mtime_ns for p in store.glob("cells/*/*")}
