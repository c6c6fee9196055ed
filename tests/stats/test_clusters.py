"""Gathering values by user."""

from __future__ import annotations

import numpy as np

from fullrank.stats.clusters import Clusters


def test_residuals_and_means_by_hand() -> None:
    found = Clusters.of(np.array([1.0, 2.0, np.nan, 1.0, 0.0]), np.array([4, 6, 5, 6, 9]))
    assert found.users.tolist() == [4, 6, 9]
    assert found.means.tolist() == [1.0, 1.5, 0.0]
    assert found.residuals.tolist() == [0.0, 1.0, -1.0]
    assert (found.scale, found.flat) == (2.0, False)


def test_flat_is_relative_to_the_scale() -> None:
    noise = np.array([1.0, 1.0 + 1e-15])
    assert Clusters.of(noise, None).flat
    assert Clusters.of(noise - 1.0, None, scale=1.0).flat
    assert not Clusters.of(noise - 1.0, None).flat
    assert Clusters.of(np.zeros(0), None).scale == 0.0
