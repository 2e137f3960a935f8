"""An LSTM of bytes, in a plan and its kernel alone, against the layer: a last bit can become a whole byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import kuiper
from kuiper.engine.kernels.quantized_lstm import MAX_SEQUENCES, QuantizedLstm
from kuiper.engine.kernels.split_int8_product import RUNS
from kuiper.engine.lowering.quantized_lstm import Columns, packed_recurrent
from kuiper.errors import ShapeError
from kuiper.graph.pnnx.ir import DataType, ParameterType
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeOperator, RuntimeParameter
from kuiper.layers.registry import create
from tests.engine.models import algorithms, plan_of
from tests.engine.one_step import Arena, run_step

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {np.dtype(np.int8): DataType.I8, np.dtype(np.uint8): DataType.U8, np.dtype(np.float32): DataType.F32}
STEPS = ["range", "quantize", "bytes", "LSTM"]


def weights_of(
    rng: np.random.Generator,
    directions: int,
    features: int,
    hidden: int,
    dtype: Any,
    by_column: bool,
    biased: bool,
    peepholes: bool = False,
) -> dict[str, np.ndarray]:
    info, columns = np.iinfo(dtype), 4 * hidden
    found: dict[str, np.ndarray] = {}
    for name, rows in (("W", features), ("R", hidden)):
        shape = (directions, columns) if by_column else (directions,)
        found[name] = rng.integers(info.min, info.max + 1, (directions, rows, columns)).astype(dtype)
        found[f"{name}_scale"] = (rng.random(shape) / 60).astype(np.float32)
        zero = rng.integers(info.min, info.max + 1, shape) if by_column else np.full(shape, info.min + 128)
        found[f"{name}_zero_point"] = zero.astype(dtype)
    if biased:
        found["B"] = rng.standard_normal((directions, 2 * columns)).astype(np.float32)
    if peepholes:
        found["P"] = rng.standard_normal((directions, 3 * hidden)).astype(np.float32)
    return found


def layer_of(weights: dict[str, np.ndarray], hidden: int, direction: str, **settings: Any) -> Any:
    """The layer, which reads X, initial_h and initial_c and returns Y, Y_h and Y_c."""
    kinds = {str: ParameterType.STRING, int: ParameterType.INT, float: ParameterType.FLOAT, bool: ParameterType.BOOL}
    params = {"direction": direction, "hidden_size": hidden, **settings}
    op = RuntimeOperator("DynamicQuantizeLSTM", "lstm")
    op.params = {name: RuntimeParameter(kinds[type(value)], value) for name, value in params.items()}
    op.attrs = {name: RuntimeAttribute(TYPES[data.dtype], data.shape, data) for name, data in weights.items()}
    op.input_names = ["X", "initial_h", "initial_c"]
    return create(op)


@pytest.mark.parametrize(
    "fours", [False, pytest.param(True, marks=pytest.mark.skipif(not RUNS, reason="this CPU lacks the instruction"))]
)
@pytest.mark.parametrize("hidden", [1, 3, 16, 37])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_steps_compute_as_the_layer(direction: str, hidden: int, fours: bool) -> None:
    rng, features, length = np.random.default_rng(hidden), 5, 4
    directions = 2 if direction == "bidirectional" else 1
    for n in (1, 2, MAX_SEQUENCES + 1):
        for dtype, by_column in ((np.int8, False), (np.uint8, False), (np.int8, True), (np.uint8, True)):
            weights = weights_of(rng, directions, features, hidden, dtype, by_column, True, dtype == np.uint8)
            layer = layer_of(weights, hidden, direction, clip=0.9, input_forget=by_column)
            x = rng.standard_normal((length, n, features)).astype(np.float32)
            h, c = rng.standard_normal((2, directions, n, hidden)).astype(np.float32)
            expected = layer.forward(x, h, c)
            got = stepped(layer, weights, x, h, c, fours)
            for mine, theirs in zip(got, expected, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def stepped(
    layer: Any, weights: dict[str, np.ndarray], x: np.ndarray, h: np.ndarray, c: np.ndarray, fours: bool
) -> tuple[np.ndarray, ...]:
    """Y, Y_h and Y_c of the kernel; what x gives to the gates is summed up in float64, exactly."""
    (directions, n, hidden), length = h.shape, len(x)
    columns = Columns.of(hidden)
    low, high = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    scale = (high - low) / np.float32(255)
    zero = np.rint(-low / scale)
    whole = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.float64) - zero
    gates = []
    for k in range(directions):
        numbers = weights["W"][k] - weights["W_zero_point"][k].reshape(-1).astype(np.float64)
        product = np.matmul(whole, numbers).astype(np.float32) * (scale * weights["W_scale"][k])
        gates.append(columns.arranged(product.astype(np.float32)))
    packed = packed_recurrent(weights, columns, fours)
    arena, width = Arena(), directions * len(columns.order)
    room = -(-hidden // 16) * 16
    places = {
        "gates": arena.append(np.concatenate(gates, axis=2)), "out": arena.empty(length * n * directions * hidden),
        "h": arena.append(h), "c": arena.append(c),
        "last_h": arena.empty(directions * n * hidden), "last_c": arena.empty(directions * n * room),
    }  # fmt: skip
    numbers = {
        "directions": directions, "backwards": int(layer.directions[0] == 1), "steps": length, "sequences": n,
        "cells": hidden, "panels": columns.panels, "words": -(-hidden // (4 if fours else 2)), "fours": fours,
        "couples": layer.couples, "has_zeros": bool(packed.zeros.any()), "bound": layer.bound,
        "has_peepholes": "P" in weights,
        "gates": places["gates"], "gates_step": n * width, "gates_row": width,
        "out": places["out"], "out_step": n * directions * hidden, "out_row": directions * hidden,
        "out_direction": hidden, "keeps": False, "lengths": -1, "length_bytes": 0, "length_type": 0, "error_flag": -1,
    }  # fmt: skip
    states = [
        {"offset": places[name], "direction": n * row, "row": row}
        for name, row in (("h", hidden), ("c", hidden), ("last_h", hidden), ("last_c", room))
    ]
    of_columns = packed.sums, packed.zeros, packed.scale, packed.bias, packed.peepholes
    step = QuantizedLstm(numbers, states, packed.weights, *of_columns)
    memory = run_step(step, arena.array)

    def at(name: str, *shape: int) -> np.ndarray:
        return memory[places[name] : places[name] + int(np.prod(shape))].reshape(shape)

    y = at("out", length, n, directions, hidden).transpose(0, 2, 1, 3)
    return y, at("last_h", directions, n, hidden), at("last_c", directions, n, room)[..., :hidden]


def saved(
    path: Path,
    weights: dict[str, np.ndarray],
    hidden: int,
    direction: str,
    shape: tuple[int, ...],
    wanted: str,
    states: bool,
    lengths: bool = False,
) -> Path:
    """A file with one DynamicQuantizeLSTM that returns what ``wanted`` names, and reads first states, or has none."""
    order = "X W R B sequence_lens initial_h initial_c P W_scale W_zero_point R_scale R_zero_point"
    given = {"X", *weights} | ({"initial_h", "initial_c"} if states else set())
    given |= {"sequence_lens"} if lengths else set()
    returned = [name if name in wanted.split() else "" for name in ("Y", "Y_h", "Y_c")]
    names = [name if name in given else "" for name in order.split()]
    settings = {"domain": "com.microsoft", "direction": direction, "hidden_size": hidden}
    node = helper.make_node("DynamicQuantizeLSTM", names, returned, **settings)
    first = (len(weights["W"]), shape[1], hidden)
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, shape)]
    if lengths:
        inputs.append(helper.make_tensor_value_info("sequence_lens", TensorProto.INT32, shape[1:2]))
    inputs += [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, first) for name in ("initial_h", "initial_c") if states
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in wanted.split()]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph([node], "graph", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return path


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("hidden", "n"), [(21, 1), (64, 3)])
def test_a_plan_has_no_stop_and_the_bits_of_the_layer(tmp_path: Path, hidden: int, n: int, direction: str) -> None:
    rng, shape = np.random.default_rng(n), (6, n, 9)
    directions = 2 if direction == "bidirectional" else 1
    x = rng.standard_normal(shape).astype(np.float32)
    for dtype, wanted, states in ((np.int8, "Y Y_h Y_c", True), (np.uint8, "Y", False), (np.uint8, "Y_c", True)):
        weights = weights_of(rng, directions, 9, hidden, dtype, states, states, dtype == np.uint8)
        path = saved(tmp_path / "lstm.onnx", weights, hidden, direction, shape, wanted, states)
        first = list(rng.standard_normal((2, directions, n, hidden)).astype(np.float32)) if states else []
        fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
        results = [model(x, *first) for model in (fast, plain)]
        pairs = zip(*(result if isinstance(result, tuple) else (result,) for result in results), strict=True)
        for got, expected in pairs:
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
        steps = algorithms(plan_of(fast, [x, *first]))
        assert [step for step in steps if step not in ("import", "export", "copy")] == STEPS


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_range_without_an_end_makes_all_outputs_nan(tmp_path: Path, number: float) -> None:
    rng, shape = np.random.default_rng(0), (3, 1, 9)
    weights = weights_of(rng, 1, 9, 10, np.int8, by_column=False, biased=True)
    path = saved(tmp_path / "lstm.onnx", weights, 10, "forward", shape, "Y", states=False)
    x = rng.standard_normal(shape).astype(np.float32)
    x[1, 0, 8] = number
    for optimize in (True, False):
        assert np.isnan(np.asarray(kuiper.load(path, optimize=optimize)(x))).all()


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("lengths", [[5, 5, 5], [3, 5, 1], [0, 2, 5], [5, 4, 4], [2, 3, 1], [0, 0, 0]])
def test_sequences_of_several_lengths_have_the_bits_of_the_layer(
    tmp_path: Path, lengths: list[int], direction: str
) -> None:
    rng, shape, hidden = np.random.default_rng(0), (5, 3, 9), 21
    directions = 2 if direction == "bidirectional" else 1
    weights = weights_of(rng, directions, 9, hidden, np.int8, by_column=False, biased=True)
    x, *first = rng.standard_normal(shape), *rng.standard_normal((2, directions, 3, hidden))
    for given in (True, False):  # as an input, and stored
        for wanted in ("Y Y_h Y_c", "Y_h Y_c"):
            stored = {} if given else {"sequence_lens": np.int32(lengths)}
            path = saved(
                tmp_path / "lstm.onnx", {**weights, **stored}, hidden, direction, shape, wanted, True, lengths=given
            )
            arrays = [x.astype(np.float32), *([np.int32(lengths)] if given else []), *np.float32(first)]
            fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
            for got, expected in zip(fast(*arrays), plain(*arrays), strict=True):
                np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
            if given or max(lengths) == 5:
                steps = algorithms(plan_of(fast, arrays))
                assert [step for step in steps if step not in ("import", "export", "copy")] == STEPS


def test_a_sequence_longer_than_there_are_steps_is_an_error(tmp_path: Path) -> None:
    rng, shape = np.random.default_rng(0), (5, 2, 9)
    weights = weights_of(rng, 1, 9, 10, np.int8, by_column=False, biased=True)
    path = saved(tmp_path / "lstm.onnx", weights, 10, "forward", shape, "Y", states=False, lengths=True)
    x, model = rng.standard_normal(shape).astype(np.float32), kuiper.load(path)
    for lengths in ([5, 6], [-1, 5]):
        with pytest.raises(ShapeError, match="sequence_lens"):
            model(x, np.int32(lengths))
