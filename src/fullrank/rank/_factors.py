"""Ranking from factors: the product is made tile by tile, and ranked while it is in the cache.

Each tile of scores is a float32 product, and so off from the canonical score (the exact product of
factors on a grid, see ``models._product``) by at most ``error``; what lies that close to a target
or to the k-th best is compared by canonical scores. So ranks and lists are those of the canonical
scores to the last bit, for any tile, block and number of threads.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError
from fullrank.models._base import Recommender
from fullrank.rank._blocks import check_scores
from fullrank.rank._job import Job, capacity_of, entries_wanted
from fullrank.rank._shared import SharedBlocks

if TYPE_CHECKING:
    from fullrank.kernels.rank import Masks
    from fullrank.kernels.shortlist import Product, Shortlists
    from fullrank.kernels.targets import Targets

LANES = 16
BLOCK = 256
"""Queries a block: enough to pay for packing a tile's factors in the product."""

TILE = 2**18
"""Scores a tile, at most: a MiB stays in a core's own cache."""

_ROUNDING = 2.0**-24
LARGEST_PRODUCT = 2.0**126
"""Of the norms of a query and an item: beyond, a float32 sum might overflow."""


def _ceil(n: int, size: int) -> int:
    """How many of ``size`` hold ``n``."""
    return -(-n // size)


class Layout(NamedTuple):
    """Where the items of a catalogue stand: item ``j`` of tile ``i`` is ``i + j * n_tiles``.

    So each tile is an even sample of the catalogue, and the best of the first tells what it takes
    to be among the best of all. Places are padded to whole vectors at the end of each tile.
    """

    n_tiles: int
    width: int
    n: int

    @classmethod
    def of(cls, n: int, most: int) -> Layout:
        """Lay out ``n`` items in tiles of at most ``most`` places, with little padding."""
        vectors = _ceil(n, LANES)
        most = max(1, most // LANES)
        widths = range(max(1, most * 5 // 8), most + 1)
        width = min(widths, key=lambda w: (_ceil(vectors, w) * w, -w))
        n_tiles = _ceil(vectors, width)
        return cls(n_tiles, _ceil(_ceil(n, n_tiles), LANES) * LANES, n)

    def filled(self, tile: int) -> int:
        """Places of a tile that hold items; they come first."""
        return _ceil(self.n - tile, self.n_tiles)


@dataclass(frozen=True, eq=False)
class Packed:
    """Item factors on the grid, tile after tile.

    Attributes:
        layout: of the places.
        factors: float32 ``[places, d]``, zero for padding.
        codes: int32 ``[places]`` item codes, -1 for padding.
        place_of: int32 ``[n_items]``, -1 outside the catalogue.
        tile_of: int32 ``[n_items]``, its tile; undefined outside the catalogue.
        largest: the largest norm of an item.
    """

    layout: Layout
    factors: NDArray[np.float32]
    codes: NDArray[np.int32]
    place_of: NDArray[np.int32]
    tile_of: NDArray[np.int32]
    largest: float

    @classmethod
    def of(cls, factors: NDArray[np.float32], catalogue: NDArray[np.bool_], most: int) -> Packed:
        """Pack the factors of a catalogue in tiles of at most ``most`` places."""
        from fullrank.kernels.grid import norms, to_grid

        items = np.flatnonzero(catalogue).astype(np.int32)
        layout = Layout.of(len(items), most)
        tiles = np.full((layout.n_tiles, layout.width), -1, dtype=np.int32)
        for tile in range(layout.n_tiles):
            tiles[tile, : layout.filled(tile)] = items[tile :: layout.n_tiles]
        codes = tiles.reshape(-1)
        places = np.flatnonzero(codes >= 0).astype(np.int32)
        place_of = np.full(len(catalogue), -1, dtype=np.int32)
        place_of[codes[places]] = places
        packed = factors[codes]
        packed[codes < 0] = 0.0
        lengths = np.empty(len(packed))
        norms(packed, lengths)
        largest = float(lengths.max(initial=0.0))
        if np.isfinite(largest):
            to_grid(packed, packed)
        return cls(layout, packed, codes, place_of, place_of // layout.width, largest)

    def tile(self, number: int) -> NDArray[np.float32]:
        """Factors of one tile ``[width, d]``."""
        return self.factors[number * self.layout.width : (number + 1) * self.layout.width]


def rounding_error(d: int, lengths: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """How far a float32 score may be from the canonical one, for queries of these norms.

    ``|fl(q·v) - q·v| <= d u / (1 - d u) · |q|·|v|`` for any order of the sum (Higham 2002,
    "Accuracy and stability of numerical algorithms", equation 3.5; u = 2**-24), and by
    Cauchy-Schwarz ``|q|·|v|`` is at most the product of the norms; rounding the canonical score to
    float32 adds u. Products that underflow add at most the smallest float32 each. The norms are
    those before rounding to the grid, hence the last factor.
    """
    share = (d * _ROUNDING / (1.0 - d * _ROUNDING) + _ROUNDING) * (1.0 + 1e-4)
    return np.asarray(share * lengths * largest + (d + 1) * 2.0**-149)


@dataclass(eq=False)
class FactorBlocks:
    """Ranks blocks of queries from packed factors.

    Attributes:
        packed: the items.
        block: queries a block, at most.
        k: length of lists.
    """

    packed: Packed
    block: int
    k: int

    def __post_init__(self) -> None:
        self._local = threading.local()

    def run(self, job: Job) -> bool:
        """Rank a part; False, with nothing done, if its factors can't be screened in float32."""
        product = self._product(job)
        if product is None:
            return False
        cold = product.error == 0.0
        if not cold.any():
            self._rank(job, product, guess=True)
            return True
        self._rank_cold(job, np.flatnonzero(cold))
        rest = np.flatnonzero(~cold)
        if len(rest):
            part = job.part(rest)
            self._rank(part, _rows_of(product, rest), guess=True)
            job.take(rest, part)
        return True

    def _rank_cold(self, job: Job, rows: NDArray[np.int64]) -> None:
        """Rank queries without factors: all scores are 0, so one row serves them all."""
        if not hasattr(self, "_zeros"):
            catalogue = job.catalogue.items
            self._zeros = SharedBlocks.of(np.zeros(len(catalogue), np.float32), catalogue)
        part = job.part(rows)
        self._zeros.run(part)
        job.take(rows, part)

    def _rank(self, job: Job, product: Product, guess: bool) -> None:
        from fullrank.kernels.rank import place_targets

        targets = job.targets()
        place_targets(targets, product, job.queries.target_items, self.packed.place_of)
        failed = self._scan(job, product, targets, guess)
        if len(failed):
            again = job.part(failed)
            self._rank(again, _rows_of(product, failed), guess=False)
            job.take(failed, again)

    def _product(self, job: Job) -> Product | None:
        """Query factors on the grid; None if they are not finite, or so large as to overflow."""
        from fullrank.kernels.grid import norms, to_grid
        from fullrank.kernels.shortlist import Product

        factors = job.model.query_factors(job.queries.without_targets())
        shape = (len(job.queries), self.packed.factors.shape[1])
        check_scores(job.model, factors, shape, "query_factors")
        queries = np.array(factors, dtype=np.float32, order="C")
        lengths = np.empty(len(queries))
        norms(queries, lengths)
        # NaN fails the comparison too.
        if not bool((lengths * max(self.packed.largest, 1.0) < LARGEST_PRODUCT).all()):
            return None
        to_grid(queries, queries)
        error = rounding_error(queries.shape[1], lengths, self.packed.largest)
        error[lengths == 0.0] = 0.0  # a user without factors: all scores are exactly 0
        return Product(queries, self.packed.factors, error, self.packed.codes)

    def _scan(self, job: Job, product: Product, targets: Targets, guess: bool) -> NDArray[np.int64]:
        """Score and rank tile by tile; the queries whose guessed threshold failed."""
        from fullrank.kernels.rank import scan_block

        layout, n_seen = self.packed.layout, np.empty(len(job.queries), dtype=np.int32)
        tile, lists = self._workspace(job)
        shares = np.arange(1, layout.n_tiles + 1) / layout.n_tiles
        guessed = shares if guess and layout.n_tiles > 1 else shares[:0]
        wanted = np.array([entries_wanted(self.k, share) for share in guessed], dtype=np.int64)
        masks = self._masks(job, targets)
        shape = (layout.n_tiles, layout.width, layout.n)
        scan_block(tile, shape, wanted, masks, targets, lists, product, n_seen)
        job.n_candidates[:] = layout.n - n_seen
        return job.finish(targets, lists, product)

    def _masks(self, job: Job, targets: Targets) -> Masks:
        from fullrank.kernels.rank import Masks, make_masks

        layout = self.packed.layout
        indptr, items = job.masked()
        cells = layout.n_tiles * len(job.queries)
        masks = Masks(
            np.empty(cells + 1, np.int32),
            np.empty(len(items) + len(job.queries.target_items), np.int32),
        )
        make_masks(
            targets, indptr, items, self.packed.place_of, self.packed.tile_of, layout.width, masks
        )
        return masks

    def _workspace(self, job: Job) -> tuple[NDArray[np.float32], Shortlists]:
        """A tile and lists that this thread uses again for each block: fresh pages cost more."""
        b, local = len(job.queries), self._local
        if not hasattr(local, "tile"):
            capacity = capacity_of(self.k, self.packed.layout.n)
            local.tile = aligned(self.block * self.packed.layout.width)
            local.places = np.empty((self.block, capacity), np.int32)
            local.scores = np.empty((self.block, capacity), np.float32)
        tile = local.tile[: b * self.packed.layout.width].reshape(b, -1)
        return tile, job.lists(local.places[:b], local.scores[:b])


def _rows_of(product: Product, rows: NDArray[np.int64]) -> Product:
    """The product of some of the queries."""
    return product._replace(queries=product.queries[rows], error=product.error[rows])


def check_item_factors(job: Job) -> None:
    """Refuse item factors that are no float32 ``[n_items, d]``, or have no query factors beside."""
    factors, name = job.model.item_factors(), type(job.model).__name__
    n_items = job.queries.n_items
    if not isinstance(factors, np.ndarray):
        raise ScoreError(
            f"{name}.item_factors gave a {type(factors).__name__}, expected a float32 array of "
            f"shape ({n_items}, d)"
        )
    if factors.dtype != np.float32 or factors.ndim != 2 or len(factors) != n_items:
        raise ScoreError(
            f"{name}.item_factors gave {factors.dtype} {factors.shape}, expected float32 "
            f"({n_items}, d): one row an item"
        )
    if type(job.model).query_factors is Recommender.query_factors:
        raise ScoreError(f"{name} has item_factors and no query_factors; define both")


def aligned(n: int) -> NDArray[np.float32]:
    """An array that begins with a cache line."""
    line = 64 // 4
    spare = np.empty(n + line, np.float32)
    first = -spare.ctypes.data // 4 % line
    return spare[first : first + n]
