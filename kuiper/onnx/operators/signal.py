"""Spectra. The windows are functions of the standard and need no translation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.onnx.element_types import DOUBLE, FLOAT
from kuiper.onnx.operators.casts import as_type
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value


@operator("DFT")
def dft(node: Node, build: GraphBuilder) -> Value:
    """The axis is a setting up to operator set 19, and an input since."""
    params: dict[str, Any] = {key: bool(node.int(key, 0)) for key in ("inverse", "onesided")}
    params["axis"] = node.int("axis", 1) if node.opset < 20 else -2
    return _with_named_inputs(node, build, ("input", "dft_length", "axis"), params)


@operator("STFT")
def stft(node: Node, build: GraphBuilder) -> Value:
    names = ("signal", "frame_step", "window", "frame_length")
    return _with_named_inputs(node, build, names, {"onesided": bool(node.int("onesided", 1))})


@operator("MelWeightMatrix")
def mel_weight_matrix(node: Node, build: GraphBuilder) -> Value:
    values = [node.value(place) for place in range(5)]
    matrix = build.op("MelWeightMatrix", *values, type=DOUBLE)
    return as_type(node, build, matrix, node.int("output_datatype", FLOAT))


def _with_named_inputs(node: Node, build: GraphBuilder, names: tuple[str, ...], params: dict[str, Any]) -> Value:
    """ONNX's own layer, which is told which inputs are there."""
    given = {name: value for name, value in zip(names, node.inputs, strict=False) if value is not None}
    return build.op(node.type, *given.values(), params={**params, "inputs": list(given)})
