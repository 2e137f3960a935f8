"""The networks that can be timed: those of kuiper's zoo, and some transformers that stand in ``architectures``.

What a network takes and how its weights are drawn is said here once, for the export and for torch's own process.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.models.zoo import export

if TYPE_CHECKING:
    import torch
    from torch import nn

CONVOLUTIONAL = ("resnet18", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "unet", "yolov5s")
TRANSFORMERS = ("vit_tiny", "mobilevit_xs", "bert_minilm")
MODELS = (*CONVOLUTIONAL, *TRANSFORMERS)
"""Those that are timed unless others are asked for; each of the two kinds has a geometric mean of its own."""


@dataclass(frozen=True)
class Network:
    """The module that defines it, and its input for one image or text.

    ``ids`` is the number of different integers in an input of token ids; 0 for images, which are normal numbers.
    """

    module: str
    input: tuple[int, ...]
    ids: int = 0


NETWORKS = {
    **{
        name: Network(f"kuiper.models.zoo.architectures.{found.module}", (3, found.size, found.size))
        for name, found in export.ARCHITECTURES.items()
    },
    "vit_tiny": Network("benchmarks.architectures.vit", (3, 224, 224)),
    "mobilevit_xs": Network("benchmarks.architectures.mobilevit", (3, 256, 256)),
    "bert_minilm": Network("benchmarks.architectures.bert", (128,), ids=30522),
}


def create(name: str) -> nn.Module:
    """The network with whatever weights torch starts it with."""
    model: nn.Module = getattr(importlib.import_module(NETWORKS[name].module), name)()
    return model.eval()


def build(name: str, seed: int) -> nn.Module:
    """The network in eval mode, with weights drawn from ``seed``."""
    from kuiper.models.zoo.weights import seed_weights

    if name in export.ARCHITECTURES:
        return export.build(name, seed)
    model = create(name)
    seed_weights(model, seed, example_input(name, 4, seed))
    return model


def example_input(name: str, batch: int, seed: int) -> torch.Tensor:
    """An input for this many images or texts, drawn from ``seed``."""
    import torch

    network = NETWORKS[name]
    shape = (batch, *network.input)
    if network.ids:
        return torch.randint(network.ids, shape, generator=torch.Generator().manual_seed(seed))
    return export.example_input(shape, seed)
