"""Files that are whole or absent."""

from __future__ import annotations

import uuid
from pathlib import Path


def write_aside(path: Path, text: str) -> Path:
    """Write beside and rename, so that a killed process leaves no half a file."""
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path
