"""Encodings, quotes and malformed rows of delimited text."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError
from fullrank.data import read, read_table
from fullrank.kernels import delimited

# D11 of the public faults, as given there.
LATIN = (
    b'"user";"item";"title";"score"\n'
    b'"u1";"0001";"Caf\xe9; suite";"8"\n'
    b'"u2";"0002";"Le \\"Grand\\" soir";"0"\n'
    b'"u3";"000X";"plain";"5"\n'
)


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "log.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_latin_1_when_told(tmp_path: Path) -> None:
    data = read(write(tmp_path, LATIN), encoding="latin-1", escape="\\").interactions
    assert data.user_ids.tolist() == ["u1", "u2", "u3"]
    assert data.item_ids.tolist() == ["0001", "0002", "000X"]
    assert data.extras["title"].tolist() == ["Café; suite", 'Le "Grand" soir', "plain"]
    assert data.values is not None
    assert data.values.tolist() == [8, 0, 5]


def test_latin_1_when_not_told(tmp_path: Path) -> None:
    path = write(tmp_path, LATIN)
    with pytest.raises(DataError, match=r"line 2: byte 0xe9 is not valid UTF-8.*encoding='latin-1"):
        read(path)
    with pytest.raises(DataError, match=r"line 3: a stray quote; pass escape='\\\\'"):
        read(path, encoding="latin-1")


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_variants_of_the_latin_1_file(tmp_path: Path, separator: str, header: bool) -> None:
    lines = LATIN.decode("latin-1").replace('";"', f'"{separator}"').splitlines(keepends=True)
    text = "".join(lines if header else lines[1:])
    path = write(tmp_path, b"\xef\xbb\xbf" + text.encode())
    columns = None if header else {"user_id": "column_1", "item_id": "column_2"}
    data = read(path, escape="\\", columns=columns).interactions
    assert data.item_ids.tolist() == ["0001", "0002", "000X"]


def test_result_is_free_of_the_language_setting(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,title\nu1,1,Café\nu1,2,日本\n")
    program = (
        "import sys; from fullrank.data import read; d = read(sys.argv[1]).interactions; "
        "print(d.fingerprint, ascii(d.extras['title'].tolist()))"
    )
    found = set()
    for settings in ({"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}):
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert "Caf\\xe9" in found.pop()


def test_utf_16(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item\nu,ä\n".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16; pass encoding='utf-16'"):
        read(path)
    assert read(path, encoding="utf-16").interactions.item_ids.tolist() == ["ä"]


def test_a_fault_late_in_a_large_file(tmp_path: Path) -> None:
    head = b"user,item\n" + b"user-number-one,item-number-one\n" * 600_000
    path = write(tmp_path, head + b"u,\xff\n")
    with pytest.raises(DataError, match="line 600002: byte 0xff"):
        read(path)


def test_sign_cut_by_a_block_border(tmp_path: Path) -> None:
    # Blocks are 2**24 bytes: the two bytes of the letter lie on either side of the border.
    line = b"user,item\n"
    filler = b"u,i\n" * ((2**24 - len(line)) // 4)
    path = write(tmp_path, line + filler + b"," * 0 + "äu,b\n".encode())
    text = line + filler
    assert len(text) < 2**24
    pad = b"v" * (2**24 - len(text) - 1)
    path = write(tmp_path, text + pad + "ä,b\n".encode())
    assert read_table(path)["user_id"][-1] == pad.decode() + "ä"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user,item,rating\nu,i,1\nu,j\n", "line 3: expected 3 fields as in the first line, found"),
        ("user,item\nu,i\nu,j,k\nu,k\n", "line 3: expected 2 fields as in the first line, found 3"),
        ('user,item\nu,i"x\nu,j\n', "line 2: a stray quote"),
        ('user,item\nu,"i"x\n', "line 2: a stray quote"),
        ('user,item\nu,"a\nb"c\n', "line 3: a stray quote"),
        ('user,item\nu,i\nu,"j\nu,k\n', "line 3: opens a quote that is never closed"),
        ("user,item\nu,\0\n", "line 2: a NUL byte"),
        ("1::2::3\n1::3\n1::4::2\n", "line 2: expected 3 fields as in the first line, found 2"),
        ("1 2 3\n1 3 4 5\n", "line 2: expected 3 fields .*format='sequence'"),
        ("user,item,rating\nu,i,1\nu,j,\n", "line 3: rating must be finite, got None"),
        ("user,item,rating\nu,i,1\nu,j,NaN\n", "line 3: rating must be finite, got nan"),
        ("user,item,rating\nu,i,inf\nu,j,1\n", "line 2: rating must be finite, got inf"),
        ("user,item,rating\nu,i,1\nu,j,good\n", "line 3: rating must be a number, got 'good'"),
        ("user,item,rating\nu,i,1\nu,j,\"3,5\"\n", "line 3: rating must be a number, got '3,5'"),
        ("user,item\nu,i\n,j\n", r"line 3: no user_id \(column 'user' holds None; 1 such rows\)"),
        ("user,item\n1,i\nNA,j\n", "line 3: no user_id .*'NA'"),
        ("user,item\n", "columns but no rows"),
    ],
)  # fmt: skip
def test_malformed(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(write(tmp_path, text))


def test_quotes_can_be_ordinary_signs(tmp_path: Path) -> None:
    path = write(tmp_path, 'user\titem\nu\tthe "best"\nu\t"odd\n')
    data = read(path, quote="").interactions
    assert data.item_ids.tolist() == ['"odd', 'the "best"']
    dots = write(tmp_path, '1::a "b"::3\n1::c::4\n')
    assert read(dots).interactions.item_ids.tolist() == ['a "b"', "c"]


def test_line_ends_and_doubled_quotes_inside_quotes(tmp_path: Path) -> None:
    path = write(tmp_path, 'user,item,note\nu,1,"a\r\nb ""c"""\nu,2,\n')
    assert read(path).interactions.extras["note"].tolist() == ['a\r\nb "c"', ""]


def test_rows_after_odd_lines_are_numbered_as_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,rating\n\nu,1,1\nu,2,x\n")
    with pytest.raises(DataError, match="row 2: rating must be a number"):
        read(path)


fields = st.text(st.sampled_from('ab",\n é\r'), max_size=4)


@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(fields, min_size=n, max_size=n))))
def test_scan_keeps_what_the_csv_module_writes(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    again, status = scan(out.getvalue())
    assert status == delimited.OK
    assert list(csv.reader(io.StringIO(again, newline=""), strict=True)) == rows


@given(st.text(st.sampled_from('ab",\n'), max_size=30))
def test_scan_refuses_what_a_plain_reference_refuses(text: str) -> None:
    _, status = scan(text)
    assert (status == delimited.OK) == reference(text)


def scan(text: str) -> tuple[str, int]:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    out = np.empty(len(data) + 1, dtype=np.uint8)
    found = delimited.scan(
        data, np.frombuffer(b",", dtype=np.uint8), False, ord('"'), -1, ord(","), out
    )
    return out[: found[4]].tobytes().decode(), found[0]


def reference(text: str) -> bool:
    """Is it a table? Fields without quotes, or in quotes with doubled ones; equally many a row."""
    import re

    field = r'(?:"(?:[^"]|"")*"|[^",\n]*)'
    record = rf"({field}(?:,{field})*)(?:\n|$)"
    widths, at = set(), 0
    while at < len(text):
        if text[at] == "\n":
            at += 1
            continue
        match = re.compile(record).match(text, at)
        if not match:
            return False
        widths.add(len(re.findall(rf"(?:^|,)(?:{field})", match.group(1))))
        at = match.end()
    return len(widths) <= 1
