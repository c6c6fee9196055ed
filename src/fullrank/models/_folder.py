"""Folders of saved models read, with what is wrong with a damaged one told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fullrank.core.errors import StoreError
from fullrank.models._arrays import load_arrays
from fullrank.models._checkpoint import is_checkpoint

_MEANS = "give the folder that model.save(folder) wrote, or fit the model and save it anew"


def read_about(folder: Path, name: str) -> dict[str, Any]:
    """Name, version and settings of a saved model.

    Args:
        folder: of ``model.json``.
        name: of the model that is asked for, for messages.

    Raises:
        StoreError: no such file, or it holds something else.
    """
    path = folder / "model.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        if is_checkpoint(folder):
            raise StoreError(
                f"{name}.load: {folder} is the checkpoint of a training, not a saved model; make "
                f"the model with the same settings, end its training by fit(..., "
                f"checkpoint={str(folder)!r}), and save it to another folder"
            ) from error
        why = "there is none" if isinstance(error, FileNotFoundError) else error.strerror
        raise StoreError(f"{name}.load needs {path}: {why}; {_MEANS}") from error
    except ValueError as error:
        raise StoreError(f"{name}.load: {path} is damaged ({error}); {_MEANS}") from error
    kinds = {"model": str, "version": int, "settings": dict}
    if not isinstance(about, dict) or not all(
        isinstance(about.get(key), kind) for key, kind in kinds.items()
    ):
        raise StoreError(
            f"{name}.load: {path} must hold model, version and settings, got {str(about)[:80]}; "
            f"{_MEANS}"
        )
    return about


def read_weights(folder: Path) -> dict[str, Any]:
    """Weights of a saved network.

    Args:
        folder: of ``weights.safetensors``.

    Raises:
        StoreError: no such file, or it is cut off.
    """
    from safetensors.numpy import load_file

    path = folder / "weights.safetensors"
    if not path.exists():
        raise StoreError(f"there is no {path}; {_MEANS}")
    try:
        return dict(load_file(path))
    except Exception as error:  # safetensors has an error of its own, without a base
        raise StoreError(f"{path} is damaged or cut off ({error}); {_MEANS}") from error


def refuse_weights(folder: Path, error: Exception) -> StoreError:
    """What to raise if weights don't fit the network of the settings."""
    return StoreError(
        f"{folder / 'weights.safetensors'} holds weights of another network than model.json says "
        f"({' '.join(str(error).split())[:200]}); {_MEANS}"
    )


def read_arrays(folder: Path, wanted: Iterable[str]) -> dict[str, Any]:
    """Arrays of a saved model.

    Args:
        folder: of ``arrays.npz``.
        wanted: names that must be there.

    Raises:
        StoreError: no such file, or it is cut off, or lacks some.
    """
    path = folder / "arrays.npz"
    try:
        arrays = load_arrays(path)
    except FileNotFoundError as error:
        raise StoreError(f"there is no {path}; {_MEANS}") from error
    except Exception as error:  # zip, zlib and NumPy each have errors of their own
        raise StoreError(f"{path} is damaged or cut off ({error}); {_MEANS}") from error
    if missing := [name for name in wanted if name not in arrays]:
        raise StoreError(f"{path} lacks {', '.join(missing)}; {_MEANS}")
    return arrays
