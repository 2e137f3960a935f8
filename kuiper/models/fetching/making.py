"""From a file of official weights to a model that kuiper runs: graph, card, and the proof that it computes the same."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from kuiper.errors import ExportError
from kuiper.models.cards.labels import read_labels
from kuiper.models.conversion.comparison import TOLERANCE
from kuiper.models.conversion.torch_models import TorchModel
from kuiper.models.conversion.verification import verify
from kuiper.models.fetching.labels import imagenet_labels, numbered_labels

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import nn

    from kuiper.models.fetching.catalogue import Official

# Deep networks multiply the rounding of float32, torch's and kuiper's alike. Where torch itself is so far from float64
# that the usual tolerance would be too much to ask for, this multiple of its own distance is allowed.
ROUNDINGS = 4
UNKNOWN_LABELS = "numbered, for want of torchvision, which has the names"


def make_model(name: str, source: Official, weights: Path, folder: Path) -> dict[str, Any]:
    """Write ``NAME.pnnx.param``, ``NAME.pnnx.bin`` and ``NAME.json`` into ``folder``; what is worth noting about them.

    Raises
    ------
    ExportError
        If the file holds other weights than those of the architecture, if there is no graph, or if kuiper computes
        something else with it than torch.
    """
    from kuiper.models.conversion.torch_weights import load_weights
    from kuiper.models.zoo.export import ARCHITECTURES, create, example_input

    model = create(name)
    load_weights(model, weights)
    tensors = [example_input((1, 3, source.input_size, source.input_size), seed) for seed in (0, 1)]
    examples = {f"seed {seed}": (tensor.numpy(),) for seed, tensor in enumerate(tensors)}
    oracle = TorchModel(model, name)
    param, _ = oracle.export(examples["seed 0"], folder / name, ARCHITECTURES[name].moduleop)
    comparison = verify(param, oracle, examples, max(TOLERANCE, ROUNDINGS * rounding(model, tensors[0])))
    if not comparison.agrees:
        expected = f"kuiper's output within {comparison.tolerance:.1e} of torch's"
        got = f"a difference of {comparison.worst:.1e} of the largest output"
        raise ExportError(name, expected, got, comparison.reason)
    card = make_card(name, source)
    (folder / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return {
        "source": source.url,
        "sha256": source.sha256,
        "difference": comparison.worst,
        "labels": card["labels_from"],
    }


def rounding(model: nn.Module, x: torch.Tensor) -> float:
    """max|torch in float32 - torch in float64| / max|torch in float64|."""
    import torch

    with torch.no_grad():
        exact = copy.deepcopy(model).double()(x.double())
        return float((model(x) - exact).abs().max() / exact.abs().max())


def make_card(name: str, source: Official) -> dict[str, Any]:
    """The model card of official weights, ready for JSON."""
    if source.labels == "coco":
        labels, labels_from = list(read_labels("coco")), "COCO"
    else:
        known = imagenet_labels()
        labels, labels_from = (known, "torchvision") if known else (numbered_labels(1000), UNKNOWN_LABELS)
    return {
        "name": name,
        "task": source.task,
        **source.card,
        "source": source.url,
        "sha256": source.sha256,
        "licence": source.licence,
        "page": source.page,
        "labels_from": labels_from,
        "labels": labels,
    }
