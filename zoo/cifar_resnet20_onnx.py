"""The bundled ResNet-20 as an ONNX file, for the race of lecture 5d.

    pip install torch==2.13.0 onnx
    python -m zoo.cifar_resnet20_onnx

Writes ``cifar_resnet20.onnx`` beside the .param file: its operators and weights, run by PyTorch, so that all runtimes
compute the same function.

The weights are not in it a second time. An ONNX file may name another file of its folder, a first byte and a length for
each of them; the .bin is a zip archive that compresses nothing, so each of its entries is such a stretch. Anyone who
exports the model anew makes this file anew, too.
"""

from __future__ import annotations

import struct
import tempfile
import warnings
import zipfile
from pathlib import Path

import onnx
import torch
from torch.nn import functional as F  # noqa: N812

from kuiper.graph import pnnx
from kuiper.models import bundled

LOCAL_HEADER, NAME_LENGTHS = 30, 26  # of a zip archive's entry: its bytes, and where those say how much follows


class Interpreted(torch.nn.Module):
    """A PNNX graph of convolutions, ReLUs, sums, a pooling and a linear layer."""

    def __init__(self, graph: pnnx.Graph) -> None:
        super().__init__()
        self.operators = graph.operators
        for i, op in enumerate(self.operators):
            for name, attribute in op.attrs.items():
                assert attribute.data is not None
                self.register_buffer(f"w{i}_{name}", torch.from_numpy(attribute.data.copy()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: dict[str, torch.Tensor] = {}
        for i, op in enumerate(self.operators):
            inputs = [values[operand.name] for operand in op.inputs]
            weights = {name: getattr(self, f"w{i}_{name}") for name in op.attrs}
            if op.type == "pnnx.Output":
                break
            values[op.outputs[0].name] = x if op.type == "pnnx.Input" else run(op, inputs, weights)
        return inputs[0]


def run(op: pnnx.Operator, inputs: list[torch.Tensor], weights: dict[str, torch.Tensor]) -> torch.Tensor:
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


def refer_to_archive(model: onnx.ModelProto, archive: Path) -> None:
    """Replace the bytes of each weight by the place in the archive where the same bytes are."""
    raw = archive.read_bytes()
    places = {}
    for info in zipfile.ZipFile(archive).infolist():
        lengths = struct.unpack_from("<HH", raw, info.header_offset + NAME_LENGTHS)
        first = info.header_offset + LOCAL_HEADER + sum(lengths)
        places[raw[first : first + info.file_size]] = first
    for weight in model.graph.initializer:
        place = {"location": archive.name, "offset": places[weight.raw_data], "length": len(weight.raw_data)}
        weight.ClearField("raw_data")
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))


def main() -> None:
    warnings.simplefilter("ignore")
    param = bundled("cifar_resnet20")
    model = Interpreted(pnnx.load(param)).eval()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.onnx")
        torch.onnx.export(model, (torch.zeros(1, 3, 32, 32),), str(whole), opset_version=13, dynamo=False)
        exported = onnx.load(whole)
    refer_to_archive(exported, param.with_suffix(".bin"))
    path = param.with_name("cifar_resnet20.onnx")
    path.write_bytes(exported.SerializeToString())
    onnx.checker.check_model(str(path))


if __name__ == "__main__":
    main()
