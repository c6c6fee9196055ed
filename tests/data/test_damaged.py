"""Files that can't be used: one clear error each (D12 of the public faults, the local part)."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullrank.core.errors import DataError, FullrankError
from fullrank.data import read


def csv_bytes(rows: int = 2000) -> bytes:
    return b"user,item\n" + b"".join(b"u%d,i%d\n" % (j, j * 7 % 97) for j in range(rows))


def zip_bytes(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def parquet_bytes() -> bytes:
    out = io.BytesIO()
    pl.DataFrame({"user_id": range(5000), "item_id": range(5000)}).write_parquet(out)
    return out.getvalue()


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


HTML = b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("log.csv", b"", "is empty; expected a table"),
        ("log.csv", b"\n \n\n", "is empty; expected a table"),
        ("log.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("log.csv", HTML, "holds a web page, not a table"),
        ("log.zip", HTML, "holds a web page, not a table"),
        ("log.csv", b"\xef\xbb\xbf  <html>", "holds a web page"),
        ("log.zip", half(zip_bytes(a=csv_bytes())), "zip archive that is damaged or cut short"),
        ("log.gz", half(gzip.compress(csv_bytes())), "gzip file that is damaged or cut short"),
        ("log.gz", gzip.compress(csv_bytes())[:-20] + b"x" * 20, "gzip file that is damaged"),
        ("log.parquet", half(parquet_bytes()), "Parquet file that is damaged or cut short"),
        ("log.parquet", parquet_bytes()[:-40], "Parquet file that is damaged or cut short"),
        ("log.parquet", b"PAR1", "Parquet file that is damaged or cut short"),
        ("log.arrow", b"ARROW1\0\0" + b"x" * 50, "Arrow file that is damaged or cut short"),
        ("log.zip", zip_bytes(), "expected one table in .*, found 0"),
        ("log.zip", zip_bytes(a=b"1,2\n", b=b"1,2\n"), "found 2: a, b; unpack the archive"),
        ("x.xlsx", zip_bytes(**{"[Content_Types].xml": b"x"}), "office document"),
        ("log.bz2", b"BZh91AY", "bzip2 archive; unpack it first"),
        ("model.pkl", b"\x80\x04\x95", "pickle, which is never read"),
        ("log.jsonl", b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item', "line 2: is no JSON"),
        ("log.jsonl", b'{"user_id": 1, "item_id": 2}\n[1, 2]\n', "line 2: is no object"),
        ("log.json", b'[{"user_id": 1, "item_id": 2}]', "one JSON array; write JSON lines"),
        ("words.txt", b"hello\nworld\n", r"no column for user_id|no column for item_id"),
    ],
)  # fmt: skip
def test_damaged_files(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        read(path)
    assert name in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]  # nothing left behind


def test_a_bad_zip_then_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    whole = zip_bytes(a=csv_bytes())
    path.write_bytes(half(whole))
    with pytest.raises(DataError):
        read(path)
    path.write_bytes(whole)
    assert len(read(path).interactions) == 2000


def test_flipped_bits_in_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    whole = bytearray(zip_bytes(a=csv_bytes()))
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(bytes(whole))
    with pytest.raises(DataError, match="damaged or cut short"):
        read(path)


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder, with no file in it"):
        read(tmp_path)
    (tmp_path / "ratings.csv").write_text("user,item\nu,i\n")
    with pytest.raises(DataError, match=r"is a folder; name a file in it: ratings\.csv"):
        read(tmp_path)
    with pytest.raises(DataError, match=r"there is no file .*did you mean 'ratings\.csv'"):
        read(tmp_path / "rating.csv")
    with pytest.raises(DataError, match="and no folder"):
        read(tmp_path / "none" / "x.csv")


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_parquet_cut_anywhere(tmp_path: Path, cut: int) -> None:
    data = parquet_bytes()
    path = tmp_path / "log.parquet"
    path.write_bytes(data[: max(4, len(data) * cut // 60)])
    with pytest.raises(DataError, match="damaged or cut short"):
        read(path)


signs = st.sampled_from([*'ab01.,;|\t "\n\r{}[]:-', "user", "item", "rating", "time", "é"])


@given(content=st.lists(signs, max_size=25).map("".join).map(str.encode) | st.binary(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_any_content_is_read_or_refused_in_words(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with contextlib.suppress(FullrankError):
        assert len(read(path).interactions) > 0
