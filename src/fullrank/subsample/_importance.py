"""Importance of training rows: how hard they were for a proxy, on average over its epochs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import DataError, StoreError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.resources import measured
from fullrank.data.filters.amounts import check_choice
from fullrank.models import Recommender
from fullrank.subsample._difficulty import Tracker
from fullrank.subsample._proxy import proxy_model

Scenario = Literal["implicit", "explicit"]
SCENARIOS = ("implicit", "explicit")
Estimator = Literal["exact", "one_negative"]
ESTIMATORS = ("exact", "one_negative")


_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile, zlib.error,
    RuntimeError,
)  # fmt: skip
"""What NumPy and zipfile raise on damage; RuntimeError of entries that look encrypted or packed by
another method."""


@dataclass(frozen=True, eq=False)
class Importance:
    """One number for each training row, larger for harder ones.

    Attributes:
        values: float64 ``[n]`` in the order of the rows.
        fingerprint: of the rows.
        about: proxy, scenario, epochs, seed and cost.
        by_epoch: float32 ``[epochs, n]``, or None.
    """

    values: NDArray[np.float64]
    fingerprint: str
    about: Mapping[str, Any]
    by_epoch: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        return brief(self, count(len(self.values), "row"), str(self.about.get("proxy")))

    def save(self, path: str | Path) -> None:
        """Write to one file (npz, no pickle)."""
        parts: dict[str, Any] = {
            "values": self.values,
            "fingerprint": np.array(self.fingerprint),
            "about": np.array(json.dumps(dict(self.about))),
        }
        if self.by_epoch is not None:
            parts["by_epoch"] = self.by_epoch
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **parts)

    @classmethod
    def load(cls, path: str | Path, train: Interactions | None = None) -> Importance:
        """Read what ``save`` wrote.

        Args:
            path: the file.
            train: the rows that it must be of, if given.

        Raises:
            StoreError: the file holds no importance.
            DataError: it is of other rows.
        """
        try:
            # A handle of ours: NumPy leaves its own open where a file is damaged.
            with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as file:
                by_epoch = file.get("by_epoch")
                about = json.loads(str(file["about"]))
                out = cls(file["values"], str(file["fingerprint"]), about, by_epoch)
        except FileNotFoundError:
            raise DataError(
                f"there is no file {path} of importances; make it with importance(…).save, or "
                "leave the setting out to fit a proxy"
            ) from None
        except _UNREADABLE as error:
            raise StoreError(
                f"{path} holds no importance of training rows; write it by Importance.save"
            ) from error
        if train is not None and out.fingerprint != train.fingerprint:
            raise DataError(
                f"{path} holds the importance of {len(out.values):,} other rows than these "
                f"{len(train):,} training rows (fingerprints {out.fingerprint} and "
                f"{train.fingerprint}); make it of the rows that you sample"
            )
        return out


def importance(
    train: Interactions,
    proxy: str | Recommender = "mf",
    *,
    scenario: Scenario = "implicit",
    rng: RNG = 0,
    estimator: Estimator = "exact",
    keep_epochs: bool = False,
) -> Importance:
    """Fit a proxy on the training rows and average how wrong it was about each after each epoch.

    Sachdeva, Wu & McAuley 2022, section 4: with ``P_e`` the proxy after epoch ``e`` of ``E``

        implicit:  1/E sum_e  share of the user's negatives j with P_e(u, j) > P_e(u, i)
        explicit:  1/E sum_e  (P_e(u, i) - r_ui)^2

    Negatives are all items with training rows that the user has none of; equal scores count half.
    A proxy without epochs counts once. Rows of one pair have one importance where it is implicit.
    The sequential scenario is ``implicit`` on the rows of a split by time.

    The published code takes errors during the training pass, before each batch's step and with
    dropout, and one negative a row and epoch: here the proxy after the epoch is asked, as the paper
    defines it, and by default about all negatives.

    Args:
        train: the rows.
        proxy: ``mf`` (10 factors and biases, 50 epochs) or ``bias_only``, which learn pairwise
            from implicit rows and values from explicit ones; or any model, as text such as
            ``EASE(reg=300)`` or as an object.
        scenario: ``implicit`` or ``explicit``.
        rng: seed or Generator.
        estimator: ``exact`` or, as the published code has it, ``one_negative``.
        keep_epochs: keep the numbers of each epoch too.

    Raises:
        SpecError: an unknown scenario, estimator or proxy; one that predicts no ratings, for
            ``explicit``.
        DataError: no values, for ``explicit``.
    """
    check_choice("importance", "scenario", scenario, SCENARIOS)
    check_choice("importance", "estimator", estimator, ESTIMATORS)
    seed = derive(seed_of(rng), "importance")
    model = proxy_model(proxy, scenario) if isinstance(proxy, str) else proxy
    cost: dict[str, float | None] = {}
    with measured(cost, "proxy"):
        tracker = Tracker(train, scenario, estimator, seed, keep_epochs)
        model.fit(train, rng=derive(seed, "proxy"), monitor=tracker.monitor, progress=False)
        if not tracker.epochs:
            tracker.monitor(0, model)
        values, by_epoch = tracker.mean(), tracker.kept()
    about = {
        "proxy": proxy if isinstance(proxy, str) else type(model).__name__,
        "model": type(model).__name__,
        "model_settings": model.settings(),
        "scenario": scenario,
        "estimator": estimator if scenario == "implicit" else "squared error",
        "epochs": tracker.epochs,
        "cost": cost,
    }
    return Importance(values, train.fingerprint, about, by_epoch)
