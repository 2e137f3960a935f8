"""Little networks in ONNX for the tests of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_onnx(path: Path, nodes: Sequence[Any], inputs: dict[str, Any], outputs: dict[str, Any]) -> Path:
    """A file with these nodes; of an input and an output, the type and the axes."""
    described = [
        [helper.make_tensor_value_info(name, kind, axes) for name, (kind, axes) in tensors.items()]
        for tensors in (inputs, outputs)
    ]
    graph = helper.make_graph(list(nodes), path.stem, *described)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def sums(folder: Path) -> Path:
    """x + y and x - y of floats, for any number of rows."""
    nodes = [helper.make_node("Add", ["x", "y"], ["sum"]), helper.make_node("Sub", ["x", "y"], ["difference"])]
    axes = TensorProto.FLOAT, ["n", 3]
    return write_onnx(folder / "sums.onnx", nodes, {"x": axes, "y": axes}, {"sum": axes, "difference": axes})


def of_type(folder: Path, kind: int) -> Path:
    """What it is given, of a type."""
    word = TensorProto.DataType.Name(kind).lower()
    axes = kind, ["n", 2]
    return write_onnx(folder / f"{word}.onnx", [helper.make_node("Identity", ["x"], ["y"])], {"x": axes}, {"y": axes})


def rows_of_table(folder: Path) -> Path:
    """The rows of a table with these numbers; there are four."""
    table = helper.make_tensor("table", TensorProto.FLOAT, [4, 2], range(8))
    nodes = [
        helper.make_node("Constant", [], ["table"], value=table),
        helper.make_node("Gather", ["table", "at"], ["row"]),
    ]
    ends = {"at": (TensorProto.INT64, ["n", 1])}, {"row": (TensorProto.FLOAT, ["n", 1, 2])}
    return write_onnx(folder / "rows.onnx", nodes, *ends)
