"""Graphs for the tests of the passes: lines of a .param file with made-up weights, and what a pass makes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry
from tests.arrays import assert_close

if TYPE_CHECKING:
    from kuiper.graph.passes import Pass

IMAGE = "(2,4,6,5)f32"
"""What most of these graphs hand on: two images of four channels."""

INPUT, OUTPUT = "pnnx.Input in 0 1 x #x=" + IMAGE, "pnnx.Output out 1 0 y"

_GEOMETRY = "kernel_size=(3,3) stride=(1,1) padding=(1,1) dilation=(1,1)"


def conv(wires: str, name: str = "conv", bias: bool = True, groups: int = 1, shape: str = IMAGE, more: str = "") -> str:
    """A line: a 3x3 convolution of four channels from one operand to another, ``wires="x 1"``."""
    source, target = wires.split()
    weights = f"@weight=(4,{4 // groups},3,3)f32" + (" @bias=(4)f32" if bias else "")
    channels = f"in_channels=4 out_channels=4 groups={groups} bias={bias}"
    shapes = f"#{source}={shape} #{target}={shape}" if shape else ""
    return f"nn.Conv2d {name} 1 1 {source} {target} {channels} {_GEOMETRY} {more} {weights} {shapes}"


def norm(
    wires: str, name: str = "bn", type_name: str = "nn.BatchNorm2d", channels: int = 4, affine: bool = True
) -> str:
    """A line: a batch norm."""
    source, target = wires.split()
    keys = ["running_mean", "running_var", *(("weight", "bias") if affine else ())]
    weights = " ".join(f"@{key}=({channels})f32" for key in keys)
    return f"{type_name} {name} 1 1 {source} {target} num_features={channels} eps=1e-3 affine={affine} {weights}"


def expression(text: str, wires: str, name: str = "expr", shape: str = IMAGE) -> str:
    """A line: an expression of all operands but the last, which is its output."""
    *sources, target = wires.split()
    declared = f"#{target}={shape}" if shape else ""
    return f"pnnx.Expression {name} {len(sources)} 1 {' '.join(sources)} {target} expr={text} {declared}"


def relu(wires: str, name: str = "relu", type_name: str = "nn.ReLU", more: str = "") -> str:
    """A line: a ReLU, or another operator of one input."""
    source, target = wires.split()
    return f"{type_name} {name} 1 1 {source} {target} {more} #{target}={IMAGE}"


def file_graph(*lines: str, seed: int = 0) -> pnnx.Graph:
    """The graph of these lines. Weights are seeded normal numbers, variances lie between 0.5 and 1.5."""
    operands = {word for line in lines for word in _outputs(line)}
    text = "\n".join(["7767517", f"{len(lines)} {len(operands)}", *lines, ""])
    graph = pnnx.parse_param(text, "test.param")
    generator = np.random.default_rng(seed)
    for op in graph.operators:
        for key, attr in op.attrs.items():
            data = generator.standard_normal(attr.shape)
            spread = generator.random(attr.shape) + 0.5
            values = spread if key == "running_var" else data / math.sqrt(max(1, math.prod(attr.shape[1:])))
            attr.data = values.astype(np.float64 if attr.type is pnnx.DataType.F64 else np.float32)
    return graph


def _outputs(line: str) -> list[str]:
    words = line.split()
    inputs, outputs = int(words[2]), int(words[3])
    return words[4 + inputs : 4 + inputs + outputs]


def build(graph: pnnx.Graph, *passes: Pass | str) -> RuntimeGraph:
    """The graph on the readable path, after these passes."""
    model = RuntimeGraph(graph)
    model.build(registry, passes=passes)
    return model


def types(model: RuntimeGraph) -> list[str]:
    """The operator types in order of execution, without the graph's ends."""
    return [op.type for op in model.order if op.layer is not None]


def rewritten(passes: Pass | list[Pass], *lines: str, inputs: tuple[Any, ...] = (), seed: int = 0) -> RuntimeGraph:
    """The graph of these lines after a pass, checked: wired well, and with the numbers that it had before."""
    chosen = passes if isinstance(passes, list) else [passes]
    graph = file_graph(*lines, seed=seed)
    plain, model = build(graph), build(graph, *chosen)
    assert_wired(model)
    if not inputs:
        generator = np.random.default_rng(seed)
        inputs = tuple(generator.standard_normal((2, 4, 6, 5)).astype(np.float32) for _ in plain.input_operators)
    assert_close(model.forward(*inputs), plain.forward(*inputs))
    return model


def assert_wired(model: RuntimeGraph) -> None:
    """Operands and operators agree on who makes and who reads what, and operators that are gone appear nowhere."""
    present = set(model.operators)
    for op in model.operators:
        assert len(op.input_names) == len(op.inputs)
        for operand in op.outputs:
            assert operand.producer is op
            assert len(set(operand.consumers)) == len(operand.consumers)
            assert set(operand.consumers) == {reader for reader in present if operand in reader.inputs}
        for operand in op.inputs:
            assert operand.producer in present
            assert op in operand.consumers
