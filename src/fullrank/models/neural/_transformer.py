"""A transformer's block, with our own noise."""

from __future__ import annotations

from fullrank.models.neural._torch import Noise, Tensor, torch


class Block(torch.nn.Module):
    """Self-attention and a feed-forward layer, each with dropout, a residual and a layer norm.

    Vaswani et al. 2017, section 3. Dropout falls on the attention's weights and on what each of
    the two adds to the residual. With ``project`` the heads are mixed by a matrix of their own.

    Args:
        d: width.
        heads: of the attention; they share the width.
        inner: width of the feed-forward layer.
        norm_first: norms come before each layer (Wang et al. 2019) and not after the residual.
        activation: of the feed-forward layer, ``relu`` or ``gelu``.
        project: an output matrix of the attention.
    """

    def __init__(
        self, d: int, heads: int, inner: int, *, norm_first: bool, activation: str, project: bool
    ) -> None:
        super().__init__()
        self.heads, self.norm_first, self.activation = heads, norm_first, activation
        self.into = Affine(d, 3 * d)
        self.mix = Affine(d, d) if project else None
        self.up, self.down = Affine(d, inner), Affine(inner, d)
        self.norm1, self.norm2 = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)

    def forward(self, x: Tensor, mask: Tensor, noise: Noise | None, dropout: float) -> Tensor:
        """``[b, l, d]`` to the same.

        Args:
            x: ``[b, l, d]``.
            mask: 0 where a place may look and -inf where not; ``[l, l]`` or ``[b, 1, 1, l]``.
            noise: of the dropout, or None.
            dropout: its share.
        """
        if self.norm_first:
            x = x + self._attend(self.norm1(x), mask, noise, dropout)
            return x + self._feed(self.norm2(x), noise, dropout)
        x = self.norm1(x + self._attend(x, mask, noise, dropout))
        normed: Tensor = self.norm2(x + self._feed(x, noise, dropout))
        return normed

    def _attend(self, x: Tensor, mask: Tensor, noise: Noise | None, dropout: float) -> Tensor:
        b, length, d = x.shape
        parts = self.into(x).view(b, length, 3, self.heads, d // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # [b, heads, l, d / heads] each
        scores = query @ key.transpose(-1, -2) * (d // self.heads) ** -0.5 + mask
        shares = drop(torch.softmax(scores, dim=-1), noise, dropout)  # [b, heads, l, l]
        out = (shares @ value).transpose(1, 2).reshape(b, length, d)
        return out if self.mix is None else drop(self.mix(out), noise, dropout)

    def _feed(self, x: Tensor, noise: Noise | None, dropout: float) -> Tensor:
        active = torch.nn.functional.relu if self.activation == "relu" else torch.nn.functional.gelu
        return drop(self.down(drop(active(self.up(x)), noise, dropout)), noise, dropout)


class Affine(torch.nn.Module):
    """``x W^T + b``, its bias 0 at first and its matrix still to come."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs))
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x, self.weight, self.bias)


def drop(x: Tensor, noise: Noise | None, dropout: float) -> Tensor:
    """Dropout in training; nothing without noise."""
    return x if noise is None else noise.dropout(x, dropout)


def causal_mask(x: Tensor) -> Tensor:
    """``[l, l]`` for ``x`` of ``[b, l, d]``: no place looks at later ones."""
    full = torch.full((x.shape[1], x.shape[1]), -torch.inf, dtype=x.dtype, device=x.device)
    return full.triu(1)


def length_mask(x: Tensor, lengths: Tensor) -> Tensor:
    """``[b, 1, 1, l]`` for ``x`` of ``[b, l, d]``: no place looks past the row's length."""
    past = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
    return torch.zeros(past.shape, dtype=x.dtype, device=x.device).masked_fill_(past, -torch.inf)[
        :, None, None, :
    ]


def places_from_end(lengths: Tensor, length: int, most: int) -> Tensor:
    """Numbers of places ``[b, length]``, where a row's last one is ``most - 1``."""
    places = torch.arange(length, device=lengths.device) + (most - lengths)[:, None]
    return places.clamp(max=most - 1)


__all__ = ["Affine", "Block", "causal_mask", "drop", "length_mask", "places_from_end"]
