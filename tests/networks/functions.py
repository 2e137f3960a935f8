"""Calls of several statements, for networks: what stands in ``forward`` is one expression."""

from __future__ import annotations

import torch


def assigned(x: torch.Tensor, dim: int, start: int, end: int, value: torch.Tensor | float) -> torch.Tensor:
    """A copy of ``x`` with ``x[:, start:end] = value`` on one axis."""
    y = x.clone()
    y[(slice(None),) * dim + (slice(start, end),)] = value
    return y


def added(x: torch.Tensor, dim: int, index: int, value: float) -> torch.Tensor:
    """A copy of ``x`` with ``x[:, index] += value`` on one axis."""
    y = x.clone()
    y[(slice(None),) * dim + (index,)] += value
    return y


def grid_of(x: torch.Tensor, out_h: int, out_w: int) -> torch.Tensor:
    """A sampling grid (n, out_h, out_w, 2) that the image decides, a little beyond its border here and there."""
    points = torch.nn.functional.adaptive_avg_pool2d(x[:, :2], (out_h, out_w))
    return 1.3 * torch.tanh(3 * points).permute(0, 2, 3, 1)
