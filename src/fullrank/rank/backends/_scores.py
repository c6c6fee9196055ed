"""Scores of a block of queries on a device: tiles screened in float32, and canonical ones.

A canonical score is the float32 of the exact product of factors on the grid (``models._product``).
All partial sums of such a product are float64 numbers, so that it is exact in any order, on any
device, with or without fused multiply-add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError
from fullrank.rank._factors import Layout, Packed
from fullrank.rank.backends._device import Device, Tensor, torch

_INF = float("inf")
_BYTES_PER_TERM = 24
"""Of a gathered dot: two factors in float32 and in float64, at most."""


class Cells(NamedTuple):
    """Pairs of a row of a block and a place, int64 ``[n]`` each."""

    rows: Tensor
    places: Tensor

    @classmethod
    def of(cls, indptr: NDArray[np.int64], items: NDArray[np.int32], place_of: Tensor) -> Cells:
        """Cells of a CSR of items; those outside the catalogue are left out."""
        counts = torch.from_numpy(np.diff(indptr)).to(place_of.device)
        rows = torch.arange(len(counts), device=place_of.device)
        rows = rows.repeat_interleave(counts, output_size=len(items))
        places = place_of[torch.from_numpy(items.astype(np.int64)).to(place_of.device)]
        return cls(rows[places >= 0], places[places >= 0])

    def take(self, rows: Tensor, b: int) -> Cells:
        """Cells of some rows of ``b``, by their new numbers."""
        number = torch.full((b,), -1, dtype=torch.int64, device=rows.device)
        number[rows] = torch.arange(len(rows), device=rows.device)
        new = number[self.rows]
        return Cells(new[new >= 0], self.places[new >= 0])

    def in_tile(self, number: int, width: int) -> Tensor:
        """Where the cells of a tile lie in its flat scores."""
        here = self.places.div(width, rounding_mode="floor") == number
        return self.rows[here] * width + (self.places[here] - number * width)


@dataclass(frozen=True, eq=False)
class Block:
    """Queries on a device.

    Attributes:
        queries: float32 ``[b, d]`` on the grid.
        error: float64 ``[b]``: how far a screened score may be from the canonical one.
        keys: int64 ``[b]``, the bits of ``Job.query_keys``.
        hidden: histories.
        eligible: what each query may get, or None for no restriction.
    """

    queries: Tensor
    error: Tensor
    keys: Tensor
    hidden: Cells
    eligible: Cells | None

    def __len__(self) -> int:
        return len(self.queries)

    def take(self, rows: Tensor) -> Block:
        """Some of the rows, int64 ``[r]``."""
        eligible = self.eligible and self.eligible.take(rows, len(self))
        hidden = self.hidden.take(rows, len(self))
        return Block(self.queries[rows], self.error[rows], self.keys[rows], hidden, eligible)


@dataclass(frozen=True, eq=False)
class Items:
    """A catalogue on a device, laid out as ``rank._factors.Packed``.

    Attributes:
        layout: of the places.
        factors: float32 ``[places, d]`` on the grid.
        codes: int64 ``[places]``, -1 for padding.
        keys: int64 ``[places]``, the bits of ``Job.item_keys``.
        place_of: int64 ``[n_items]``, -1 outside the catalogue.
        part: bytes that a temporary array may take.
    """

    layout: Layout
    factors: Tensor
    codes: Tensor
    keys: Tensor
    place_of: Tensor
    part: int

    @classmethod
    def of(cls, packed: Packed, keys: NDArray[np.uint64], part: int, device: Device) -> Items:
        """Send a catalogue to a device."""
        codes = packed.codes.astype(np.int64)
        return cls(
            packed.layout,
            torch.from_numpy(packed.factors).to(device),
            torch.from_numpy(codes).to(device),
            torch.from_numpy(keys[codes].view(np.int64)).to(device),
            torch.from_numpy(packed.place_of.astype(np.int64)).to(device),
            part,
        )

    def _tile(self, number: int) -> Tensor:
        return self.factors[number * self.layout.width : (number + 1) * self.layout.width]

    def screened(self, block: Block, number: int, buffer: Tensor) -> Tensor:
        """One tile of scores ``[b, width]`` in a buffer, -inf for what is left out."""
        width = self.layout.width
        out = buffer[: len(block) * width].view(len(block), width)
        torch.mm(block.queries, self._tile(number).T, out=out)
        return self._masked(out, block, number)

    def exact(self, block: Block, number: int) -> Tensor:
        """The same tile of canonical scores."""
        out = block.queries.new_empty((len(block), self.layout.width))
        queries, tile = block.queries.double(), self._tile(number)
        step = max(1, self.part // (8 * (len(block) + tile.shape[1])))
        for at in range(0, len(tile), step):
            out[:, at : at + step] = queries @ tile[at : at + step].double().T
        return self._masked(out, block, number)

    def _masked(self, out: Tensor, block: Block, number: int) -> Tensor:
        width, flat = self.layout.width, out.view(-1)
        if block.eligible is not None:
            barred = torch.ones(len(flat), dtype=torch.bool, device=flat.device)
            barred[block.eligible.in_tile(number, width)] = False
            flat.masked_fill_(barred, -_INF)
        flat[block.hidden.in_tile(number, width)] = -_INF
        out[:, self.layout.filled(number) :] = -_INF
        return out

    def dots(self, queries: Tensor, rows: Tensor, places: Tensor) -> Tensor:
        """Canonical scores of pairs of a row of ``queries`` and a place: float32 ``[n]``."""
        out = queries.new_empty(len(rows))
        step = max(1, self.part // (_BYTES_PER_TERM * queries.shape[1] + 1))
        for at in range(0, len(rows), step):
            some = slice(at, at + step)
            terms = queries[rows[some]].double() * self.factors[places[some]].double()
            out[some] = terms.sum(1)
        return out


def at_least(x: Tensor) -> Tensor:
    """A float32 not below float64 ``x``, within two steps of it."""
    y = x.float()
    return torch.where(y.double() < x, torch.nextafter(y, torch.full_like(y, _INF)), y)


def at_most(x: Tensor) -> Tensor:
    """A float32 not above float64 ``x``, within two steps of it."""
    return -at_least(-x)


def imprecise(what: str) -> ScoreError:
    """The error for a device that breaks what the ranks rest on."""
    return ScoreError(
        f"a {what} product on the device is further from the exact score than {what} arithmetic "
        "allows, so the ranks would not be sure; switch off emulated or reduced precision there "
        "(CUBLAS_EMULATE_SINGLE_PRECISION, CUBLAS_EMULATE_DOUBLE_PRECISION), or leave backend= out"
    )
