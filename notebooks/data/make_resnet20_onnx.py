"""The bundled ResNet-20 as an ONNX file, for the race of lecture 5d.

    pip install torch==2.13.0 onnx
    python notebooks/data/make_resnet20_onnx.py

Writes ``cifar_resnet20.onnx`` beside itself: the operators and weights of the .param
file, run by PyTorch, so that all runtimes compute the same function.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from kuiper.graph import pnnx
from kuiper.models import bundled
from torch.nn import functional as F  # noqa: N812


class Interpreted(torch.nn.Module):
    """A PNNX graph of convolutions, ReLUs, sums, a pooling and a linear layer."""

    def __init__(self, graph: pnnx.Graph) -> None:
        super().__init__()
        self.operators = graph.operators
        for i, op in enumerate(self.operators):
            for name, attribute in op.attrs.items():
                weight = torch.from_numpy(attribute.data.copy())
                self.register_buffer(f"w{i}_{name}", weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = {}
        for i, op in enumerate(self.operators):
            inputs = [values[operand.name] for operand in op.inputs]
            weights = {name: getattr(self, f"w{i}_{name}") for name in op.attrs}
            if op.type == "pnnx.Output":
                break
            values[op.outputs[0].name] = (
                x if op.type == "pnnx.Input" else run(op, inputs, weights)
            )
        return inputs[0]


def run(op: pnnx.Operator, inputs: list[torch.Tensor], weights: dict) -> torch.Tensor:
    """What PyTorch makes of one operator."""
    if op.type == "nn.Conv2d":
        settings = {key: op.params[key].value for key in ("stride", "padding")}
        return F.conv2d(inputs[0], weights["weight"], weights["bias"], **settings)
    if op.type == "nn.Linear":
        return F.linear(inputs[0], weights["weight"], weights["bias"])
    simple = {
        "nn.ReLU": F.relu,
        "pnnx.Expression": torch.add,
        "nn.AdaptiveAvgPool2d": lambda x: F.adaptive_avg_pool2d(x, 1),
        "torch.flatten": lambda x: torch.flatten(x, 1),
    }
    return simple[op.type](*inputs)


def main() -> None:
    warnings.simplefilter("ignore")
    model = Interpreted(pnnx.load(bundled("cifar_resnet20"))).eval()
    path = Path(__file__).with_name("cifar_resnet20.onnx")
    x = torch.zeros(1, 3, 32, 32)
    torch.onnx.export(model, (x,), str(path), opset_version=13, dynamo=False)


if __name__ == "__main__":
    main()
