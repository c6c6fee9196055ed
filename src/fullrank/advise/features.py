"""Features of a log, of a sample of it, and of how the two differ.

All are of the graph of users and items as it is, with two sides. Counts and degrees are natural
logarithms, so that their differences are log ratios. What can't be told of a log (times that it
doesn't have) is NaN, never 0, and ``times.known`` and ``values.known`` say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.advise._distribution import (
    QUANTILES,
    evenness,
    gini,
    jensen_shannon,
    quantiles,
    tail_exponent,
)
from fullrank.advise._graph import (
    Bipartite,
    component_sizes,
    effective_diameter,
    four_cycles,
    hop_counts,
    singular_values,
)
from fullrank.advise._rows import time_features, value_features
from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_count
from fullrank.subsample import Subsample


@dataclass(frozen=True)
class Features:
    """What is measured of a log, as numbers by name.

    - ``size.``: ``log_rows``, ``log_pairs`` (distinct), ``log_users``, ``log_items``,
      ``log_density`` (pairs over users times items), ``log_rows_per_user``,
      ``log_rows_per_item``, ``log_users_per_item`` (the ratio of the two counts); users and items
      are those with rows. ``repeats``: share of the rows whose pair has an earlier row.
    - ``users.``, ``items.``: of the degrees (distinct partners) the logarithms of quantiles
      (``log_q0`` to ``log_q100``), ``gini``, ``evenness``, ``tail``.
    - ``components.``: ``log_count``, and the share of nodes in the ``largest``.
    - ``spectrum.1`` …: largest singular values of the binary matrix over its Frobenius norm.
    - ``cycles.four``: bipartite clustering coefficient (Robins & Alexander 2004).
    - ``hops.diameter``: effective diameter, from breadth-first searches; ``hops.reached``: share of
      the other nodes that a search meets.
    - ``times.``, ``values.``: span, drift, and moments (``_rows``).

    The same for any order of the rows. Renamed ids change draws alone, and logs with at most
    ``sources`` nodes and two million pairs of neighbours need none but for ``times.drift_*``.

    Attributes:
        singular_values: how many.
        sources: nodes from which distances are measured, at most 64.
        paths: drawn for ``cycles.four`` in logs too large to count.
    """

    singular_values: int = 8
    sources: int = 64
    paths: int = 100_000

    def __post_init__(self) -> None:
        for name in ("singular_values", "sources", "paths"):
            check_count("features", name, getattr(self, name), least=1)
        if self.sources > 64:
            raise SpecError(f"features: sources must be at most 64, got {self.sources}")

    def of(self, rows: Interactions, rng: RNG = 0) -> dict[str, float]:
        """Measure a log.

        Args:
            rows: at least one.
            rng: seed or Generator of the draws.

        Raises:
            DataError: there are no rows.

        Example:
            >>> import fullrank as fr
            >>> found = Features().of(fr.read("online-retail").interactions)
            >>> round(found["items.gini"], 2), found["values.known"]
            (0.62, 0.0)
        """
        if not len(rows):
            raise DataError("there are no rows to measure; check the split and filters")
        graph, seed = Bipartite(rows), seed_of(rng)
        parts = {
            "size": _sizes(rows, graph),
            "users": _degrees(graph.user_degrees),
            "items": _degrees(graph.item_degrees),
            **self._shape(graph, seed),
            "times": time_features(rows),
            "values": value_features(rows),
        }
        return {f"{part}.{name}": value for part, of in parts.items() for name, value in of.items()}

    def _shape(self, graph: Bipartite, seed: int) -> dict[str, dict[str, float]]:
        """What needs more than counts."""
        sizes = component_sizes(graph)
        values = singular_values(graph, self.singular_values, seed)
        counts, drawn = hop_counts(graph, self.sources, seed)
        others = drawn * (sum(graph.by_user.shape) - 1)
        return {
            "components": {
                "log_count": float(np.log(len(sizes))),
                "largest": float(sizes[0] / sizes.sum()),
            },
            "spectrum": {str(j + 1): float(value) for j, value in enumerate(values)},
            "cycles": {"four": four_cycles(graph, self.paths, seed)},
            "hops": {
                "diameter": effective_diameter(counts),
                "reached": float(counts[1:].sum() / others),
            },
        }

    def of_sample(
        self, sample: Subsample, full: Mapping[str, float] | None = None, rng: RNG = 0
    ) -> dict[str, float]:
        """Measure a sample, the rows that it is from, and how they differ.

        Names begin with ``full.``, ``sample.``, ``change.`` (the sample's number less the full
        log's, which is the log ratio for logarithms) and ``apart.`` (``apart``).

        Args:
            sample: of training rows.
            full: what ``of`` says of ``sample.source``, where it is known already.
            rng: seed or Generator of the draws.
        """
        whole = self.of(sample.source, rng) if full is None else full
        part = self.of(sample.train, rng)
        change = {name: part[name] - whole[name] for name in part if not name.endswith(".known")}
        groups = {
            "full": whole, "sample": part, "change": change,
            "apart": apart(sample.source, sample.train),
        }  # fmt: skip
        return {f"{group}.{name}": v for group, of in groups.items() for name, v in of.items()}


def apart(full: Interactions, sample: Interactions) -> dict[str, float]:
    """How far a sample's distributions lie from those of all rows.

    - ``user_degrees``, ``item_degrees``: Jensen-Shannon divergence in bits between the
      distributions of degrees (how many have 1 partner, 2, …).
    - ``user_shares``, ``item_shares``: the same between the shares of pairs that each of them has.
    - ``users_lost``, ``items_lost``: share of those with rows that have none in the sample.

    Args:
        full: the rows.
        sample: some of them, with the same vocabularies.

    Raises:
        DataError: the vocabularies differ in size.
    """
    if (full.n_users, full.n_items) != (sample.n_users, sample.n_items):
        raise DataError(
            "a sample is compared with the rows that it was drawn from, by codes: expected "
            f"{full.n_users:,} users and {full.n_items:,} items in its vocabularies, found "
            f"{sample.n_users:,} and {sample.n_items:,}; make it by take or subsample"
        )
    out = {}
    pairs = _degrees_by_code(full), _degrees_by_code(sample)
    for side, before, after in zip(("user", "item"), *pairs):
        both = (np.bincount(degrees[degrees > 0]) for degrees in (before, after))
        out[f"{side}_degrees"] = jensen_shannon(*both)
        out[f"{side}_shares"] = jensen_shannon(before, after)
        out[f"{side}s_lost"] = float(1 - np.count_nonzero(after) / np.count_nonzero(before))
    return out


def _degrees_by_code(rows: Interactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct partners of each user and item, those without rows included."""
    m = rows.csr("binary")
    items = np.bincount(m.indices, minlength=rows.n_items)
    return np.diff(m.indptr).astype(np.int64), items.astype(np.int64)


def _sizes(rows: Interactions, graph: Bipartite) -> dict[str, float]:
    users, items = (float(np.log(n)) for n in graph.by_user.shape)
    n, pairs = float(np.log(len(rows))), float(np.log(graph.n_edges))
    return {
        "log_rows": n,
        "log_pairs": pairs,
        "log_users": users,
        "log_items": items,
        "log_density": pairs - users - items,
        "log_rows_per_user": n - users,
        "log_rows_per_item": n - items,
        "log_users_per_item": users - items,
        "repeats": 1 - graph.n_edges / len(rows),
    }


def _degrees(degrees: NDArray[np.int64]) -> dict[str, float]:
    names = [f"log_q{round(100 * share)}" for share in QUANTILES]
    return {
        **dict(zip(names, np.log(quantiles(degrees)).tolist())),
        "gini": gini(degrees),
        "evenness": evenness(degrees),
        "tail": tail_exponent(degrees),
    }
