from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter
from kuiper.layers import create
from kuiper.layers.operators.gru import gru
from kuiper.layers.operators.lstm import lstm
from kuiper.layers.operators.rnn import rnn
from kuiper.layers.recurrent import CellWeights
from kuiper.layers.reference import recurrent as reference
from kuiper.threads import get_num_threads, set_num_threads
from tests.layers.wired_operator import run_wired, wired

SIZES = [(1, 1, 1, 1), (3, 2, 5, 4), (7, 5, 3, 17), (2, 9, 16, 33)]  # steps, sequences, features, cells


def randoms(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape, np.float32) * np.float32(0.5)


def weights(kind: str, layers: int = 1, directions: int = 1, cells: int = 4, outputs: int = 4) -> dict[str, np.ndarray]:
    """All weights of a network with three features; of biases and of a projection whatever there is to have."""
    gates = {"nn.LSTM": 4, "nn.GRU": 3, "nn.RNN": 1}[kind]
    found = {}
    for layer in range(layers):
        for suffix in ("", "_reverse")[:directions]:
            features = 3 if layer == 0 else directions * outputs
            found[f"weight_ih_l{layer}{suffix}"] = randoms(gates * cells, features)
            found[f"weight_hh_l{layer}{suffix}"] = randoms(gates * cells, outputs)
            found[f"bias_ih_l{layer}{suffix}"] = randoms(gates * cells)
            found[f"bias_hh_l{layer}{suffix}"] = randoms(gates * cells)
            if outputs != cells:
                found[f"weight_hr_l{layer}{suffix}"] = randoms(outputs, cells)
    return found


def network(
    kind: str, arrays: dict[str, np.ndarray], declared: tuple[Any, ...] = ((5, 2, 3),), outputs: Any = 1, **more: Any
) -> RuntimeOperator:
    """A recurrent operator 'it' with operands of these declared shapes; a number is that of operands without one."""
    shapes = [None] * outputs if isinstance(outputs, int) else outputs
    params = {"input_size": 3, "hidden_size": 4, **more}
    return RuntimeOperator(
        kind,
        "it",
        inputs=[RuntimeOperand(str(i), i, shape, DataType.F32) for i, shape in enumerate(declared)],
        outputs=[RuntimeOperand(f"o{i}", 9 + i, shape, DataType.F32) for i, shape in enumerate(shapes)],
        input_names=[""] * len(declared),
        params={key: RuntimeParameter(8, value) for key, value in params.items()},  # type: ignore[arg-type]
        attrs={key: RuntimeAttribute(DataType.F32, array.shape, array) for key, array in arrays.items()},
    )


def test_lstm_of_one_cell_by_hand() -> None:
    """Gates i, f, o are wide open or shut: c adds up the inputs, and h is the tangent of it."""
    arrays = {"weight_ih_l0": np.float32([[0], [0], [1], [0]]), "weight_hh_l0": np.zeros((4, 1), np.float32)}
    arrays |= {"bias_ih_l0": np.float32([50, 50, 0, 50]), "bias_hh_l0": np.zeros(4, np.float32)}
    op = network("nn.LSTM", arrays, outputs=3, input_size=1, hidden_size=1)
    output, h, c = create(op).forward(np.float32([[[9]], [[-9]], [[9]]]))
    np.testing.assert_allclose(c, [[[1]]], atol=1e-6)
    np.testing.assert_allclose(output[:, 0, 0], np.tanh([1, 0, 1]), atol=1e-6)
    np.testing.assert_array_equal(h, output[-1:])


def test_gru_of_one_cell_by_hand() -> None:
    """The gate z is shut: the state is the tangent of the input. Wide open, the state stays what it was."""
    arrays = {"weight_ih_l0": np.float32([[0], [0], [1]]), "weight_hh_l0": np.zeros((3, 1), np.float32)}
    for z, expected in ((-50, [np.tanh(2), np.tanh(-1)]), (50, [0.25, 0.25])):
        biases = {"bias_ih_l0": np.float32([0, z, 0]), "bias_hh_l0": np.zeros(3, np.float32)}
        op = network("nn.GRU", arrays | biases, ((2, 1), (1, 1)), input_size=1, hidden_size=1)
        output = create(op).forward(np.float32([[2], [-1]]), np.float32([[0.25]]))
        np.testing.assert_allclose(output[:, 0], expected, rtol=1e-6)


def test_rnn_relu_of_one_cell_by_hand() -> None:
    arrays = {"weight_ih_l0": np.float32([[2]]), "weight_hh_l0": np.float32([[1]])}
    op = network("nn.RNN", arrays, input_size=1, hidden_size=1, nonlinearity="relu")
    assert create(op).forward(np.float32([[[1]], [[3]], [[-9]], [[1]]]))[:, 0, 0].tolist() == [2, 8, 0, 2]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("steps", "n", "features", "cells"), SIZES)
def test_cells_equal_their_naive_twins(steps: int, n: int, features: int, cells: int, threads: int) -> None:
    before = get_num_threads()
    set_num_threads(threads)
    x, h, c = randoms(steps, n, features), randoms(n, cells), randoms(n, cells + 1)[:, 1:]
    try:
        w = CellWeights(randoms(4 * cells, features), randoms(4 * cells, cells), randoms(4 * cells), randoms(4 * cells))
        outputs, (last_h, last_c) = lstm(x, (h, c), w)
        expected, expected_c = reference.lstm(x @ w.input.T + w.input_bias + w.hidden_bias, w.hidden, h, c)
        np.testing.assert_allclose(outputs, expected, atol=1e-5)
        np.testing.assert_allclose(last_c, expected_c, atol=1e-5)
        np.testing.assert_array_equal(last_h, outputs[-1])

        w = CellWeights(randoms(3 * cells, features), randoms(3 * cells, cells), randoms(3 * cells), randoms(3 * cells))
        expected = reference.gru(x @ w.input.T + w.input_bias, w.hidden, w.hidden_bias, h)
        np.testing.assert_allclose(gru(x, (h,), w)[0], expected, atol=1e-5)

        w = CellWeights(randoms(cells, features), randoms(cells, cells))
        for is_relu in (False, True):
            expected = reference.rnn(x @ w.input.T, w.hidden, h, is_relu)
            np.testing.assert_allclose(rnn(x, (h,), w, is_relu)[0], expected, rtol=1e-5, atol=1e-5)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("outputs", [1, 3, 8])
def test_projection_equals_its_naive_twin(outputs: int) -> None:
    x, h, c = randoms(4, 3, 5), randoms(3, outputs), randoms(3, 9)
    w = CellWeights(randoms(36, 5), randoms(36, outputs), projection=randoms(outputs, 9))
    got, (_, last_c) = lstm(x, (h, c), w)
    expected, expected_c = reference.lstm(x @ w.input.T, w.hidden, h, c, w.projection)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    np.testing.assert_allclose(last_c, expected_c, atol=1e-5)


def test_states_that_are_given_are_left_alone() -> None:
    h, c = randoms(1, 2, 4), randoms(1, 2, 4) + 1
    before = h.copy(), c.copy()
    op = network("nn.LSTM", weights("nn.LSTM"), ((5, 2, 3), (1, 2, 4), (1, 2, 4)), 3)
    create(op).forward(randoms(5, 2, 3), h, c)
    np.testing.assert_array_equal((h, c), before)


def test_batch_first_turns_input_and_output_but_no_state() -> None:
    arrays, x = weights("nn.GRU", 2, 2), randoms(5, 2, 3)
    more = {"num_layers": 2, "bidirectional": True}
    y, h = create(network("nn.GRU", arrays, outputs=2, **more)).forward(x)
    op = network("nn.GRU", arrays, ((2, 5, 3),), 2, batch_first=True, **more)
    turned, same = create(op).forward(x.swapaxes(0, 1))
    np.testing.assert_array_equal(turned, y.swapaxes(0, 1))
    np.testing.assert_array_equal(same, h)
    assert (y.shape, h.shape) == ((5, 2, 8), (4, 2, 4))


@pytest.mark.parametrize(
    ("declared", "outputs", "expected"),
    [
        ((5, 2, 3), [(5, 2, 4)], ("output",)),
        ((5, 2, 3), [(1, 2, 4)], ("h_n",)),
        ((5, 2, 3), [(1, 2, 4), (1, 2, 4)], ("h_n", "c_n")),
        ((5, 2, 3), [(5, 2, 4), (1, 2, 4), (1, 2, 4)], ("output", "h_n", "c_n")),
        ((5, 2, 3), [(1, 2, 4), (1, 2, 4), (5, 2, 4)], ("c_n", "h_n", "output")),  # pnnx mends h_n, c_n, output
        ((5, 3), [(1, 4), (1, 4), (5, 4)], ("h_n", "c_n", "output")),  # but not without a batch
        ((None, None, 3), [(None, None, 4)], ("output",)),
        ((5, None, 3), [(1, None, 4)], ("h_n",)),
        ((5, 2, 3), [None, (5, 2, 4)], ("h_n", "output")),
        (None, [None, None], ("output", "h_n")),
    ],
)
def test_outputs_are_told_by_their_shapes(declared: Any, outputs: list[Any], expected: tuple[str, ...]) -> None:
    assert create(network("nn.LSTM", weights("nn.LSTM"), (declared,), outputs)).returned == expected  # type: ignore[attr-defined]


def test_outputs_with_pnnxs_mark_are_states_first() -> None:
    op = network("nn.LSTM", weights("nn.LSTM"), outputs=3, pnnx_rnn_output_swapped=1)
    assert create(op).returned == ("h_n", "c_n", "output")  # type: ignore[attr-defined]


@pytest.mark.parametrize("named", [["c_n"], ["c_n", "output"], ["output", "c_n", "h_n"]])
def test_outputs_that_are_named_need_no_shapes(named: list[str]) -> None:
    op = network("nn.LSTM", weights("nn.LSTM"), outputs=[(1, 2, 4)] * len(named))
    op.params["outputs"] = RuntimeParameter(7, named)  # type: ignore[arg-type]
    assert create(op).returned == tuple(named)  # type: ignore[attr-defined]


@pytest.mark.parametrize("named", [["c_n"], ["h_n", "h_n"], ["output", "cell"], "output"])
def test_names_of_outputs_that_do_not_fit_are_refused(named: Any) -> None:
    op = network("nn.LSTM", weights("nn.LSTM"), outputs=2)
    op.params["outputs"] = RuntimeParameter(7, named)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="expected outputs=2 different ones of output, h_n, c_n, got"):
        create(op)


def test_outputs_that_could_be_anything_are_refused() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"nn.LSTM 'it': expected outputs that their shapes tell apart"):
        create(network("nn.LSTM", weights("nn.LSTM"), ((1, 3),), [(1, 4)] * 3))


def test_constant_states_of_the_export_count_for_any_batch() -> None:
    op = network("nn.GRU", weights("nn.GRU"), ((5, 2, 3), (1, 2, 4)))
    op.inputs[1].producer = RuntimeOperator("pnnx.Attribute", "zeros")
    layer, x, zeros = create(op), randoms(5, 3, 3), np.zeros((1, 2, 4), np.float32)
    np.testing.assert_array_equal(layer.forward(x, zeros), layer.forward(x))
    with pytest.raises(ShapeError, match=r"expected states \[\(1, 3, 4\)\], got \[\(1, 2, 4\)\]"):
        layer.forward(x, np.arange(8, dtype=np.float32).reshape(1, 2, 4))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 2, 4),), r"expected input \(l, n, f\) or \(l, f\) with f = 3, nothing empty, got \(5, 2, 4\)"),
        (((0, 2, 3),), r"nothing empty, got \(0, 2, 3\)"),
        (((3,),), r"got \(3,\)"),
        (((5, 2, 3), (1, 2, 4)), r"expected 2 first states or none, got 1"),
        (((5, 2, 3), (2, 4), (2, 4)), r"expected states \[\(1, 2, 4\), \(1, 2, 4\)\], got"),
        (((5, 3), (2, 4), (1, 4)), r"expected states \[\(1, 4\), \(1, 4\)\], got \[\(2, 4\), \(1, 4\)\]"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes: tuple[tuple[int, ...], ...], message: str) -> None:
    layer = create(network("nn.LSTM", weights("nn.LSTM"), (None,) * len(shapes)))
    with pytest.raises(ShapeError, match=rf"nn.LSTM 'it': .*{message}"):
        layer.forward(*(np.zeros(shape, np.float32) for shape in shapes))


def test_other_numbers_than_float32_are_refused() -> None:
    with pytest.raises(DataTypeError, match=r"expected float32 input and states, got \['float64'\]"):
        create(network("nn.RNN", weights("nn.RNN"))).forward(np.zeros((5, 2, 3)))


def test_weights_that_do_not_fit_are_refused() -> None:
    arrays = weights("nn.LSTM")
    arrays["weight_hh_l0"] = randoms(16, 3)
    with pytest.raises(ShapeError, match=r"expected weight_hh_l0 of shape \(16, 4\), got \(16, 3\)"):
        create(network("nn.LSTM", arrays))
    with pytest.raises(ParameterError, match=r"expected a weight 'weight_ih_l1'"):
        create(network("nn.GRU", weights("nn.GRU"), num_layers=2))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"expected proj_size of less than hidden_size=4, got 4"):
        create(network("nn.LSTM", weights("nn.LSTM"), proj_size=4))
    with pytest.raises(ParameterError, match=r"expected hidden_size and num_layers of at least 1, got \(4, 0\)"):
        create(network("nn.RNN", weights("nn.RNN"), num_layers=0))
    with pytest.raises(UnsupportedOperatorError, match=r"expected nonlinearity tanh or relu, got sin"):
        create(network("nn.RNN", weights("nn.RNN"), nonlinearity="sin"))


def test_flops_count_every_matrix() -> None:
    layer = create(network("nn.LSTM", weights("nn.LSTM", outputs=2), proj_size=2))
    assert layer.flops([(5, 2, 3)], [(5, 2, 2)]) == 2 * 5 * 2 * (16 * 3 + 16 * 2 + 2 * 4)


def test_operands_of_torchscript_give_the_same_as_weights_in_the_file() -> None:
    arrays, x = weights("nn.LSTM", 2, 2, outputs=2), randoms(5, 2, 3)
    op = network("nn.LSTM", arrays, outputs=3, num_layers=2, bidirectional=True, proj_size=2)
    keys = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    given = [arrays[f"{key}_l{layer}{suffix}"] for layer in (0, 1) for suffix in ("", "_reverse") for key in keys]
    states = [np.zeros((4, 2, 2), np.float32), np.zeros((4, 2, 4), np.float32)]
    got = run_wired("aten::lstm", x, states, given, True, 2, 0.0, False, True, False, outputs=3)
    for array, expected in zip(got, create(op).forward(x), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_operands_of_torchscript_that_do_not_fit_are_refused() -> None:
    x, state = randoms(5, 2, 3), np.zeros((1, 2, 4), np.float32)
    with pytest.raises(ShapeError, match=r"aten::gru 'it': expected weights by 4, got 3 of them"):
        run_wired("aten::gru", x, state, [randoms(12, 3)] * 3, True, 1, 0.0, False, False, False, outputs=2)
    with pytest.raises(UnsupportedOperatorError, match=r"expected a recurrent network that is not trained"):
        run_wired("aten::gru", x, state, [], True, 1, 0.5, True, False, False, outputs=2)
    with pytest.raises(ShapeError, match=r"six settings, got 2 settings"):
        run_wired("aten::gru", x, state, [], True, 1, outputs=2)


def test_onnx_gates_come_in_another_order() -> None:
    arrays, x = weights("nn.LSTM"), randoms(5, 2, 3)
    i, f, g, o = (np.split(arrays[key], 4) for key in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"))
    w, r, b, d = (np.concatenate([part[k] for k in (0, 3, 1, 2)])[None] for part in (i, f, g, o))
    op = wired("LSTM", 4, 3, hidden_size=4)
    op.outputs[0].shape, op.outputs[1].shape, op.outputs[2].shape = (5, 1, 2, 4), (1, 2, 4), (1, 2, 4)
    y, h, c = create(op).forward(x, w, r, np.concatenate((b, d), 1))
    expected = create(network("nn.LSTM", arrays, outputs=3)).forward(x)
    np.testing.assert_array_equal(y[:, 0], expected[0])
    np.testing.assert_array_equal(h, expected[1])
    np.testing.assert_array_equal(c, expected[2])


def test_onnx_gru_has_its_gates_in_another_order() -> None:
    arrays, x = weights("nn.GRU"), randoms(5, 2, 3)
    keys = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w, r, b, d = (np.concatenate([np.split(arrays[key], 3)[k] for k in (1, 0, 2)])[None] for key in keys)
    op = wired("GRU", 4, 2, hidden_size=4, linear_before_reset=1)
    op.outputs[0].shape, op.outputs[1].shape = (5, 1, 2, 4), (1, 2, 4)
    y, h = create(op).forward(x, w, r, np.concatenate((b, d), 1))
    expected = create(network("nn.GRU", arrays, outputs=2)).forward(x)
    np.testing.assert_array_equal(y[:, 0], expected[0])
    np.testing.assert_array_equal(h, expected[1])


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("LSTM", {"direction": "reverse"}, "direction forward or bidirectional, got reverse"),
        ("LSTM", {"layout": 1}, "layout=0, got 1"),
        ("GRU", {}, "linear_before_reset=1, got 0"),
        ("RNN", {"activations": ["Affine"]}, "activations Tanh, got"),
    ],
)
def test_onnx_settings_that_torch_lacks_are_refused(kind: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match=message):
        create(wired(kind, 3, 2, hidden_size=4, **params))
