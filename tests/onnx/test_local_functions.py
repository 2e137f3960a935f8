"""Functions that a file of ONNX defines: written out where they are called, or refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper

import kuiper
from kuiper.onnx.reader import read_onnx
from tests.onnx.little_models import model, tensor
from tests.onnx.test_hostile import refused


def function(name: str, *calls: str, domain: str = "own") -> onnx.FunctionProto:
    """A function that calls these one after the other."""
    names = ["x", *(f"v{i}" for i in range(len(calls) - 1)), "y"]
    nodes = [
        helper.make_node(call, [a], [b], domain=domain if call != "Neg" else "")
        for call, a, b in zip(calls, names[:-1], names[1:], strict=True)
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_function(domain, name, ["x"], ["y"], nodes, opsets)


def with_functions(*functions: onnx.FunctionProto) -> ModelProto:
    """A model whose one node calls the first of them."""
    made = model([helper.make_node(functions[0].name, ["x"], ["y"], domain="own")], [tensor("x", 3)], [tensor("y", 3)])
    made.opset_import.append(helper.make_opsetid("own", 1))
    made.functions.extend(functions)
    return made


def test_functions_are_written_out() -> None:
    graph = kuiper.load(lambda: read_onnx(with_functions(function("F", "G", "G"), function("G", "Neg"))))
    np.testing.assert_array_equal(np.asarray(graph(np.float32([1, -2, 3]))), np.float32([1, -2, 3]))


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([function("F", "F")], "functions that do not call themselves, got 'F', which does"),
        ([function("F", "G"), function("G", "H", "Neg"), function("H", "F")], "functions that do not call themselves"),
        ([function("F", "Neg"), function("F", "Neg")], "functions with names of their own"),
        ([function(f"F{i}", *[f"F{i + 1}"] * 10) for i in range(12)] + [function("F12", "Neg")], "2000000 nodes"),
    ],
)
def test_functions_that_never_end_are_refused(functions: list[onnx.FunctionProto], message: str) -> None:
    refused(with_functions(*functions), message)


def test_a_model_of_functions_only_is_refused() -> None:
    made = with_functions(function("F", "Neg"))
    made.ClearField("graph")
    refused(made, "a file without outputs")
