from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from kuiper.models.conversion.onnx_traps import upgraded, with_explicit_pads  # noqa: E402

pytestmark = pytest.mark.torch  # the extra that brings PyTorch brings onnx too


def model(*nodes: onnx.NodeProto, opset: int = 17) -> onnx.ModelProto:
    """A model from x, an image of unknown size with two channels, to y; ``w`` is a kernel of 2 x 3."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2, "h", "w"]) for name in "xy")
    weight = np.random.default_rng(0).standard_normal((2, 2, 2, 3)).astype(np.float32)
    graph = helper.make_graph(nodes, "net", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def attributes(node: onnx.NodeProto) -> dict[str, object]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


@pytest.mark.parametrize("side", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (3, 1), (1, 2)])
@pytest.mark.parametrize("size", [5, 6])
def test_explicit_pads_compute_the_same(side: str, stride: int, dilation: int, size: int) -> None:
    options = {"auto_pad": side, "strides": [stride] * 2, "dilations": [dilation] * 2}
    before = model(helper.make_node("Conv", ["x", "w"], ["y"], **options))
    after = with_explicit_pads(before, {"x": (1, 2, size, size + 1)})
    assert "auto_pad" not in attributes(after.graph.node[0])
    x = np.random.default_rng(1).standard_normal((1, 2, size, size + 1)).astype(np.float32)
    (expected,), (got,) = (ReferenceEvaluator(one).run(None, {"x": x}) for one in (before, after))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5)


def test_pads_of_later_operators_follow_from_inferred_sizes() -> None:
    first = helper.make_node("Conv", ["x", "w"], ["z"], auto_pad="SAME_UPPER", strides=[2, 2])
    second = helper.make_node("AveragePool", ["z"], ["y"], auto_pad="SAME_LOWER", kernel_shape=[2, 2], strides=[2, 2])
    nodes = with_explicit_pads(model(first, second), {"x": (1, 2, 10, 10)}).graph.node
    assert attributes(nodes[0])["pads"] == [0, 0, 0, 1]
    assert attributes(nodes[1])["pads"] == [1, 1, 0, 0]  # for 5 x 5


def test_models_without_auto_pad_stay_as_they_are() -> None:
    plain = model(helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="VALID"))
    assert with_explicit_pads(plain, {"x": (1, 2, 10, 10)}) is plain
    assert upgraded(plain) is plain


def test_old_operator_sets_are_upgraded() -> None:
    old = model(helper.make_node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y"], is_test=1), opset=6)
    assert upgraded(old).opset_import[0].version == 9
