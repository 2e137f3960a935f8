"""Models in ONNX: their inputs, answers and conversion. The last needs PyTorch too, which pnnx imports."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion import OnnxModel, verify  # noqa: E402
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.torch  # the extra that brings PyTorch brings onnx too

Dims = tuple["int | str", ...]


def save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    dims: Sequence[Dims | None],
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 17,
) -> Path:
    """A model with inputs x0, x1 ... and the output y."""
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape) for i, shape in enumerate(dims)]
    constants = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "net", inputs, [output], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def perceptron(path: Path, dims: Dims = (2, 3), opset: int = 17) -> Path:
    weight = np.arange(12, dtype=np.float32).reshape(3, 4) - 6
    nodes = [helper.make_node("MatMul", ["x0", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    return save(path, nodes, [dims], {"w": weight}, opset)


def test_inputs_are_those_that_the_file_declares(tmp_path: Path) -> None:
    model = OnnxModel(perceptron(tmp_path / "net.onnx"))
    assert model.specs([]) == [InputSpec((2, 3), "f32")]
    assert model.specs([InputSpec((2, 3), limits=(0, 1))]) == [InputSpec((2, 3), "f32", (0, 1))]
    assert (model.name, model.framework) in (("net.onnx", "onnxruntime"), ("net.onnx", "ONNX"))


def test_export_and_answers_refuse_another_number_of_inputs(tmp_path: Path) -> None:
    model, inputs = OnnxModel(perceptron(tmp_path / "net.onnx")), (np.zeros((2, 3), np.float32),) * 2
    for call in (lambda: model.export(inputs, tmp_path / "net"), lambda: model.answers(inputs)):
        with pytest.raises(ExportError, match=r"net\.onnx: expected 1 inputs, as the file has, got 2"):
            call()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"net\.onnx: expected inputs of known sizes, got x0 \(n, 3\) f32; give one --input for each"),
        ([InputSpec((2, 4))], r"expected inputs like x0 \(n, 3\) f32, got 2,4"),
        ([InputSpec((2, 3), "i64")], "got 2,3:i64"),
        ([InputSpec((2, 3, 1))], "got 2,3,1"),
        ([InputSpec((2, 3)), InputSpec((2, 3))], "got 2,3; 2,3"),
    ],
)
def test_open_sizes_must_be_given_and_fit(given: list[InputSpec], message: str, tmp_path: Path) -> None:
    model = OnnxModel(perceptron(tmp_path / "net.onnx", ("n", 3)))
    with pytest.raises(ExportError, match=message):
        model.specs(given)
    assert model.specs([InputSpec((5, 3))]) == [InputSpec((5, 3), "f32")]


def test_an_input_without_any_shape_takes_the_one_that_is_given(tmp_path: Path) -> None:
    model = OnnxModel(save(tmp_path / "net.onnx", [helper.make_node("Relu", ["x0"], ["y"])], [None]))
    with pytest.raises(ExportError, match=r"got x0 \(\?\) f32"):
        model.specs([])
    assert model.specs([InputSpec((5, 3))]) == [InputSpec((5, 3), "f32")]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"junk", "a model in ONNX, got DecodeError"), (b"", "without operators"), (None, "a file, got nothing there")],
)
def test_another_file_is_refused(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ExportError, match=rf"net\.onnx: expected {message}|{message}"):
        OnnxModel(path)


@pytest.mark.parametrize("runtime", [True, False])
def test_answers_come_from_onnxruntime_or_from_onnx(
    runtime: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if runtime:
        pytest.importorskip("onnxruntime")
    else:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = OnnxModel(perceptron(tmp_path / "net.onnx"))
    assert model.framework == ("onnxruntime" if runtime else "ONNX")
    x = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
    weight = np.arange(12, dtype=np.float32).reshape(3, 4) - 6
    (answer,) = model.answers((x,))
    np.testing.assert_array_equal(answer, np.maximum(x @ weight, 0))
    z, y = model.steps((x,))
    np.testing.assert_array_equal(z, x @ weight)
    np.testing.assert_array_equal(y, answer)
    with pytest.raises(ExportError, match=r"net\.onnx: expected a run on x0 \(2, 4\), got "):
        model.answers((np.zeros((2, 4), np.float32),))


def convert(path: Path, words: tuple[str, ...] = ()) -> tuple[str, bool]:
    """The text of the converted graph, and whether it computes the same."""
    model = OnnxModel(path)
    specs = model.specs([InputSpec.parse(word) for word in words])
    first, second = draw_inputs(specs, 0), draw_inputs(specs, 1)
    param, _ = model.export(first, path.with_suffix(""))
    return param.read_text(), verify(param, model, {"first": first, "second": second}).agrees


@pytest.mark.timeout(600)
class TestConversion:
    """Through pnnx."""

    @pytest.fixture(autouse=True)
    def needs_pnnx(self) -> None:
        pytest.importorskip("torch")
        pytest.importorskip("pnnx")

    @pytest.mark.parametrize(("dims", "words", "opset"), [((2, 3), (), 17), (("n", 3), ("4,3",), 17), ((2, 3), (), 7)])
    def test_old_and_new_models_agree(self, dims: Dims, words: tuple[str, ...], opset: int, tmp_path: Path) -> None:
        text, agrees = convert(perceptron(tmp_path / "net.onnx", dims, opset), words)
        assert agrees
        assert f"#0=({words[0] if words else '2,3'})f32" in text

    def test_weights_may_lie_beside_the_file(self, tmp_path: Path) -> None:
        path = perceptron(tmp_path / "net.onnx")
        onnx.save(onnx.load(path), path, save_as_external_data=True, location="net.data", size_threshold=0)
        assert (tmp_path / "net.data").stat().st_size >= 48
        _, agrees = convert(path)
        assert agrees

    def test_auto_pad_with_a_stride_is_spelled_out(self, tmp_path: Path) -> None:
        weight = np.random.default_rng(0).standard_normal((3, 2, 3, 3)).astype(np.float32)
        node = helper.make_node("Conv", ["x0", "w"], ["y"], auto_pad="SAME_UPPER", strides=[2, 2])
        text, agrees = convert(save(tmp_path / "net.onnx", [node], [(1, 2, 6, 7)], {"w": weight}))
        assert agrees
        assert "padding=same" not in text

    def test_what_pnnx_reads_differently_does_not_agree(self, tmp_path: Path) -> None:
        options = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}
        node = helper.make_node("Resize", ["x0", "", "scales"], ["y"], **options)
        scales = np.array([1, 1, 2, 2], np.float32)
        _, agrees = convert(save(tmp_path / "net.onnx", [node], [(1, 2, 4, 4)], {"scales": scales}))
        assert not agrees
