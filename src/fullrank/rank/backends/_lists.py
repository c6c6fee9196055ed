"""The k best items of each query of a block, tile of scores by tile on a device.

A few more than k are kept by their screened scores. Nothing left out can be among the k best if
the last of them lies more than twice the error below the k-th; where ties keep it nearer, the row
is ranked again by canonical scores and the tie order.
"""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.rank.backends._device import Tensor, torch
from fullrank.rank.backends._scores import Block, Items, imprecise

MARGIN = 32
"""Entries kept beyond k."""

_INF = float("inf")
_SIGN = -(2**63)
_BYTES_PER_CELL = 64
"""Of rows ranked by canonical scores: the scores, tie keys in int64, and their selection."""


@dataclass(eq=False)
class BestOfBlock:
    """The best entries so far, ``[b, k + MARGIN]`` or fewer, in no order.

    Attributes:
        k: length of lists, at least 1.
        scores: float32, screened.
        places: int64.
    """

    k: int
    scores: Tensor = None
    places: Tensor = None

    def collect(self, items: Items, number: int, tile: Tensor) -> None:
        """Take the best of a tile ``[b, width]``, -inf for what is left out."""
        wanted = self.k + MARGIN
        scores, columns = tile.topk(min(wanted, tile.shape[1]), dim=1)
        places = columns + number * items.layout.width
        if self.scores is not None:
            scores = torch.cat([self.scores, scores], 1)
            places = torch.cat([self.places, places], 1)
            if scores.shape[1] > wanted:
                scores, at = scores.topk(wanted, dim=1)
                places = places.gather(1, at)
        self.scores, self.places = scores, places

    def finish(self, items: Items, block: Block) -> tuple[Tensor, Tensor]:
        """Codes int64 and scores float32 ``[b, k]``: the lists, -1 and -inf where they end."""
        scores, exact = self.scores, _canonical(items, block, self.scores, self.places)
        off = (exact.double() - scores.double()).abs()
        if bool((off > block.error[:, None]).any()):  # NaN, of what is left out, is not above
            raise imprecise("float32")
        found = _sorted(items, block, exact, self.places, self.k)
        if scores.shape[1] < len(items.codes):  # else nothing was left out
            kth = scores.topk(self.k, dim=1).values[:, -1].double()
            last = scores.amin(1).double()
            unsure = (last > -_INF) & (last >= kth - 2.0 * block.error)
            rows = unsure.nonzero()[:, 0]
            step = max(1, items.part // (_BYTES_PER_CELL * items.layout.width))
            for at in range(0, len(rows), step):
                some = rows[at : at + step]
                for whole, part in zip(found, _by_canonical(items, block.take(some), self.k)):
                    whole[some] = part
        return found


def _by_canonical(items: Items, block: Block, k: int) -> tuple[Tensor, Tensor]:
    """Lists from canonical scores of all items."""
    scores = block.queries.new_empty((len(block), 0))
    places = torch.empty((len(block), 0), dtype=torch.int64, device=scores.device)
    for number in range(items.layout.n_tiles):
        tile = items.exact(block, number)
        some, columns = _best_and_tied(items, block, number, tile, k)
        scores = torch.cat([scores, some], 1)
        places = torch.cat([places, columns + number * items.layout.width], 1)
        order = _order(items, block, scores, places)[:, :k]
        scores, places = scores.gather(1, order), places.gather(1, order)
    if not torch.equal(scores, _canonical(items, block, scores, places)):
        raise imprecise("float64")
    return _sorted(items, block, scores, places, k)


def _best_and_tied(
    items: Items, block: Block, number: int, tile: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    """Scores and columns of all above the k-th best of a tile, and of the first k level with it.

    What is neither scores -inf.
    """
    width = tile.shape[1]
    k = min(k, width)
    best, columns = tile.topk(k, dim=1)
    level = tile == best[:, -1:]
    keys = _tie_keys(block.keys[:, None], items.keys[number * width : (number + 1) * width])
    first = keys.masked_fill_(~level, 2**63 - 1).topk(k, dim=1, largest=False).indices
    best = best.masked_fill(best == best[:, -1:], -_INF)
    tied = tile.gather(1, first).masked_fill(~level.gather(1, first), -_INF)
    return torch.cat([best, tied], 1), torch.cat([columns, first], 1)


def _canonical(items: Items, block: Block, scores: Tensor, places: Tensor) -> Tensor:
    """Canonical scores of entries ``[b, n]``; -inf stays."""
    rows = torch.arange(len(block), device=places.device)[:, None].expand_as(places)
    exact = items.dots(block.queries, rows.reshape(-1), places.reshape(-1)).view_as(scores)
    return exact.masked_fill_(scores == -_INF, -_INF)


def _sorted(
    items: Items, block: Block, scores: Tensor, places: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    order = _order(items, block, scores, places)[:, :k]
    scores, codes = scores.gather(1, order), items.codes[places.gather(1, order)]
    return codes.masked_fill_(scores == -_INF, -1), scores


def _order(items: Items, block: Block, scores: Tensor, places: Tensor) -> Tensor:
    """The order of lists: score descending, then the tie key, then the item code."""
    order = items.codes[places].argsort(dim=1, stable=True)
    keys = _tie_keys(block.keys[:, None], items.keys[places])
    for key in (keys, 0.0 - scores):  # 0 - 0 and 0 - (-0) are one number to any sort
        order = order.gather(1, key.gather(1, order).argsort(dim=1, stable=True))
    return order


def _tie_keys(query_keys: Tensor, item_keys: Tensor) -> Tensor:
    """``kernels.order.tie_key`` in int64 that orders as the uint64 does."""
    z = (query_keys ^ item_keys) + _signed(0x9E3779B97F4A7C15)
    z = (z ^ _shifted(z, 30)) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ _shifted(z, 27)) * _signed(0x94D049BB133111EB)
    return z ^ _shifted(z, 31) ^ _SIGN


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _shifted(z: Tensor, n: int) -> Tensor:
    """Shift right as if unsigned."""
    return (z >> n) & (2 ** (64 - n) - 1)
