"""The operators that onnxruntime adds to the standard, against its own answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.reference
import pytest

import kuiper
from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.contrib_case import Case, arguments, model
from tests.onnx.contrib_cases import all_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUTS = Path(__file__).with_name("fixtures") / "contrib.npz"


def difference(case: Case, expected: np.ndarray, got: np.ndarray) -> str:
    """In what an output is not onnxruntime's."""
    if (expected.dtype, expected.shape) != (got.dtype, got.shape):
        return f"{expected.dtype} {expected.shape}, {got.dtype} {got.shape}"
    apart = np.abs(expected.astype(np.float64) - got.astype(np.float64)).max(initial=0)
    largest = max(np.abs(expected.astype(np.float64)).max(initial=0), 1)
    return "" if apart <= case.tolerance * largest else f"{apart:.3g} apart, {np.mean(expected != got):.1%} of all"


def outputs_of(case: Case) -> Sequence[np.ndarray]:
    """onnxruntime's answers."""
    with np.load(OUTPUTS) as stored:
        return [stored[f"{case.name}/{place}"] for place in range(len(case.outputs.replace("_", "")))]


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_contrib_operator_computes_as_onnxruntime(case: Case) -> None:
    expected = outputs_of(case)
    for constant in (False, True) if case.weights else (False,):
        for optimize in (True, False):
            prepared = backend.prepare(model(case, constant), optimize=optimize)
            got = prepared.run(list(arguments(case, constant).values()))
            problems = [difference(case, *pair) for pair in zip(expected, got, strict=True)]
            assert not any(problems), f"{case.name}, constant={constant}, optimize={optimize}: {problems}"


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("size", [32, 64])
def test_matmul_of_bits_stays_in_its_bits(tmp_path: Path, bits: int, size: int) -> None:
    rng, n, k = np.random.default_rng(bits), 5, 128
    numbers = rng.integers(0, 1 << bits, (n, k), np.uint8)
    halves = (rng.integers(1, 99, (n, k // size)) / 4096).astype(np.float32)
    blob = numbers if bits == 8 else numbers[:, ::2] | numbers[:, 1::2] << 4
    x = rng.standard_normal((3, k), np.float32)
    settings = {"bits": bits, "block_size": size, "K": k, "N": n}
    given = [x, blob.reshape(n, k // size, -1), halves]
    onnx.save(model(Case("kept", "MatMulNBits", given, settings, weights=(1, 2)), constant=True), tmp_path / "m.onnx")
    expected = x.astype(np.float64) @ ((numbers - float(1 << (bits - 1))) * np.repeat(halves, size, 1)).T
    for optimize in (True, False):
        loaded = kuiper.load(tmp_path / "m.onnx", optimize=optimize)
        np.testing.assert_allclose(np.asarray(loaded(x)), expected, atol=1e-5 * np.abs(expected).max())
        (weight,) = (found for op in loaded.operators if (found := op.quantized("weight")) is not None)
        assert (weight.bits, weight.in_groups) == (bits, True)


def twice(array: np.ndarray, axis: int) -> np.ndarray:
    """An array beside itself."""
    return np.concatenate([array, array], axis)


@pytest.mark.parametrize("name", ["FusedMatMul_weight", "SkipLayerNormalization", "DynamicQuantizeMatMul_uint8"])
@pytest.mark.parametrize("optimize", [True, False])
def test_contrib_operator_takes_another_batch_in_the_next_call(name: str, optimize: bool) -> None:
    case = next(case for case in all_cases() if case.name == name)
    prepared = backend.prepare(model(case, constant=True), optimize=optimize)
    given = list(arguments(case, constant=True).values())
    for inputs, count in ((given, 1), ([twice(array, 0) for array in given], 2), (given, 1)):
        for theirs, ours in zip(outputs_of(case), prepared.run(inputs), strict=True):
            assert not difference(case, np.concatenate([theirs] * count), ours)


@pytest.mark.parametrize("optimize", [True, False])
def test_lstm_of_bytes_takes_another_batch_in_the_next_call(optimize: bool) -> None:
    case = next(case for case in all_cases() if case.name == "DynamicQuantizeLSTM_bidirectional_int8")
    prepared = backend.prepare(model(case, constant=True), optimize=optimize)
    given, expected = list(arguments(case, constant=True).values()), outputs_of(case)
    for count in (1, 2, 1):
        got = prepared.run([np.concatenate([array] * count, 1) for array in given])
        for place, theirs in enumerate(expected):
            axis = 2 if place == 0 else 1
            assert np.array_equal(np.concatenate([theirs] * count, axis), got[place])


@pytest.mark.parametrize("optimize", [True, False])
def test_group_query_attention_goes_on_behind_its_own_past(optimize: bool) -> None:
    case = next(case for case in all_cases() if case.name == "GroupQueryAttention_5_5_0")
    prepared = backend.prepare(model(case), optimize=optimize)
    given = arguments(case)
    whole, *_ = prepared.run(list(given.values()))
    past = [given["x3"], given["x4"]]
    for step in range(3):
        token = [given[f"x{place}"][:, step : step + 1] for place in range(3)]
        ends = [np.full(2, step, np.int32), np.asarray(step + 1, np.int32)]
        out, *past = prepared.run([*token, *past, *ends])
        assert np.allclose(out[:, 0], whole[:, step], atol=1e-6)
        assert past[0].shape[2] == step + 1


@pytest.mark.parametrize("form", ["qkv", "kv"])
def test_multi_head_attention_takes_packed_inputs(form: str) -> None:
    case = next(case for case in all_cases() if case.name == "MultiHeadAttention")
    q, k, v = (np.asarray(value) for value in case.inputs)
    k, v = k[:, : q.shape[1]], v[:, : q.shape[1]]
    apart = backend.run_model(model(case._replace(inputs=[q, k, v])), [q, k, v])
    heads = [part.reshape(*part.shape[:2], 3, 1, -1) for part in (q, k, v)]
    packed = [np.concatenate(heads, 3)] if form == "qkv" else [q, np.concatenate(heads[1:], 3)]
    together = backend.run_model(model(case._replace(inputs=packed)), packed)
    assert np.allclose(apart[0], together[0], atol=1e-6)


def test_unique_counts_in_order_of_appearance() -> None:
    x = np.float32([2, 1, 1, 3, 4, 3])
    case = Case("Unique", "Unique", [x], {}, "Fll")
    for theirs, ours in zip(
        ([2, 1, 3, 4], [0, 1, 1, 2, 3, 2], [1, 2, 2, 1]), backend.run_model(model(case), [x]), strict=True
    ):
        assert ours.tolist() == theirs


def test_mean_of_bytes_is_that_of_the_standard() -> None:
    x, scale, zero, other = (
        np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
        np.float32(0.5),
        np.uint8(7),
        np.float32(0.3),
    )
    given = [x, np.asarray(scale), np.asarray(zero), np.asarray(other), np.asarray(zero)]
    case = Case("mean", "QLinearReduceMean", given, {"axes": [1], "keepdims": 0}, "U")
    (got,) = backend.run_model(model(case), given)
    nodes = [
        onnx.helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
        onnx.helper.make_node("ReduceMean", ["d", "a"], ["m"], keepdims=0),
        onnx.helper.make_node("QuantizeLinear", ["m", "o", "z"], ["y"]),
    ]
    feeds = dict(zip("xszoa", [*given[:4], np.array([1])], strict=True))
    infos = [
        onnx.helper.make_tensor_value_info(key, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for key, value in feeds.items()
    ]
    graph = onnx.helper.make_graph(nodes, "mean", infos, [onnx.helper.make_tensor_value_info("y", 2, None)])
    spelled = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    assert np.array_equal(got, onnx.reference.ReferenceEvaluator(spelled).run(None, feeds)[0])


@pytest.mark.parametrize(
    ("kind", "inputs", "settings"),
    [
        (
            "MatMulNBits",
            [np.zeros((2, 32), np.float32), np.zeros((4, 1, 8), np.uint8), np.ones((4, 1), np.float32)],
            32,
        ),
        ("GroupQueryAttention", [np.zeros((1, 2, 8), np.float32)] * 3, 3),
        (
            "QLinearAdd",
            [np.zeros(3, np.uint8), np.float32(1), None, np.zeros(2, np.uint8), np.float32(1), None, np.float32(1)],
            0,
        ),
    ],
)
def test_malformed_contrib_operator_is_one_error(kind: str, inputs: list[np.ndarray | None], settings: int) -> None:
    attributes = {
        "MatMulNBits": {"K": settings, "N": 4, "block_size": 32, "bits": 4},
        "GroupQueryAttention": {"num_heads": settings, "kv_num_heads": 2},
    }
    case = Case(
        "bad", kind, [None if value is None else np.asarray(value) for value in inputs], attributes.get(kind, {})
    )
    with pytest.raises(KuiperError):
        backend.run_model(model(case, constant=True), list(arguments(case).values()))


@pytest.mark.parametrize("optimize", [True, False])
def test_operator_keeps_an_input_that_equals_one_of_its_weights(optimize: bool) -> None:
    """PNNX writes shared weights twice, and the second ones are left out: of PNNX's files alone."""
    zero, scale, zero_of_y = np.uint8(128), np.float32(0.01), np.uint8(3)
    a, b = (np.random.default_rng(seed).integers(0, 256, (4, 4)).astype(np.uint8) for seed in (0, 1))
    stored = {"s": scale, "za": zero, "b": b, "zb": zero, "zy": zero_of_y, "sy": np.float32(0.05)}
    node = onnx.helper.make_node(
        "QGemm", ["a", "s", "za", "b", "s", "zb", "", "sy", "zy"], ["y"], domain="com.microsoft"
    )
    kind = onnx.TensorProto.UINT8
    graph = onnx.helper.make_graph(
        [node],
        "gemm",
        [onnx.helper.make_tensor_value_info("a", kind, [4, 4])],
        [onnx.helper.make_tensor_value_info("y", kind, [4, 4])],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    file = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (y,) = backend.prepare(file, optimize=optimize).run([a])
    same = onnx.helper.make_node("QLinearMatMul", ["a", "s", "za", "b", "s", "zb", "sy", "zy"], ["y"])
    graph.node[0].CopyFrom(same)
    (expected,) = onnx.reference.ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets[:1])).run(
        None, {"a": a}
    )
    np.testing.assert_array_equal(y, expected)
