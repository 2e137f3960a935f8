"""Files that mean harm: each is one KuiperError, in little time and memory, and nothing outside is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper

from kuiper.errors import KuiperError, ModelFormatError, UnsupportedOperatorError
from kuiper.onnx.checks import DEEPEST, LONGEST_NAME
from kuiper.onnx.reader import read_onnx
from tests.onnx.little_models import model, scaled_convolution, tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def refused(source: Path | ModelProto, message: str, kind: type[KuiperError] = ModelFormatError) -> None:
    """Expect one error, of one line of bounded length."""
    with pytest.raises(kind, match=message) as error:
        read_onnx(source)
    assert len(str(error.value)) < 2000
    assert "\n" not in str(error.value)


def chain(**changes: Any) -> ModelProto:
    """x + w in a model, where a test changes what it likes."""
    weight = changes.pop("weight", np.ones(3, np.float32))
    nodes = changes.pop("nodes", [helper.make_node("Add", ["x", "w"], ["y"], name="sum")])
    made = model(nodes, [tensor("x", 3)], [tensor("y", 3)], {"w": weight})
    assert not changes
    return made


@pytest.mark.parametrize("length", [0, 1, 7, 50, 200, -1])
def test_truncated_files_are_refused(length: int, tmp_path: Path) -> None:
    data = scaled_convolution().SerializeToString()
    (tmp_path / "net.onnx").write_bytes(data[:length])
    refused(tmp_path / "net.onnx", r"net\.onnx: expected", KuiperError)


def test_random_bytes_are_refused(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    for size in (1, 10, 1000, 100_000):
        (tmp_path / "net.onnx").write_bytes(generator.bytes(size))
        refused(tmp_path / "net.onnx", r"net\.onnx: expected", KuiperError)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.onnx").mkdir()
    refused(tmp_path / "folder.onnx", "a directory")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.onnx")
        refused(tmp_path / "pipe.onnx", "a special file")


def cyclic(made: ModelProto) -> None:
    made.graph.node.extend([helper.make_node("Add", ["w", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])])
    made.graph.node[0].input[0] = "a"


def own_input(made: ModelProto) -> None:
    made.graph.node[0].input[0] = "y"


def missing(made: ModelProto) -> None:
    made.graph.node[0].input[0] = "nowhere"


def missing_output(made: ModelProto) -> None:
    made.graph.output[0].name = "nowhere"


def two_makers(made: ModelProto) -> None:
    made.graph.node.append(helper.make_node("Relu", ["x"], ["y"]))


def makes_an_input(made: ModelProto) -> None:
    made.graph.node.append(helper.make_node("Relu", ["w"], ["x"]))


def two_inputs(made: ModelProto) -> None:
    made.graph.input.append(made.graph.input[0])


def two_weights(made: ModelProto) -> None:
    made.graph.initializer.append(made.graph.initializer[0])


def two_settings(made: ModelProto) -> None:
    for _ in range(2):
        made.graph.node[0].attribute.append(helper.make_attribute("axis", 1))


def long_name(made: ModelProto) -> None:
    made.graph.node[0].name = "n" * 2_000_000


def long_output(made: ModelProto) -> None:
    made.graph.node[0].output[0] = made.graph.output[0].name = "n" * (LONGEST_NAME + 1)


def long_size(made: ModelProto) -> None:
    made.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n" * 2_000_000


def no_name(made: ModelProto) -> None:
    made.graph.initializer[0].name = made.graph.node[0].input[1] = ""


def no_outputs(made: ModelProto) -> None:
    del made.graph.output[:]


def no_graph(made: ModelProto) -> None:
    made.ClearField("graph")


def old_opset(made: ModelProto) -> None:
    made.opset_import[0].version = -5


def far_opset(made: ModelProto) -> None:
    made.opset_import[0].version = 2**62


def huge_dims(made: ModelProto) -> None:
    made.graph.initializer[0].dims[:] = [2**60, 2**60]


def negative_dims(made: ModelProto) -> None:
    made.graph.initializer[0].dims[:] = [-3]


def short_data(made: ModelProto) -> None:
    made.graph.initializer[0].raw_data = b"\0" * 11


def no_data(made: ModelProto) -> None:
    made.graph.initializer[0].ClearField("raw_data")


def other_field(made: ModelProto) -> None:
    made.graph.initializer[0].ClearField("raw_data")
    made.graph.initializer[0].int64_data[:] = [1, 2, 3]


def short_setting(made: ModelProto) -> None:
    value = TensorProto(data_type=TensorProto.INT64, dims=[2**40], raw_data=b"\0" * 8)
    made.graph.node[0].CopyFrom(helper.make_node("Constant", [], ["y"], value=value))


def unknown_type(made: ModelProto) -> None:
    made.graph.initializer[0].data_type = 99


def text(made: ModelProto) -> None:
    made.graph.initializer[0].CopyFrom(helper.make_tensor("w", TensorProto.STRING, [3], [b"a", b"b", b"c"]))


def sparse(made: ModelProto) -> None:
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    places = helper.make_tensor("p", TensorProto.INT64, [1], [0])
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [2**40]))


def sparse_setting(made: ModelProto) -> None:
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    places = helper.make_tensor("p", TensorProto.INT64, [1], [0])
    value = helper.make_sparse_tensor(values, places, [2**40])
    made.graph.node[0].CopyFrom(helper.make_node("Constant", [], ["y"], sparse_value=value))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cyclic, "a circle at"),
        (own_input, "a circle at 'sum'"),
        (missing, "a node, an input or an initializer 'nowhere', got none"),
        (missing_output, "a node, an input or an initializer 'nowhere', got none"),
        (two_makers, "one node that makes 'y', got two"),
        (makes_an_input, "one node that makes 'x', got two"),
        (two_inputs, "one input 'x', got two"),
        (two_weights, "one initializer 'w', got two"),
        (two_settings, "Add 'sum': expected one setting axis, got two"),
        (long_name, "names of at most 8192 characters, got 'nnnn"),
        (long_output, "names of at most 8192 characters"),
        (long_size, "names of at most 8192 characters"),
        (no_name, "one initializer '', got one without a name"),
        (no_outputs, "a file without outputs"),
        (no_graph, "a file without outputs"),
        (old_opset, "operator sets with numbers from 1 on, got -5"),
        (far_opset, "operator sets with numbers from 1 on"),
        (huge_dims, "'w': expected [0-9]+ bytes of numbers, got 12"),
        (negative_dims, r"'w': expected sizes from 0 on, got \(-3,\)"),
        (short_data, "'w': expected 12 bytes of numbers, got 11"),
        (no_data, "'w': expected 3 numbers, got 0"),
        (other_field, "net|model"),
        (short_setting, "Constant '': expected 8796093022208 bytes of numbers, got 8"),
        (unknown_type, "'w': expected numbers, got type 99"),
        (text, "'w': expected numbers, got text"),
        (sparse, "initializers that are stored whole, got a sparse one"),
        (sparse_setting, "a sparse tensor of at most"),
    ],
)
def test_graphs_that_cannot_be_are_refused(change: Callable[[ModelProto], None], message: str, tmp_path: Path) -> None:
    made = chain()
    change(made)
    refused(made, message, KuiperError)
    (tmp_path / "net.onnx").write_bytes(made.SerializeToString())
    refused(tmp_path / "net.onnx", message, KuiperError)


def nested(depth: int) -> ModelProto:
    """A condition in a condition in a condition ..."""
    node = helper.make_node("Identity", ["x"], ["y"])
    for level in range(depth):
        output = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [3])
        body = helper.make_graph([node], "body", [], [output])
        node = helper.make_node("If", ["c"], [f"y{level}"], then_branch=body, else_branch=body)
    output = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [3])
    inputs = [tensor("x", 3), tensor("c", kind=TensorProto.BOOL)]
    return model([node], inputs, [output])


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    data = chain().SerializeToString()
    (tmp_path / "net.onnx").write_bytes(data.replace(b"\x03sum", b"\x03s\xffm"))
    refused(tmp_path / "net.onnx", "names in UTF-8")


def test_bodies_in_one_another_have_a_limit() -> None:
    deep = helper.make_node("Identity", ["x"], ["y"])
    for _ in range(DEEPEST + 1):
        outer = helper.make_node("If", ["c"], ["y"])
        attribute = AttributeProto(name="then_branch", type=AttributeProto.GRAPH)
        attribute.g.node.append(deep)
        outer.attribute.append(attribute)
        deep = outer
    refused(model([deep], [tensor("x", 3)], [tensor("y", 3)]), f"at most {DEEPEST} bodies in one another, got more")


def test_unknown_operators_are_listed_once_for_each_type() -> None:
    nodes = [helper.make_node("Mystery", ["x"], [f"v{i}"], name=f"n{i}") for i in range(1000)]
    nodes.append(helper.make_node("Sum", [f"v{i}" for i in range(1000)], ["y"]))
    made = model(nodes, [tensor("x", 3)], [tensor("y", 3)])
    refused(made, "operators that kuiper knows, got .*Mystery 'n0' and 999 more", UnsupportedOperatorError)
