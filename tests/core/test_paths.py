"""Places to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.core.errors import SpecError
from fullrank.core.paths import check_file_place, check_folder_place


def test_places_that_are_free(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("x")
    check_file_place(tmp_path / "old.csv")
    check_file_place(tmp_path / "new" / "deep" / "table.csv")
    check_folder_place(tmp_path)
    check_folder_place(tmp_path / "new" / "deep")
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]  # nothing was made


def test_places_that_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_text("x")
    with pytest.raises(SpecError, match="it is a folder; name a file in it"):
        check_file_place(tmp_path)
    with pytest.raises(SpecError, match=r"old.csv is a file, no folder; name another"):
        check_file_place(file / "deep" / "table.csv")
    with pytest.raises(SpecError, match="it is a file; name another place"):
        check_folder_place(file)
    with pytest.raises(SpecError, match=r"old.csv is a file, no folder; name another"):
        check_folder_place(file / "store")
