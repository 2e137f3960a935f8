"""LSTM, GRU and RNN exactly as ONNX has them: every activation, direction and layout, peepholes, lengths of sequences.

gates = x W' + h R' + biases        the products with x for all steps at once, those with h step by step
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_pointwise import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

    Activation = Callable[[Array], Array]

INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
OUTPUTS = ("Y", "Y_h", "Y_c")
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
USUAL = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}

_SETTINGS: dict[str, tuple[float | None, float | None]] = {
    "Affine": (1.0, 0.0),
    "Elu": (1.0, None),
    "HardSigmoid": (0.2, 0.5),
    "LeakyRelu": (0.01, None),
    "Relu": (None, None),
    "ScaledTanh": (1.0, 1.0),
    "Sigmoid": (None, None),
    "Softplus": (None, None),
    "Softsign": (None, None),
    "Tanh": (None, None),
    "ThresholdedRelu": (1.0, None),
}
"""The activations that ONNX knows, with the defaults of alpha and beta, None where one has no such setting."""

_WITH_BETA: dict[str, Callable[..., Array]] = {
    "Affine": lambda x, alpha, beta: alpha * x + beta,
    "HardSigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "ScaledTanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
}


class OnnxCells(Layer):
    """Y (l, directions, n, hidden) and the last states Y_h and Y_c (directions, n, hidden), as ``outputs`` names them.

    The parameter ``inputs`` says which are given of X (l, n, features), W and R (directions, gates * hidden, ...), B,
    sequence_lens (n), initial_h, initial_c, and an LSTM's peepholes P. With ``layout`` 1 the axis n is the first.

    Source: the ONNX operators LSTM, GRU and RNN.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        direction = op.str_param("direction", "forward")
        if direction not in ("forward", "reverse", "bidirectional"):
            raise ParameterError(op.where, "direction forward, reverse or bidirectional", direction)
        self.reverse = (direction == "reverse",) if direction != "bidirectional" else (False, True)
        self.batch_first = op.bool_param("layout", False)
        self.clip = op.float_param("clip", 0.0)
        self.activations = read_activations(op, len(self.reverse))
        self.given = words(op, "inputs", INPUTS, len(op.inputs))
        self.returned = words(op, "outputs", OUTPUTS, len(op.outputs))

    def forward(self, *inputs: Array) -> Array | tuple[Array, ...]:
        given = dict(zip(self.given, inputs, strict=True))
        x = given["X"]
        self.expect(x.ndim == 3, "X with three axes", x.shape)
        x = x.swapaxes(0, 1) if self.batch_first else x
        hidden = self._check(x, given)
        shape = (len(self.reverse), x.shape[1], hidden)
        states = [self._first_state(given.get(name), shape, x.dtype) for name in ("initial_h", "initial_c")]
        lens = given.get("sequence_lens", np.full(x.shape[1], len(x)))
        y = np.zeros((len(x), *shape), x.dtype)
        for k, backwards in enumerate(self.reverse):
            weights = {name: weight[k] for name, weight in given.items() if name in ("W", "R", "B", "P")}
            self._run(x, y[:, k], (states[0][k], states[1][k]), lens, weights, backwards, self.activations[k])
        made = {"Y": y.transpose(2, 0, 1, 3) if self.batch_first else y}
        made |= {
            name: state.swapaxes(0, 1) if self.batch_first else state
            for name, state in zip(("Y_h", "Y_c"), states, strict=True)
        }
        outputs = tuple(made[name] for name in self.returned)
        return outputs[0] if len(outputs) == 1 else outputs

    def _check(self, x: Array, given: dict[str, Array]) -> int:
        """How many cells there are, if the weights fit the input and each other."""
        gates, directions, hidden = (
            GATES[self.op.type],
            len(self.reverse),
            given["R"].shape[-1] if given["R"].ndim else 0,
        )
        shapes = {
            "W": (directions, gates * hidden, x.shape[2]),
            "R": (directions, gates * hidden, hidden),
            "B": (directions, 2 * gates * hidden),
            "P": (directions, 3 * hidden),
            "sequence_lens": (x.shape[1],),
        }
        for name, shape in shapes.items():
            self.expect(name not in given or given[name].shape == shape, f"{name} {shape}", given.get(name, x).shape)
        self.expect(hidden > 0, "cells of at least 1 number", hidden)
        return hidden

    def _first_state(self, given: Array | None, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        """A state (directions, n, hidden) that may be written to: a copy of the given one, or zeros."""
        if given is None:
            return np.zeros(shape, dtype)
        state = given.swapaxes(0, 1) if self.batch_first and given.ndim == 3 else given
        self.expect(state.shape == shape, f"a first state {shape}", state.shape)
        return np.array(state)

    def _run(
        self,
        x: Array,
        y: Array,
        states: tuple[Array, Array],
        lens: Array,
        weights: dict[str, Array],
        backwards: bool,
        activations: list[Activation],
    ) -> None:
        """One direction: fill ``y`` (l, n, hidden), and move the states (n, hidden)."""
        rows = len(weights["W"])
        bias = weights.get("B", np.zeros(2 * rows, x.dtype))
        gates = np.matmul(x, weights["W"].T) + bias[:rows]
        h, c = states
        for t in reversed(range(len(x))) if backwards else range(len(x)):
            runs = (t < lens)[:, None]
            new_h, new_c = self._step(gates[t], h, c, weights, bias[rows:], activations)
            y[t] = np.where(runs, new_h, 0)
            h[...], c[...] = np.where(runs, new_h, h), np.where(runs, new_c, c)

    def _step(
        self, gates: Array, h: Array, c: Array, weights: dict[str, Array], bias: Array, activations: list[Activation]
    ) -> tuple[Array, Array]:
        """The states after one step, from what the input gives to the gates."""
        if self.op.type == "RNN":
            return activations[0](self._clipped(gates + h @ weights["R"].T + bias)), c
        if self.op.type == "GRU":
            return self._gru_step(gates, h, weights["R"], bias, activations), c
        f, g, last = activations
        i_in, o_in, f_in, c_in = np.split(gates + h @ weights["R"].T + bias, 4, axis=-1)
        i_peep, o_peep, f_peep = np.split(weights["P"], 3) if "P" in weights else (0, 0, 0)
        into = f(self._clipped(i_in + i_peep * c))
        kept = 1 - into if self.op.bool_param("input_forget", False) else f(self._clipped(f_in + f_peep * c))
        new_c = kept * c + into * g(self._clipped(c_in))
        out = f(self._clipped(o_in + o_peep * new_c))
        return out * last(new_c), new_c

    def _gru_step(self, gates: Array, h: Array, r: Array, bias: Array, activations: list[Activation]) -> Array:
        """The state after one step of a GRU, whose gates are update, reset and hidden."""
        f, g = activations
        z_in, r_in, h_in = np.split(gates, 3, axis=-1)
        (z_weight, r_weight, h_weight), (z_bias, r_bias, h_bias) = np.split(r, 3), np.split(bias, 3)
        update = f(self._clipped(z_in + h @ z_weight.T + z_bias))
        reset = f(self._clipped(r_in + h @ r_weight.T + r_bias))
        if self.op.bool_param("linear_before_reset", False):
            proposed = h_in + reset * (h @ h_weight.T + h_bias)
        else:
            proposed = h_in + (reset * h) @ h_weight.T + h_bias
        return np.asarray((1 - update) * g(self._clipped(proposed)) + update * h)

    def _clipped(self, x: Array) -> Array:
        """The numbers within ``clip``, if there is one."""
        return np.clip(x, -self.clip, self.clip) if self.clip else x


def words(op: RuntimeOperator, key: str, known: tuple[str, ...], count: int) -> tuple[str, ...]:
    """A parameter that names this many different ones of the known words.

    Raises
    ------
    ParameterError
        If it does not.
    """
    value = op.params[key].value if op.has_param(key) else None
    found = tuple(map(str, value)) if isinstance(value, (list, tuple)) else (str(value),)
    if len(found) != count or len(set(found)) != count or not set(found) <= set(known):
        raise ParameterError(op.where, f"{key}={count} different ones of {', '.join(known)}", value)
    return found


def read_activations(op: RuntimeOperator, directions: int) -> list[list[Activation]]:
    """The activations of each direction; those with settings take theirs from the file's lists, in order.

    Raises
    ------
    ParameterError
        If their number does not fit, or ONNX does not know one.
    """
    usual = USUAL[op.type]
    given = op.params["activations"].value if op.has_param("activations") else None
    names = [str(name) for name in given] if isinstance(given, (list, tuple)) and given else [*usual] * directions
    if len(names) != len(usual) * directions or not {name.lower() for name in names} <= {n.lower() for n in _SETTINGS}:
        raise ParameterError(op.where, f"{len(usual) * directions} activations of {', '.join(_SETTINGS)}", names)
    settings = [list(op.floats_param(f"activation_{key}", ())) for key in ("alpha", "beta")]
    found = [_activation(name, *settings) for name in names]
    return [found[k : k + len(usual)] for k in range(0, len(found), len(usual))]


def _activation(name: str, alphas: list[float], betas: list[float]) -> Activation:
    """One activation, which takes its settings from the front of the lists."""
    name = next(known for known in _SETTINGS if known.lower() == name.lower())
    alpha, beta = _SETTINGS[name]
    settings: dict[str, Any] = {}
    if alpha is not None:
        settings["alpha"] = alphas.pop(0) if alphas else alpha
    if beta is not None:
        settings["beta"] = betas.pop(0) if betas else beta
    return partial(_WITH_BETA.get(name) or FUNCTIONS[name], **settings)
