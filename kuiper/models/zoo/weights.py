"""Weights from a seed."""

from __future__ import annotations

import torch
from torch import nn


@torch.no_grad()
def seed_weights(model: nn.Module, seed: int, example: torch.Tensor) -> None:
    """Fill ``model`` with reproducible weights under which activations stay of the order of 1.

    Kernels are drawn as in He et al., 2015, "Delving Deep into Rectifiers", equation 10; scales and shifts around 1.
    The running statistics are those of ``example`` passing through, so that no depth makes values grow,
    and they differ from channel to channel as trained ones do: folding them wrongly would show. The shifts keep
    most ReLUs open: with shifts around 0 such a deep random network is chaotic, and multiplies the rounding of its
    first layer by a hundred.
    """
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu", generator=generator)
        else:
            parameter.normal_(0, 0.1, generator=generator)
    for norm in (module for module in model.modules() if isinstance(module, nn.LayerNorm)):
        norm.weight.uniform_(0.5, 1.5, generator=generator)
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.weight.uniform_(0.5, 1.5, generator=generator)
        norm.bias.uniform_(0.5, 1.5, generator=generator)
    if norms:
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # one batch: its statistics, not a step towards them
        model.train()(example)
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
    model.eval()
