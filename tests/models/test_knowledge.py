"""Triples and vectors of items from files: forms, refusals, wrong tails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fullrank.core.errors import DataError
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._knowledge import Corrupted, Triples, Vectors

ROWS = [("5", "genre", "drama"), ("7", "genre", "drama"), ("7", "by", "Ann"), ("9", "by", "5")]
ITEMS = Vocabulary.of([5, 7, 8, 9], "item")


def _written(folder: Path, rows=ROWS, header="head\trelation\ttail\n", name="kg.tsv") -> Path:
    path = folder / name
    path.write_text(header + "".join("\t".join(row) + "\n" for row in rows))
    return path


def _named(triples: Triples) -> list[tuple[str, ...]]:
    nodes, kinds = triples.nodes.ids, triples.relations.ids
    return [(nodes[h], kinds[r], nodes[t]) for h, r, t in triples.rows]


@pytest.mark.parametrize(
    "header",
    [
        "head\trelation\ttail\n",
        "",
        "head_id:token\trelation_id:token\ttail_id:token\n",
        "Subject\tPredicate\tObject\n",
    ],
)
def test_columns_are_found_by_name_or_place(tmp_path, header):
    triples = Triples.read(_written(tmp_path, header=header))
    assert sorted(_named(triples)) == sorted(ROWS)
    assert triples.of_items(ITEMS).tolist()[2] == -1  # item 8 is in no triple
    assert [triples.nodes.ids[n] for n in triples.of_items(ITEMS)[[0, 1, 3]]] == ["5", "7", "9"]


def test_other_formats_orders_of_columns_and_numbers_say_the_same(tmp_path):
    wanted = Triples.read(_written(tmp_path)).fingerprint
    frame = pl.DataFrame(ROWS, schema=["head", "relation", "tail"], orient="row")
    frame.select("tail", "head", "relation").write_csv(tmp_path / "kg.csv")
    frame.with_columns(pl.col("head").cast(pl.Int64)).write_parquet(tmp_path / "kg.parquet")
    frame.sample(fraction=1, shuffle=True, seed=3).write_parquet(tmp_path / "mixed.parquet")
    for name in ("kg.csv", "kg.parquet", "mixed.parquet"):
        assert Triples.read(tmp_path / name).fingerprint == wanted
    other = _written(tmp_path, [*ROWS[:3], ("9", "by", "7")], name="other.tsv")
    assert Triples.read(other).fingerprint != wanted


def test_triples_that_come_twice_count_once(tmp_path):
    assert len(Triples.read(_written(tmp_path, ROWS + ROWS[:2])).rows) == len(ROWS)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("head\trelation\ttail\n", "holds no triples"),
        ("head\trelation\n5\tgenre\n", "columns head, relation; expected head, relation and tail"),
        ("from\tkind\tto\tn\na\tb\tc\t1\n", "expected head, relation and tail"),
        ("head\trelation\ttail\n5\tgenre\t\n", "line 2: no tail .*rename .* holds them to 'tail'"),
        ("5\t\tdrama\n7\tby\tAnn\n", r"line 1: no relation \(column 'relation' holds None"),
        ("1\t2\t3\t4\n5\t6\t7\t8\n", "has the 4 columns unnamed; expected head"),
        ("head,relation,tail\n1,2\n", "line 2: .* found 2 .*no reading options .*: mend it"),
    ],
)
def test_files_that_hold_no_triples_are_refused(tmp_path, content, told):
    (tmp_path / "kg.tsv").write_text(content)
    with pytest.raises(DataError, match=told) as found:
        Triples.read(tmp_path / "kg.tsv")
    assert "kg.tsv" in str(found.value)
    assert "--" not in str(found.value)  # `fullrank run` has no option for these files


def test_a_file_that_is_not_there_and_one_about_others(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        Triples.read(tmp_path / "none.tsv")
    triples = Triples.read(_written(tmp_path))
    with pytest.raises(DataError, match="none of the 2 items is a head or tail"):
        triples.of_items(Vocabulary.of(["x", "y"], "item"))


def _graph(folder: Path, n: int = 9) -> Triples:
    """Heads a and b, with 0 … 3 and 0, 2, 4, 6 as tails by one relation, and 8 by another."""
    rows = [("a", "r", str(t)) for t in range(4)] + [("b", "r", str(2 * t)) for t in range(4)]
    return Triples.read(_written(folder, [*rows, ("b", "s", "8")]))


def test_wrong_tails_are_uniform_over_all_others(tmp_path):
    triples = _graph(tmp_path)
    corrupted = Corrupted(triples, 1)
    nodes = set(triples.nodes.ids)
    assert nodes == {"a", "b", *"01234", "6", "8"}
    rows = np.arange(len(triples.rows))
    drawn = np.stack([corrupted.draw(rows, turn) for turn in range(4000)])
    told = _named(triples)
    for row, (head, kind, _) in enumerate(told):
        free = nodes - {t for h, k, t in told if (h, k) == (head, kind)}
        names, counts = np.unique(triples.nodes.ids[drawn[:, row]], return_counts=True)
        assert set(names) == free
        share, wanted = counts / 4000, 1 / len(free)
        assert np.abs(share - wanted).max() < 4 * np.sqrt(wanted / 4000)


def test_each_pass_has_every_triple_once_and_starts_anywhere(tmp_path):
    triples = _graph(tmp_path)
    corrupted, n = Corrupted(triples, 1), len(triples.rows)
    whole = corrupted.take(0, 3 * n)
    for turn in range(3):
        part = whole[turn * n : (turn + 1) * n]
        np.testing.assert_array_equal(np.unique(part[:, :3], axis=0), triples.rows)
    assert (whole[:n, :3] != whole[n : 2 * n, :3]).any()
    np.testing.assert_array_equal(Corrupted(triples, 1).take(7, 13), whole[7:20])
    assert (Corrupted(triples, 2).take(0, n) != whole[:n]).any()


def test_heads_that_every_node_follows_have_no_wrong_tail(tmp_path):
    rows = [("a", "r", "a"), ("a", "r", "b"), ("b", "r", "a")]
    assert Corrupted(Triples.read(_written(tmp_path, rows)), 0).rows.tolist() == [2]
    with pytest.raises(DataError, match="no wrong triple can be drawn"):
        Corrupted(Triples.read(_written(tmp_path, rows[:2])), 0)


def test_vectors_of_all_forms_say_the_same(tmp_path):
    rows = np.array([[1.0, 2.0, -1.0], [0.0, 3.0, 1.0]], np.float32)
    np.savez(tmp_path / "a.npz", item_id=np.array([9, 5]), vector=rows)
    frame = pl.DataFrame({"item_id": [9, 5], "vector": rows.tolist()})
    frame.write_parquet(tmp_path / "b.parquet")
    wide = pl.DataFrame({"item_id": [9, 5], "x": rows[:, 0], "y": rows[:, 1], "z": rows[:, 2]})
    wide.write_csv(tmp_path / "c.csv")
    wanted = rows / np.sqrt(16 / 6)
    for name in ("a.npz", "b.parquet", "c.csv"):
        found = Vectors.read(tmp_path / name)
        np.testing.assert_allclose(found.rows, wanted, rtol=1e-6)
        given, there = found.of_items(ITEMS)
        assert there.tolist() == [True, False, False, True]
        np.testing.assert_allclose(given[[3, 0]], wanted, rtol=1e-6)
        assert (given[1:3] == 0).all()
    assert len({Vectors.read(tmp_path / n).fingerprint for n in ("a.npz", "b.parquet")}) == 1


def test_an_id_that_is_missing_advises_no_option(tmp_path):
    (tmp_path / "v.csv").write_text("item_id,x\n,1\n5,2\n")
    with pytest.raises(DataError, match=r"line 2: no item_id .*rename the column .*'item_id'$"):
        Vectors.read(tmp_path / "v.csv")


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"item_id": np.array([1, 2]), "vector": np.ones((3, 2))}, r"shape \(2, f\)"),
        ({"item_id": np.array([1, 1]), "vector": np.ones((2, 2))}, "'1' twice"),
        ({"item_id": np.array([1, 2]), "vector": np.array([[1.0], [np.nan]])}, "item '2'"),
        ({"item_id": np.array([1, 2]), "vector": np.array([[1.0], [1e300]])}, r"'2' .*1e\+30"),
        ({"item_id": np.array([1.0]), "vector": np.ones((1, 2))}, "integers or text"),
        ({"ids": np.array([1])}, "arrays ids; expected item_id and vector"),
        ({"item_id": np.zeros(0, int), "vector": np.ones((0, 2))}, "holds no vectors"),
    ],
)
def test_vectors_that_are_none_are_refused(tmp_path, arrays, told):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(DataError, match=told) as found:
        Vectors.read(tmp_path / "v.npz")
    assert "v.npz" in str(found.value)


def test_tables_of_vectors_that_are_none_are_refused(tmp_path):
    pl.DataFrame({"item_id": [1, 2], "vector": [[1.0], [1.0, 2.0]]}).write_parquet(
        tmp_path / "v.parquet"
    )
    with pytest.raises(DataError, match="lists of one length"):
        Vectors.read(tmp_path / "v.parquet")
    (tmp_path / "v.npz").write_text("no archive")
    with pytest.raises(DataError, match="can't be read as npz"):
        Vectors.read(tmp_path / "v.npz")
    with pytest.raises(DataError, match="no such file"):
        Vectors.read(tmp_path / "none.npz")
    np.savez(tmp_path / "w.npz", item_id=np.array([1]), vector=np.ones((1, 2)))
    with pytest.raises(DataError, match="none of the 4 items has a vector"):
        Vectors.read(tmp_path / "w.npz").of_items(ITEMS)
