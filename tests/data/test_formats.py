"""One small log in every format gives the same interactions."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import polars as pl
import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.data import read, read_table
from fullrank.data._options import ReadOptions
from fullrank.data._tables import load_table

ROWS = [("u1", 10, 4.0, 100), ("u2", 11, 5.0, 200), ("u1", 12, 1.5, 300)]
HEADER = ["user_id", "item_id", "rating", "timestamp"]


def text(separator: str, header: list[str] | None = None, end: str = "\n") -> bytes:
    lines = [separator.join(map(str, row)) for row in ([header] if header else []) + ROWS]
    return (end.join(lines) + end).encode()


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=HEADER, orient="row")


def zipped(data: bytes, *names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, data)
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    frame().write_parquet(out)
    return out.getvalue()


def arrow(stream: bool) -> bytes:
    out = io.BytesIO()
    frame().write_ipc_stream(out) if stream else frame().write_ipc(out)
    return out.getvalue()


FILES = {
    "csv": text(",", HEADER),
    "tsv": text("\t", HEADER),
    "semicolon": text(";", HEADER),
    "pipe": text("|", HEADER),
    "double colon": text("::"),
    "double colon with header": text("::", HEADER),
    "blanks": text("   ").replace(b"u2", b"  u2"),
    "no header": text(","),
    "no last line end": text(",").rstrip(),
    "crlf": text(",", HEADER, "\r\n"),
    "old mac": text(",", HEADER, "\r"),
    "byte-order mark": b"\xef\xbb\xbf" + text(",", HEADER),
    "blank lines": b"\n" + text(",", HEADER).replace(b"\nu2", b"\n\n\nu2") + b"\n",
    "quoted": b'"user_id","item_id","rating","timestamp"\n"u1","10","4","100"\r\n'
    b'"u2","11","5.0","200"\n"u1",12,1.5,"300"',
    "other names": text(",", ["userId", "movieId", "Stars", "unix_time"]),
    "recbole": text("\t", ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]),
    "parquet": parquet(),
    "arrow file": arrow(stream=False),
    "arrow stream": arrow(stream=True),
    "jsonl": frame().write_ndjson().encode(),
    "gz": gzip.compress(text(",", HEADER)),
    "gz of parquet": gzip.compress(parquet()),
    "zip": zipped(text(",", HEADER), "a/log.csv"),
    "zip with company": zipped(text("::"), "__MACOSX/x", "a/log.dat", "a/README", "licence.md"),
}


@pytest.fixture(scope="module")
def expected() -> str:
    return read(frame()).interactions.fingerprint


@pytest.mark.parametrize("name", FILES)
def test_formats_agree(name: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "data"  # no suffix: content decides
    path.write_bytes(FILES[name])
    data = read(path).interactions
    assert data.user_ids.tolist() == ["u1", "u1", "u2"]
    assert data.item_ids.tolist() == [10, 12, 11]
    assert data.values is not None
    assert data.times is not None
    assert data.values.tolist() == [4.0, 1.5, 5.0]
    assert data.times.tolist() == [100, 300, 200]
    assert data.fingerprint == expected


def write(folder: Path, content: str | bytes, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_what_was_assumed_is_recorded(tmp_path: Path) -> None:
    data = read(write(tmp_path, FILES["no header"]))
    assert "no header, columns taken as user_id, item_id, rating, timestamp" in data.source.notes
    assert data.interactions.recipe[0]["step"] == "read"
    assert data.interactions.recipe[0]["format"] == "delimited"


def test_two_columns_are_user_and_item(tmp_path: Path) -> None:
    data = read(write(tmp_path, "7 1\n7 3\n8 2\n")).interactions
    assert data.values is None
    assert data.times is None
    assert data.user_ids.tolist() == [7, 7, 8]


def test_third_column_is_a_time_if_it_looks_like_one(tmp_path: Path) -> None:
    data = read(write(tmp_path, "a,b,1700000000\na,c,1700000001\n")).interactions
    assert data.values is None
    assert data.times is not None
    assert data.times.tolist() == [1_700_000_000, 1_700_000_001]


def test_further_columns_are_extras(tmp_path: Path) -> None:
    content = "user,item,shop,price,note\nu,i,3,1.5,x\nu,j,,2.5,\n"
    extras = read(write(tmp_path, content)).interactions.extras
    assert extras["price"].tolist() == [1.5, 2.5]
    assert extras["note"].tolist() == ["x", ""]
    assert extras["shop"][0] == 3.0
    assert extras["shop"][1] != extras["shop"][1]  # NaN


def test_unknown_names_need_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "who,what\nu,1\nu,2\n")
    with pytest.raises(DataError, match=r"no column for user_id \(found: who, what\).*--columns"):
        read(path)
    data = read(path, columns={"user_id": "who", "item_id": "what"}).interactions
    assert data.item_ids.tolist() == [1, 2]
    with pytest.raises(SpecError, match="no such column"):
        read(path, columns={"user_id": "who", "item_id": "whot"})
    with pytest.raises(SpecError, match="no role 'item'; did you mean 'item_id'"):
        read(path, columns={"user_id": "who", "item": "what"})


def test_columns_of_a_file_without_header(tmp_path: Path) -> None:
    path = write(tmp_path, "i1,u1\ni2,u1\n")
    data = read(path, columns={"user_id": "column_2", "item_id": "column_1"}).interactions
    assert data.user_ids.tolist() == ["u1", "u1"]
    assert data.item_ids.tolist() == ["i1", "i2"]


def test_a_named_column_displaces_the_usual_one(tmp_path: Path) -> None:
    path = write(tmp_path, "session_id;user_id;item_id\n1;NA;5\n2;NA;6\n")
    with pytest.raises(DataError, match="line 2: no user_id"):
        read(path)
    data = read(path, columns={"user_id": "session_id"})
    assert data.interactions.user_ids.tolist() == [1, 2]
    assert "'user_id' left out" in data.source.notes


def test_header_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nc,d\n")
    assert len(read(path).interactions) == 2
    one = read(path, header=True, columns={"user_id": "a", "item_id": "b"})
    assert one.interactions.user_ids.tolist() == ["c"]
    path = write(tmp_path, "user,item\nu,i\n")
    assert len(read(path, header=False).interactions) == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("u1,i1,a;b\nu1,i2,c;d\n", "','"),
        ("u1;i1;3,5\nu1;i2;4,0\n", "';'"),
        ('u1\ti1\t"a, b, c"\nu2\ti2\t"d, e, f"\n', "tab"),
        ("user,item,a;b;c\nu,i,1;2;3\n", "','"),
        ("u1,i1,2020-01-01 10:00\nu1,i2,2020-01-01 11:00\n", "','"),
        ("1|2|a,b\n1|3|c\n", "'|'"),
        ("1  2\t3\n1 3 4\n", "blanks"),
    ],
)
def test_separators(content: str, expected: str, tmp_path: Path) -> None:
    table = load_table(write(tmp_path, content), ReadOptions())
    assert table.notes[0] == f"separator: {expected}"


def test_blanks_after_separators(tmp_path: Path) -> None:
    path = write(tmp_path, "user, item, rating\n1, 10, 4.0\n2, 11, 5.0\n")
    data = read(path)
    assert data.interactions.item_ids.tolist() == [10, 11]
    assert "blanks before all values of item, rating left out" in data.source.notes


def test_a_pandas_index_is_no_column(tmp_path: Path) -> None:
    data = read(write(tmp_path, ",user_id,item_id\n0,u,1\n1,u,2\n"))
    assert data.interactions.extras == {}
    assert "index of a pandas frame" in data.source.notes


def test_header_named_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'user' more than once"):
        read(write(tmp_path, "user,user,item\n1,2,3\n"))


def test_trec(tmp_path: Path) -> None:
    qrels = write(tmp_path, "301 0 007 1\n301 0 D2 0\n", "qrels")
    assert read(qrels).interactions.user_ids.tolist() == ["301", "301"]
    run = write(tmp_path, "301\tQ0\t007\t1\t 2.5\ttag more\n301 Q0 D2 2 2.25 tag\n", "run")
    lists = read_table(run, kind="recommendations")
    assert lists.to_dicts() == [
        {"user_id": "301", "item_id": "007", "rank": 1.0, "score": 2.5},
        {"user_id": "301", "item_id": "D2", "rank": 2.0, "score": 2.25},
    ]
    with pytest.raises(DataError, match="recommendation list and no log"):
        read(run)


def test_lists(tmp_path: Path) -> None:
    lists = read_table(write(tmp_path, "u,x\nu,y\n"), kind="recommendations")
    assert lists.columns == ["user_id", "item_id"]
    lists = read_table(
        write(tmp_path, "user,item,prediction,why\nu,x,0.5,a\nu,y,nan,b\n"), kind="recommendations"
    )
    assert lists.columns == ["user_id", "item_id", "score", "why"]
    with pytest.raises(DataError, match="rank or a score"):
        read_table(write(tmp_path, "u,x,1\nu,y,2\n"), kind="recommendations")
    with pytest.raises(DataError, match=r"line 3: score must be a number, got 'high'"):
        read_table(write(tmp_path, "user,item,score\nu,x,1\nu,y,high\n"), kind="recommendations")


def test_sequences_and_matrices(tmp_path: Path) -> None:
    path = write(tmp_path, "0 5 3 5\n1\n2 4\n")
    data = read(path, format="sequence").interactions
    assert data.time_unit == "order"
    assert data.user_ids.tolist() == [0, 0, 0, 2]
    assert data.item_ids.tolist() == [5, 3, 5, 4]
    data = read(write(tmp_path, "0 4 0\n1 0 2\n"), format="matrix").interactions
    assert data.user_ids.tolist() == [0, 1, 1]
    assert data.item_ids.tolist() == [1, 0, 2]
    assert data.values is not None
    assert data.values.tolist() == [4, 1, 2]


def test_options_are_checked(tmp_path: Path) -> None:
    path = write(tmp_path, "u,i\n")
    with pytest.raises(SpecError, match="unknown format 'parqet'; did you mean 'parquet'"):
        read(path, format="parqet")
    with pytest.raises(SpecError, match="separator must be at most 2 ASCII signs"):
        read(path, separator="abc")
    with pytest.raises(SpecError, match="unknown encoding 'latin-42'"):
        read(path, encoding="latin-42")
    with pytest.raises(SpecError, match="unknown time_unit 'h'"):
        read(path, time_unit="h")
    with pytest.raises(DataError, match="is no Parquet file"):
        read(path, format="parquet")


def test_real_native_files_agree(real_data: Path) -> None:
    folder = real_data / "ml-100k"
    prints = {
        read(folder / name).interactions.fingerprint
        for name in ("interactions.parquet", "native/u.data", "native/ml-100k.inter")
    }
    assert len(prints) == 1


@pytest.mark.parametrize("name", ["ml-1m_sample.dat", "ml-10m_sample.dat", "ml-25m_sample.csv"])
def test_real_movielens_formats(name: str, real_data: Path) -> None:
    data = read(real_data / "movielens-format-samples" / "native" / name).interactions
    assert len(data) == 10_000 - name.endswith(".csv")  # the csv has a header
    assert data.values is not None
    assert data.times is not None
    assert data.user_vocab.kind == data.item_vocab.kind == "integer"


def test_real_sequences(real_data: Path) -> None:
    native = read(real_data / "amazon-beauty-seq" / "native" / "Beauty.txt", format="sequence")
    stored = read(real_data / "amazon-beauty-seq" / "interactions.parquet")
    assert native.interactions.fingerprint == stored.interactions.fingerprint


def test_real_trec_files(real_data: Path) -> None:
    folder = real_data / "trec-eval" / "native"
    run = read_table(folder / "results.test", kind="recommendations")
    assert len(run) == 1500
    assert len(read_table(folder / "results.trunc", kind="recommendations")) > 0
    qrels = read_table(folder / "qrels.test")
    # num_rel of query 301 in the suite's expected output.
    assert len(qrels.filter((pl.col("user_id") == "301") & (pl.col("rating") > 0))) == 474
