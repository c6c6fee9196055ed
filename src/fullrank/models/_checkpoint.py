"""Checkpoints: arrays in safetensors, the rest in JSON, replaced in one step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.core.errors import StoreError

State = dict[str, Any]
"""Arrays, by name; a monitor's may hold numbers too (kept in JSON)."""

_INDEX = "checkpoint.json"
_KINDS = {"about": dict, "arrays": str, "log": dict, "done": bool}


def is_checkpoint(folder: Path) -> bool:
    """Whether a training was going on, or ended, in a folder."""
    return (folder / _INDEX).exists()


class Checkpoint:
    """The latest state of one training in a folder.

    Attributes:
        folder: of ``checkpoint.json`` and the file of arrays that it names.
        about: what the training is: model, version, settings, seed, data.
    """

    def __init__(self, folder: str | Path, about: Mapping[str, Any]) -> None:
        self.folder, self.about = Path(folder), json.loads(json.dumps(about))

    def read(self) -> tuple[State, dict[str, Any], State | None, bool] | None:
        """Arrays, log, the monitor's state and whether training was over; None without one.

        Raises:
            StoreError: the folder's checkpoint is another training's, or damaged.
        """
        from safetensors.numpy import load_file

        try:
            index = json.loads((self.folder / _INDEX).read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self.folder / _INDEX} can't be read ({error}); remove the folder to start anew"
            ) from error
        if not isinstance(index, dict) or not all(
            isinstance(index.get(key), kind) for key, kind in _KINDS.items()
        ):
            raise StoreError(
                f"{self.folder / _INDEX} is damaged: it must hold {', '.join(_KINDS)}; remove the "
                "folder to start anew"
            )
        self._same(index["about"])
        try:
            arrays = load_file(self.folder / index["arrays"])
        except Exception as error:
            raise StoreError(
                f"{self.folder / index['arrays']} can't be read ({error}); remove the folder to "
                "start anew"
            ) from error
        mine = {k[6:]: v for k, v in arrays.items() if k.startswith("model/")}
        watched = index.get("monitor")
        if watched is not None:
            watched |= {k[8:]: v for k, v in arrays.items() if k.startswith("monitor/")}
        return mine, index["log"], watched, index["done"]

    def _same(self, found: Mapping[str, Any]) -> None:
        differs = [k for k in {*self.about, *found} if self.about.get(k) != found.get(k)]
        if differs:
            shown = "; ".join(
                change for k in sorted(differs) for change in _changes(k, found, self.about)
            )
            raise StoreError(
                f"{self.folder} is the checkpoint of another training ({shown}); give another "
                "folder, or remove this one"
            )

    def write(
        self, arrays: State, log: Mapping[str, Any], monitor: State | None, *, done: bool
    ) -> None:
        """Replace the checkpoint: killed at any moment, the one before or this one is there.

        Raises:
            StoreError: the folder can't be written.
        """
        try:
            self._replace(arrays, log, monitor, done=done)
        except OSError as error:
            raise StoreError(
                f"{self.folder} can't be written ({error.strerror or error}); give another folder "
                "as checkpoint, or make room"
            ) from error

    def _replace(
        self, arrays: State, log: Mapping[str, Any], monitor: State | None, *, done: bool
    ) -> None:
        from safetensors.numpy import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"epoch-{len(log['epochs']):06d}.safetensors"
        flat = {f"model/{k}": np.asarray(v, order="C") for k, v in arrays.items()}
        plain: State | None = None
        if monitor is not None:
            plain = {k: v for k, v in monitor.items() if not isinstance(v, np.ndarray)}
            flat |= {
                f"monitor/{k}": np.asarray(v, order="C")
                for k, v in monitor.items()
                if isinstance(v, np.ndarray)
            }
        save_file(flat, self.folder / name)
        index = {"about": self.about, "arrays": name, "log": log, "monitor": plain, "done": done}
        aside = self.folder / f"{_INDEX}.part"
        aside.write_text(json.dumps(index))
        aside.rename(self.folder / _INDEX)
        for old in self.folder.glob("epoch-*.safetensors"):
            if old.name != name:
                old.unlink()


def _changes(key: str, found: Mapping[str, Any], mine: Mapping[str, Any]) -> list[str]:
    """What differs under a key, as text; of mappings only the entries that do."""
    was, now = found.get(key), mine.get(key)
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        inside = [k for k in {**was, **now} if was.get(k) != now.get(k)]
        return [change for k in inside for change in _changes(k, was, now)]
    return [f"{key} was {was!r} and is {now!r}"]
