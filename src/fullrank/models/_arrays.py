"""Save and load named arrays, CSR matrices and numbers in one npz file, without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays; CSR matrices as four arrays, text ids as UTF-8 with offsets."""
    flat: dict[str, Any] = {}
    for name, value in arrays.items():
        if hasattr(value, "indptr"):
            for part in ("data", "indices", "indptr"):
                flat[f"{name}.{part}"] = getattr(value, part)
            flat[f"{name}.shape"] = np.array(value.shape)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            encoded = [str(x).encode() for x in value]
            flat[f"{name}.utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            flat[f"{name}.ends"] = np.cumsum([len(x) for x in encoded], dtype=np.int64)
        else:
            flat[name] = np.asarray(value)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **flat)


def load_arrays(path: Path) -> dict[str, Any]:
    """Read what ``save_arrays`` wrote; 0-d arrays come back as Python numbers."""
    from scipy.sparse import csr_matrix

    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # NumPy leaves it open
        flat = {name: file[name] for name in file.files}
    out: dict[str, Any] = {}
    for name, value in flat.items():
        stem, _, part = name.rpartition(".")
        if part == "shape":
            parts = (flat[f"{stem}.data"], flat[f"{stem}.indices"], flat[f"{stem}.indptr"])
            out[stem] = csr_matrix(parts, shape=tuple(value))
        elif part == "ends":
            raw, begin, ids = flat[f"{stem}.utf8"].tobytes(), 0, []
            for end in value.tolist():
                ids.append(raw[begin:end].decode())
                begin = end
            out[stem] = np.array(ids, dtype=object)
        elif part not in ("data", "indices", "indptr", "utf8"):
            out[name] = value.item() if value.ndim == 0 else value
    return out
