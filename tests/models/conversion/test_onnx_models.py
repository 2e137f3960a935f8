"""Models in ONNX: their inputs, their conversion, and the comparison with what others compute."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import kuiper
from kuiper.errors import ExportError, ModelFormatError, ParameterError
from kuiper.graph import pnnx
from kuiper.models.conversion import OnnxModel, verify
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs
from tests.onnx.little_models import Size, model, scaled_convolution, tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Dims = tuple[Size, ...]


@pytest.fixture(params=["onnxruntime", "ONNX"])
def oracle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each oracle; onnxruntime only where it is installed."""
    if request.param == "onnxruntime":
        pytest.importorskip("onnxruntime")
    else:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return str(request.param)


def save(path: Path, *dims: Dims | None, opset: int = 17) -> Path:
    """relu(x0 + x1 + ...) in a file, with inputs of these sizes; None: not even the number of axes is known."""
    inputs = [tensor(f"x{i}", *(one or ())) for i, one in enumerate(dims)]
    for info, one in zip(inputs, dims, strict=True):
        if one is None:
            info.type.tensor_type.ClearField("shape")
    nodes = [helper.make_node("Relu", ["x0"], ["s0"])]
    nodes += [helper.make_node("Add", [f"s{i - 1}", f"x{i}"], [f"s{i}"]) for i in range(1, len(dims))]
    output = helper.make_tensor_value_info(f"s{len(dims) - 1}", TensorProto.FLOAT, None)
    onnx.save(model(nodes, inputs, [output], opset=opset), path)
    return path


def test_inputs_are_those_that_the_file_declares(tmp_path: Path, oracle: str) -> None:
    found = OnnxModel(save(tmp_path / "net.onnx", (2, 3)))
    assert found.specs([]) == [InputSpec((2, 3), "f32")]
    assert found.specs([InputSpec((2, 3), limits=(0, 1))]) == [InputSpec((2, 3), "f32", (0, 1))]
    assert found.other_specs(found.specs([])) == []
    assert (found.name, found.framework) == ("net.onnx", oracle)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([InputSpec((2, 4))], r"expected inputs like x0 \(n, 3\) f32, got 2,4"),
        ([InputSpec((2, 3), "i64")], "got 2,3:i64"),
        ([InputSpec((2, 3, 1))], "got 2,3,1"),
        ([InputSpec((2, 3)), InputSpec((2, 3))], "got 2,3; 2,3"),
    ],
)
def test_sizes_that_are_given_must_fit(given: list[InputSpec], message: str, tmp_path: Path) -> None:
    found = OnnxModel(save(tmp_path / "net.onnx", ("n", 3)))
    with pytest.raises(ExportError, match=message):
        found.specs(given)
    assert found.specs([InputSpec((5, 3))]) == [InputSpec((5, 3), "f32")]


@pytest.mark.parametrize(
    ("dims", "first", "second"),
    [
        ([("batch", 3)], [(1, 3)], [(2, 3)]),
        ([(-1, 3, "h", "w")], [(1, 3, 64, 64)], [(2, 3, 96, 96)]),
        ([("n", "time"), ("n", 1)], [(1, 16), (1, 1)], [(2, 23), (2, 1)]),
        ([None], [(1, 3, 64, 64)], [(2, 3, 96, 96)]),
        ([("a", 2), (5, 2)], [(1, 2), (5, 2)], []),  # two rows and five do not add
    ],
)
def test_open_sizes_are_made_up_and_said(
    dims: Sequence[Dims | None], first: list[Dims], second: list[Dims], tmp_path: Path
) -> None:
    found, notes = OnnxModel(save(tmp_path / "net.onnx", *dims)), []
    specs = found.specs([], notes.append)
    assert [spec.shape for spec in specs] == first
    assert [spec.shape for spec in found.other_specs(specs)] == second
    assert "--input chooses others" in notes[0]


def test_sizes_that_fit_nothing_that_is_made_up_are_asked_for(tmp_path: Path) -> None:
    found = OnnxModel(save(tmp_path / "net.onnx", (1, "a"), (1, 7)))
    with pytest.raises(ExportError, match=r"--input once for each input.*got x0 \(1, a\) f32; x1 \(1, 7\) f32"):
        found.specs([])
    assert found.specs([InputSpec((1, 7)), InputSpec((1, 7))])


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"net\.onnx: expected a file, got nothing there"):
        OnnxModel(tmp_path / "net.onnx")


def test_answers_are_the_oracles(tmp_path: Path, oracle: str) -> None:
    found = OnnxModel(save(tmp_path / "net.onnx", (2, 3), ()))
    x = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
    (answer,) = found.answers((x, np.float32(2)))
    np.testing.assert_array_equal(answer, np.maximum(x, 0) + 2)
    (exact,) = found.exact_answers((x, np.float32(2)))
    assert exact.dtype == np.float64
    assert len(found.shaken_answers((x, np.float32(2)))) == (3 if oracle == "onnxruntime" else 0)
    for call in (found.answers, lambda arrays: found.export(arrays, tmp_path / "net") and found.answers(arrays)):
        with pytest.raises(ExportError, match=r"net\.onnx: expected 2 inputs, as the file has, got 1"):
            call((x,))
    with pytest.raises(ExportError, match=rf"net\.onnx: expected a run by {oracle} on x0 \(2,\), x1 \(3,\), got "):
        found.answers((np.zeros(2, np.float32), np.zeros(3, np.float32)))


def test_export_leaves_open_what_the_file_leaves_open(tmp_path: Path) -> None:
    onnx.save(scaled_convolution(), tmp_path / "net.onnx")
    found = OnnxModel(tmp_path / "net.onnx", {"scale": 2})
    specs = found.specs([InputSpec((1, 3, 9, 7))])
    first, second = draw_inputs(specs, 0), draw_inputs(found.other_specs(specs), 1)
    param, weights = found.export(first, tmp_path / "out" / "net")
    assert weights.exists()
    assert [op.outputs[0].shape for op in pnnx.load(param).operators if op.type == "pnnx.Input"] == [
        (None, 3, None, None)
    ]
    assert "(?,3,?,?)f32" in param.read_text()
    assert verify(param, found, {"first": first, "second": second}).agrees
    with pytest.raises(ParameterError, match="constants among the inputs image, scale, got rate"):
        OnnxModel(tmp_path / "net.onnx", {"rate": 2}).export((), tmp_path / "net")


def test_export_refuses_what_a_pnnx_file_cannot_hold(tmp_path: Path) -> None:
    x, y = (tensor(name, 3, kind=TensorProto.UINT16) for name in "xy")
    onnx.save(model([helper.make_node("Add", ["x", "x"], ["y"])], [x], [y]), tmp_path / "net.onnx")
    with pytest.raises(ExportError, match=r"x: expected an input of the types .*uint16; load the \.onnx file itself"):
        OnnxModel(tmp_path / "net.onnx")
    graph = kuiper.load(tmp_path / "net.onnx")
    np.testing.assert_array_equal(np.asarray(graph(np.uint16([1, 2, 40000]))), np.uint16([2, 4, 14464]))


def test_a_graph_with_a_shifted_result_is_refused(tmp_path: Path, oracle: str) -> None:
    weight = np.random.default_rng(0).standard_normal((2, 3, 2, 2)).astype(np.float32)
    found = {}
    for name, pads in (("right", [0, 0, 1, 1]), ("shifted", [1, 1, 0, 0])):
        nodes = [helper.make_node("Conv", ["x", "weight"], ["y"], pads=pads)]
        net = model(nodes, [tensor("x", 1, 3, 8, 8)], [tensor("y", 1, 2, 8, 8)], {"weight": weight})
        onnx.save(net, tmp_path / f"{name}.onnx")
        found[name] = OnnxModel(tmp_path / f"{name}.onnx")
    inputs = draw_inputs(found["right"].specs([]), 0)
    param, _ = found["shifted"].export(inputs, tmp_path / "net")
    comparison = verify(param, found["right"], {"first": inputs})
    assert not comparison.agrees
    assert comparison.suspect == ""  # each node alone is right


@pytest.mark.parametrize("bias", [-17.0, -30.0])
def test_a_detector_that_finds_nothing_agrees(bias: float, tmp_path: Path, oracle: str) -> None:
    """Of numbers near 0, rounding may take all digits: a sigmoid of -18 is 0 for onnxruntime."""
    weight = np.random.default_rng(0).standard_normal((2, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "weight", "bias"], ["sums"], pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["sums"], ["y"]),
    ]
    weights = {"weight": weight, "bias": np.full(2, bias, np.float32)}
    net = model(nodes, [tensor("x", 1, 3, 16, 16)], [tensor("y", 1, 2, 16, 16)], weights)
    onnx.save(net, tmp_path / "net.onnx")
    found = OnnxModel(tmp_path / "net.onnx")
    inputs = draw_inputs(found.specs([]), 0)
    param, _ = found.export(inputs, tmp_path / "net")
    comparison = verify(param, found, {"first": inputs})
    assert comparison.agrees
    if oracle == "onnxruntime":
        assert "up to 4 times as far is accepted" in str(comparison.report())


def test_where_inputs_are_whole_numbers_weights_are_moved(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    table = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "x"], ["y"])]
    net = model(nodes, [tensor("x", 2, kind=TensorProto.INT64)], [tensor("y", 2, 3)], {"table": table})
    onnx.save(net, tmp_path / "net.onnx")
    answers = OnnxModel(tmp_path / "net.onnx").shaken_answers((np.array([1, 3]),))
    up, down = (np.nextafter(table, np.float32(way)) for way in (np.inf, -np.inf))
    for (answer,), expected in zip(answers, (table, up, down), strict=True):
        np.testing.assert_array_equal(answer, expected[[1, 3]])


def test_export_spells_what_is_not_finite_and_what_is_empty(tmp_path: Path, oracle: str) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "low"], ["clipped"]),
        helper.make_node("MaxPool", ["clipped"], ["pooled"], kernel_shape=[3], strides=[2], auto_pad="SAME_UPPER"),
        helper.make_node("ReduceMax", ["pooled"], ["most"], keepdims=0),
        helper.make_node("Reshape", ["most", "none"], ["y"]),
    ]
    weights = {"low": np.float32(0.5), "none": np.zeros(0, np.int64)}
    onnx.save(model(nodes, [tensor("x", 1, 2, 8)], [tensor("y")], weights), tmp_path / "net.onnx")
    found = OnnxModel(tmp_path / "net.onnx")
    inputs = draw_inputs(found.specs([]), 0)
    param, _ = found.export(inputs, tmp_path / "net")
    assert verify(param, found, {"first": inputs}).agrees


def test_batch_norms_of_old_operator_sets_are_judged_rightly(tmp_path: Path, oracle: str) -> None:
    generator = np.random.default_rng(0)
    weights = {name: generator.uniform(0.5, 2, 3).astype(np.float32) for name in ("scale", "shift", "mean", "var")}
    node = helper.make_node("BatchNormalization", ["x", *weights], ["y"])
    onnx.save(model([node], [tensor("x", 2, 3, 4, 4)], [tensor("y", 2, 3, 4, 4)], weights, 9), tmp_path / "net.onnx")
    found = OnnxModel(tmp_path / "net.onnx")
    (x,) = draw_inputs(found.specs([]), 0)
    scale, shift, mean, var = (one[:, None, None] for one in weights.values())
    (answer,) = found.answers((x,))
    np.testing.assert_allclose(answer, (x - mean) / np.sqrt(var + 1e-5) * scale + shift, rtol=1e-4, atol=1e-5)


def test_the_suspect_is_the_node_that_kuiper_computes_otherwise(
    tmp_path: Path, oracle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kuiper.onnx import table

    onnx.save(scaled_convolution(), tmp_path / "net.onnx")
    found = OnnxModel(tmp_path / "net.onnx", {"scale": 2})
    inputs = draw_inputs(found.specs([InputSpec((1, 3, 9, 9))]), 0)
    assert found.suspect("", inputs, 1e-5) == ""
    wrong = lambda node, build: build.expression("mul(@0,mul(@1,1.01))", *node.values())  # noqa: E731
    monkeypatch.setitem(table._translations, ("", "Mul"), wrong)
    assert found.suspect("", inputs, 1e-5) == "Mul 'scaled'"
    param, _ = found.export(inputs, tmp_path / "net")
    comparison = verify(param, found, {"first": inputs})
    assert not comparison.agrees
    assert comparison.reason == "the first operator that computes something else is Mul 'scaled'"


def unrolled(count: int, transposed: bool) -> onnx.ModelProto:
    """An unrolled network: one matrix and one bias in every step, and convolutions that share theirs."""
    r = np.random.default_rng(0)
    constants = {"w": r.standard_normal((48, 48)) / 7, "b": r.standard_normal(48), "k": r.standard_normal((3, 3, 3, 3))}
    shape = helper.make_node("Reshape", ["h0", "image"], ["i0"])
    nodes, inputs = [shape], [tensor("h0", 4, 48)]
    for i in range(count):
        nodes.append(helper.make_node("Gemm", [f"h{i}", "w", "b"], [f"g{i}"], transB=int(transposed)))
        nodes.append(helper.make_node("Tanh", [f"g{i}"], [f"h{i + 1}"]))
        nodes.append(helper.make_node("Conv", [f"i{i}", "k"], [f"i{i + 1}"], pads=[1, 1, 1, 1]))
    arrays = {name: array.astype(np.float32) for name, array in constants.items()} | {"image": np.int64([1, 3, 8, 8])}
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (f"h{count}", f"i{count}")]
    return model(nodes, inputs, outputs, arrays)


@pytest.mark.parametrize("transposed", [False, True])
def test_export_writes_a_shared_weight_once(tmp_path: Path, transposed: bool) -> None:
    sizes, x = [], np.random.default_rng(1).standard_normal((4, 48)).astype(np.float32)
    for count in (2, 12):
        path = tmp_path / f"net{count}.onnx"
        onnx.save(unrolled(count, transposed), path)
        param, weights = OnnxModel(path).export([x], tmp_path / f"net{count}")
        sizes.append(weights.stat().st_size)
        written = kuiper.load(param)
        for got, expected in zip(written(x), kuiper.load(path)(x), strict=True):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
        layers = [op for op in written.operators if "weight" in op.attrs]
        assert len(layers) == 2 * count
        assert len({id(op.attrs["weight"]) for op in layers}) == 2
        for got, expected in zip(kuiper.load(param, optimize=False)(x), written(x), strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(expected), atol=1e-4 * np.abs(expected).max())
    assert sizes[0] == sizes[1]


def test_a_file_with_shared_weights_lies_in_memory_once(tmp_path: Path) -> None:
    onnx.save(unrolled(12, True), tmp_path / "net.onnx")
    operators = kuiper.load(tmp_path / "net.onnx").operators
    assert len({id(op.attrs["weight"].data) for op in operators if "weight" in op.attrs}) == 2
