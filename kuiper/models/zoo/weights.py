"""Where an architecture's weights come from: a seed, or a file of trained ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch
from torch import nn

from kuiper.errors import ParameterError

# A YOLOv5 checkpoint is a pickled model rather than a state_dict. These are the classes it is made of.
CHECKPOINT_CLASSES = {
    "models.common": ("Bottleneck", "C3", "Concat", "Conv", "SPPF"),
    "models.yolo": ("Detect", "DetectionModel", "Model"),
}
CHECKPOINT_LAYERS = (nn.BatchNorm2d, nn.Conv2d, nn.MaxPool2d, nn.ModuleList, nn.Sequential, nn.SiLU, nn.Upsample)


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


def load_weights(model: nn.Module, path: str | Path) -> None:
    """Fill ``model`` from a state_dict (torchvision's .pth files) or a YOLOv5 checkpoint (.pt).

    No code from the file runs: it is read with torch's ``weights_only``.

    Raises
    ------
    ParameterError
        If the file is neither, or if its names or shapes are not those of ``model``.
    """
    state = read_state(Path(path))
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reasons = [line.strip() for line in str(error).splitlines()[1:]]
        expected = f"the weights of {type(model).__name__}"
        raise ParameterError(str(path), expected, f"others: {reasons[0][:200]}") from error


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """The named tensors of a file."""
    stubs: list[Any] = [
        type(name, (nn.Module,), {"__module__": module})
        for module, names in CHECKPOINT_CLASSES.items()
        for name in names
    ]
    try:
        with torch.serialization.safe_globals([*stubs, *CHECKPOINT_LAYERS]):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ParameterError(str(path), "a file of weights from torch.save", reason[0]) from error
    if isinstance(content, dict) and isinstance(content.get("model"), nn.Module):
        content = content["model"].float().state_dict()
    if not isinstance(content, dict) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise ParameterError(str(path), "a state_dict or a YOLOv5 checkpoint", f"a {type(content).__name__}")
    return content
