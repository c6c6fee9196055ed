"""Get the bytes of a table out of a file: plain, gzip, or a zip with one table in it."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from fullrank.core.errors import DataError

_NOT_TABLES: tuple[tuple[bytes, str], ...] = (
    (b"BZh", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    (b"7z\xbc\xaf", "a 7-zip archive; unpack it first"),
    (b"\x89HDF", "an HDF5 file; export its table as Parquet or CSV"),
    (b"SQLite format 3", "an SQLite database; export its table as CSV"),
    (b"\x93NUMPY", "a NumPy array; put it into a frame and pass the frame"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"\x80\x02", "a Python pickle, which is never read; export the table as Parquet"),
    (b"\x80\x03", "a Python pickle, which is never read; export the table as Parquet"),
    (b"\x80\x04", "a Python pickle, which is never read; export the table as Parquet"),
    (b"\x80\x05", "a Python pickle, which is never read; export the table as Parquet"),
)


@dataclass(frozen=True)
class Payload:
    """The bytes of a table.

    Attributes:
        where: name for messages (``ratings.zip/ratings.csv``).
        data: the bytes.
    """

    where: str
    data: bytes


def read_payload(path: Path) -> Payload:
    """Read and unpack a file.

    Raises:
        DataError: there is no such file, it is a folder, empty, cut short, or no table at all.
    """
    if path.is_dir():
        raise DataError(f"expected a file, and {path} is a folder{_tables_in(path)}")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}{_neighbours(path)}") from None
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror or error}") from error
    return _unpack(Payload(str(path), data))


def _unpack(payload: Payload) -> Payload:
    data = payload.data
    if len(data) < 4096 and not data.strip():
        raise DataError(f"{payload.where} is empty; expected a table")
    if data[:2] == b"\x1f\x8b":
        return _unpack(_gunzip(payload))
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _unpack(_unzip(payload))
    for magic, what in _NOT_TABLES:
        if data.startswith(magic):
            raise DataError(f"{payload.where} is {what}")
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise DataError(
            f"{payload.where} holds a web page, not a table (a failed download?); "
            "delete it and fetch the file again"
        )
    return payload


def _gunzip(payload: Payload) -> Payload:
    try:
        data = gzip.decompress(payload.data)
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{payload.where} is a gzip file that is damaged or cut short ({error}); fetch it again"
        ) from error
    return Payload(payload.where, data)


def _unzip(payload: Payload) -> Payload:
    try:
        with zipfile.ZipFile(io.BytesIO(payload.data)) as archive:
            member = _only_table(payload.where, archive)
            return Payload(f"{payload.where}/{member}", archive.read(member))
    except (zipfile.BadZipFile, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{payload.where} is a zip archive that is damaged or cut short ({error}); "
            "fetch it again"
        ) from error
    except (RuntimeError, NotImplementedError) as error:
        raise DataError(f"{payload.where} can't be unpacked: {error}; unpack it first") from error


def _only_table(where: str, archive: zipfile.ZipFile) -> str:
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    if "[Content_Types].xml" in names:
        raise DataError(f"{where} is an office document; export the sheet as CSV")
    tables = [name for name in names if not _is_beside(name)]
    if len(tables) != 1:
        found = ", ".join(tables[:8]) + (" …" if len(tables) > 8 else "")
        raise DataError(
            f"expected one table in {where}, found {len(tables)}{': ' if tables else ''}{found}; "
            "unpack the archive and name the file"
        )
    return tables[0]


def _is_beside(name: str) -> bool:
    """True for files that come along with a table in an archive."""
    base = name.rsplit("/", 1)[-1].lower()
    return (
        name.startswith("__MACOSX/")
        or base.startswith((".", "readme", "license", "licence"))
        or base.endswith((".md", ".pdf", ".html"))
    )


def _tables_in(folder: Path) -> str:
    names = sorted(p.name for p in folder.iterdir() if p.is_file())[:8]
    return f"; name a file in it: {', '.join(names)}" if names else ", with no file in it"


def _neighbours(path: Path) -> str:
    import difflib

    if not path.parent.is_dir():
        return f" (and no folder {path.parent})"
    names = [p.name for p in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
