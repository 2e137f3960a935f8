"""A layer normalisation, arithmetic and a flatten, in three formats, for lecture 2.

    pip install torch==2.13.0 onnx && pip install -e '.[export]'
    python notebooks/data/make_formats.py

Writes, beside itself, for each NAME of layer_norm, arithmetic and flatten_rest:

    NAME.pnnx.param, NAME.pnnx.bin
    NAME.torchscript.txt            the graph as TorchScript prints it
    NAME.onnx.json                  the nodes of the ONNX graph: type, inputs, outputs
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import onnx
import pnnx
import torch
from torch import nn

FOLDER = Path(__file__).parent
OPERATOR_SET = 11  # of 2019; from 17 on ONNX has a LayerNormalization of its own


class Arithmetic(nn.Module):
    """Two products and two sums."""

    def forward(self, a, b, c, d):
        return a * b + (c + d)


class FlattenRest(nn.Module):
    """Merges all axes but the first, whose length is read from the tensor."""

    def forward(self, x):
        return x.reshape(x.shape[0], -1)


def write(
    name: str,
    module: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    other_batch: tuple[torch.Tensor, ...] = (),
) -> None:
    """All three formats of a module; a second batch size leaves that size open."""
    traced = torch.jit.trace(module.eval(), inputs)
    inlined = traced.inlined_graph
    (FOLDER / f"{name}.torchscript.txt").write_text(without_places(str(inlined)))
    buffer = io.BytesIO()
    torch.onnx.export(
        module,
        inputs,
        buffer,
        opset_version=OPERATOR_SET,
        dynamo=False,
        input_names=["input"] if other_batch else None,
        dynamic_axes={"input": {0: "batch"}} if other_batch else None,
    )
    graph = onnx.load_from_string(buffer.getvalue()).graph
    nodes = [
        {"type": node.op_type, "inputs": list(node.input), "outputs": list(node.output)}
        for node in graph.node
    ]
    (FOLDER / f"{name}.onnx.json").write_text(json.dumps(nodes, indent=1) + "\n")
    options = [f"inputshape={shapes(inputs)}"]
    options += [f"inputshape2={shapes(other_batch)}"] if other_batch else []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "m.pt")
        traced.save(str(path))
        subprocess.run(
            [pnnx.EXEC_PATH, path.name, *options, "fp16=0"],
            cwd=scratch,
            capture_output=True,
        )
        for kind in ("param", "bin"):
            shutil.copyfile(
                Path(scratch, f"m.pnnx.{kind}"), FOLDER / f"{name}.pnnx.{kind}"
            )


def shapes(tensors: tuple[torch.Tensor, ...]) -> str:
    """The shapes as PNNX's options spell them."""
    return ",".join(f"[{','.join(map(str, tensor.shape))}]f32" for tensor in tensors)


def without_places(text: str) -> str:
    """TorchScript's text without its comments, which name folders of this machine."""
    return "\n".join(line.split(" # ")[0].rstrip() for line in text.splitlines()) + "\n"


def main() -> None:
    torch.manual_seed(0)
    warnings.simplefilter("ignore")
    write("layer_norm", nn.LayerNorm(8), (torch.randn(1, 4, 8),))
    write("arithmetic", Arithmetic(), tuple(torch.randn(2, 3) for _ in range(4)))
    two, seven = (torch.randn(n, 3, 4, 5) for n in (2, 7))
    write("flatten_rest", FlattenRest(), (two,), (seven,))


if __name__ == "__main__":
    main()
