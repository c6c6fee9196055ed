"""What messages advise works; and the faults that only code can make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.bad_input.corpus import Case, Outcome, run_case

import fullrank
from fullrank.core.errors import DataError, FullrankError
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary

USERS, ITEMS = Vocabulary.of(["u16", "u17"], "user"), Vocabulary.of(["i1", "i4"], "item")


def call(command: str, folder: Path) -> Outcome:
    return run_case(Case("", command, "", ""), folder)


def test_overlap_of_history_and_targets_by_hand() -> None:
    with pytest.raises(FullrankError) as caught:
        Queries.from_lists(
            np.array([0, 1], np.int32), [[0], [0, 1]], [[1], [1]],
            user_vocab=USERS, item_vocab=ITEMS,
        )  # fmt: skip
    for part in ("overlap", "1 quer", "'u17'", "'i4'", "repeats='keep'"):
        assert part in str(caught.value)


def test_d11_latin_1_with_escapes_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "books.csv").write_bytes(
        b'"user";"item";"title";"score"\n"u1";"0001";"Caf\xe9; suite";"8"\n'
        b'"u2";"0002";"Le \\"Grand\\" soir";"0"\n"u3";"000X";"plain";"5"\n'
    )
    refused = call("data info books.csv", tmp_path)
    assert refused.code == 2
    assert "books.csv, line 2: byte 0xe9" in refused.stderr
    told = r"--read encoding=latin-1 --read 'escape=\'"
    done = call(f"data convert books.csv -o books.parquet {told}", tmp_path)
    assert done.code == 0, done.stderr
    rows = fullrank.read(tmp_path / "books.parquet").interactions
    assert rows.item_ids.tolist() == ["0001", "0002", "000X"]
    assert rows.extras["title"].tolist() == ["Café; suite", 'Le "Grand" soir', "plain"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("data info utf16.csv", "data info utf16.csv --read encoding=utf-16"),
        (
            "evaluate --recs recs.csv --truth truth.csv --train truth.csv -m ndcg@3",
            "evaluate --recs recs.csv --truth truth.csv --train truth.csv -m ndcg@3 --keep-seen",
        ),
        (
            "evaluate --recs recs.csv --truth truth_plays.csv -m ndcg@3 --grade plays",
            "evaluate --recs recs.csv --truth truth_plays.csv -m 'ndcg(gain=linear)@3' "
            "--grade plays",
        ),
        (
            "compare evaluation.parquet other_evaluation.parquet",
            "compare evaluation.parquet other_evaluation.parquet --force",
        ),
        (
            "split missing_times.csv -o {out} --strategy GlobalTime --set test=0.4 --set valid=0.0",
            "split missing_times.csv -o {out} --strategy GlobalTime --set test=0.4 --set valid=0.0 "
            "--filter drop_missing_time={{}}",
        ),
        (
            "split parts.csv -o {out} --strategy Given",
            "split parts.csv -o {out} --strategy Given --set 'left_out=[\"holdout\"]'",
        ),
        (
            "evaluate --recs recs_three_columns.csv --truth truth.csv -m ndcg@3",
            "evaluate --recs recs_three_columns.csv --truth truth.csv -m ndcg@3 --columns "
            "user_id=column_1,item_id=column_2,rank=column_3",
        ),
    ],
)
def test_the_remedy_works(wrong: str, right: str, inputs: Path, tmp_path: Path) -> None:
    refused = call(wrong.format(out=tmp_path / "out"), inputs)
    assert refused.code == 2
    done = call(right.format(out=tmp_path / "out"), inputs)
    assert done.code == 0, (refused.stderr, done.stderr)


def test_a_place_that_the_system_refuses(inputs: Path) -> None:
    refused = call("data convert log.csv -o /proc/nothing/log.csv", inputs)
    assert refused.code == 2
    assert refused.stderr.count("\n") == 1
    assert "/proc/nothing" in refused.stderr
    assert "check the path and its permissions" in refused.stderr


def test_a_line_break_in_an_id_stays_one_message(tmp_path: Path) -> None:
    (tmp_path / "recs.csv").write_text('user_id,item_id,rank\n"u\n1",a,1\n"u\n1",b,1\n')
    (tmp_path / "truth.csv").write_text('user_id,item_id\n"u\n1",a\n')
    refused = call("evaluate --recs recs.csv --truth truth.csv -m ndcg@3", tmp_path)
    assert refused.code == 2
    assert refused.stderr.count("\n") == 1


def test_an_interrupted_write_keeps_the_old_file(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "log.csv"
    old.write_text("old\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", str(old))

    monkeypatch.setattr("fullrank.data.writing._write", fail)
    refused = call(f"data convert log.csv -o {old}", inputs)
    assert refused.code == 2
    assert "No space left on device" in refused.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old\n"]


def test_a_mapping_with_mixed_ids() -> None:
    with pytest.raises(DataError, match="all text or all integers"):
        fullrank.evaluate({"u": ["a", 1]}, {"u": ["a"]}, ["ndcg@3"])
