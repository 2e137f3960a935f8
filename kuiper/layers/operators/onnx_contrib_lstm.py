"""DynamicQuantizeLSTM: an LSTM whose weights are bytes, and whose inputs and states become bytes on the way.

    x  (l, n, features)  -- one scale for all steps --> bytes @ W ------------------+
                                                                                    +--> gates i o f c --> c, h
    h  (n, hidden)  -- a scale of its own in every step --> bytes @ R --------------+

Both products are integers without a rounding, and the cells have onnxruntime's own functions: a difference in the
last bit would become one of a whole byte here and there, and grow with every step. A scale is that of all sequences of
the batch, as onnxruntime has it with one thread; with more it may cut the batch into parts.

Source: onnxruntime, ContribOperators.md and ``core/providers/cpu/rnn/uni_directional_lstm.cc``.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.onnxruntime_functions import logistic, tanh
from kuiper.layers.quantized_numbers import ByteMatrix, dynamic_steps
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_DIRECTIONS = {"forward": (1,), "reverse": (-1,), "bidirectional": (1, -1)}
_USUAL = ("sigmoid", "tanh", "tanh")
WEIGHTS = ("W", "R", "B", "P", "W_scale", "W_zero_point", "R_scale", "R_zero_point")
"""The inputs that a layer keeps packed if they are constants."""


class Weights(NamedTuple):
    """Those of one direction; ``bias`` (4 * hidden), ``peepholes`` (3, hidden) of i, o and f, or empty."""

    w: ByteMatrix
    r: ByteMatrix
    w_scale: Array
    r_scale: Array
    bias: Array
    peepholes: Array


class Sequences(NamedTuple):
    """``x`` (l, n, features), a length for each of the n sequences, and whether a state outlives the end of its own."""

    x: Array
    lengths: Array
    keeps: bool


@register("DynamicQuantizeLSTM")
class DynamicQuantizeLSTM(Layer):
    """Those of Y (l, directions, n, hidden), Y_h and Y_c (directions, n, hidden) that ``returned`` names.

    Inputs are X (l, n, features), W (directions, features, 4 * hidden) and R, each with scales and zero points, one for
    a direction or one for each column; B, sequence_lens, the first states and P.

    Source: as the module.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        direction = op.str_param("direction", "forward")
        if direction not in _DIRECTIONS:
            raise ParameterError(op.where, f"direction {', '.join(_DIRECTIONS)}", direction)
        self.directions = _DIRECTIONS[direction]
        self.hidden = op.int_param("hidden_size")
        self.expect(self.hidden > 0, "hidden_size of at least 1", self.hidden)
        activations = op.params["activations"].value if op.has_param("activations") else _USUAL * len(self.directions)
        if [str(one).lower() for one in activations] != [*_USUAL * len(self.directions)]:
            raise self.unsupported("activations Sigmoid, Tanh, Tanh", activations)
        self.bound = op.float_param("clip", math.inf)
        self.couples = op.bool_param("input_forget", False)
        self.returned = op.str_param("returned", "Y,Y_h,Y_c").split(",")
        self.weights = {name: attribute.data for name, attribute in op.attrs.items()}

    def forward(self, *inputs: Any) -> Any:
        given = dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        x = given["X"]
        self.expect_rank(x, (3,), "X (l, n, features)")
        sequences = Sequences(x, self._lengths(given, x), "Y" not in self.returned)
        cells = self._packed if given.keys().isdisjoint(WEIGHTS) else self._cells(self.weights | given)
        h0, c0 = (self._first(given, name, x) for name in ("initial_h", "initial_c"))
        made = [self._run(sequences, h0[k], c0[k], step, cells[k]) for k, step in enumerate(self.directions)]
        y, h, c = (list(part) for part in zip(*made, strict=True))
        outputs = {"Y": np.stack(y, axis=1), "Y_h": np.stack(h), "Y_c": np.stack(c)}
        results = tuple(outputs[name] for name in self.returned)
        return results[0] if len(results) == 1 else results

    @cached_property
    def _packed(self) -> list[Weights]:
        return self._cells(self.weights)

    def _cells(self, given: dict[str, Array]) -> list[Weights]:
        """The weights of each direction, packed for their products."""
        count, columns = len(self.directions), 4 * self.hidden
        for name, rows in (("W", given["W"].shape[-2:-1]), ("R", (self.hidden,))):
            self._check(given, name, (count, *rows, columns))
            self.expect(given[name].dtype in (np.int8, np.uint8), f"{name} of int8 or uint8", given[name].dtype)
            for part in (f"{name}_scale", f"{name}_zero_point"):
                self._check(given, part, (count,), (count, columns))
        self._check(given, "B", (count, 2 * columns))
        self._check(given, "P", (count, 3 * self.hidden))
        return [self._cell(given, k) for k in range(count)]

    def _check(self, given: dict[str, Array], name: str, *shapes: tuple[int, ...]) -> None:
        """Raise ShapeError if an input is there and has none of these shapes."""
        expected = " or ".join(map(str, shapes))
        if name in given:
            self.expect(given[name].shape in shapes, f"{name} {expected}", given[name].shape)

    def _cell(self, given: dict[str, Array], k: int) -> Weights:
        """The weights of direction ``k``."""
        w, r = (ByteMatrix(given[name][k], given[f"{name}_zero_point"][k], self.op.where) for name in "WR")
        w_scale, r_scale = (given[f"{name}_scale"][k].astype(np.float32) for name in "WR")
        bias = (
            given["B"][k].astype(np.float32).reshape(2, -1)
            if "B" in given
            else np.zeros((2, 4 * self.hidden), np.float32)
        )
        peepholes = given["P"][k].astype(np.float32).reshape(3, -1) if "P" in given else np.zeros((0, 0), np.float32)
        return Weights(w, r, w_scale, r_scale, bias[0] + bias[1], peepholes)

    def _lengths(self, given: dict[str, Array], x: Array) -> Array:
        """How many steps each sequence has."""
        lengths = given.get("sequence_lens", np.full(x.shape[1], len(x)))
        fits = (
            lengths.dtype.kind in "iu"
            and lengths.shape == x.shape[1:2]
            and 0 <= lengths.min(initial=0) <= lengths.max(initial=0) <= len(x)
        )
        self.expect(fits, f"sequence_lens ({x.shape[1]},) of at most {len(x)}", lengths)
        return lengths

    def _first(self, given: dict[str, Array], name: str, x: Array) -> Array:
        """The first states of all directions."""
        shape = (len(self.directions), x.shape[1], self.hidden)
        self._check(given, name, shape)
        return given[name].astype(np.float32) if name in given else np.zeros(shape, np.float32)

    def _run(self, given: Sequences, h: Array, c: Array, way: int, weights: Weights) -> tuple[Array, Array, Array]:
        """Outputs (l, n, hidden) and last states of one direction, which is 1 or -1."""
        if way == 1:
            return self._forward(given, h, c, weights)
        steps = np.arange(len(given.x))[:, None]
        turned = np.where(steps < given.lengths, given.lengths - 1 - steps, steps)[..., None]
        y, h, c = self._forward(given._replace(x=np.take_along_axis(given.x, turned, 0)), h, c, weights)
        return np.take_along_axis(y, turned, 0), h, c

    def _forward(self, given: Sequences, h: Array, c: Array, weights: Weights) -> tuple[Array, Array, Array]:
        """The same for a sequence that is read from its first step."""
        steps = int(given.lengths.max(initial=0))
        bytes_of_x, scale = dynamic_steps(given.x[:steps])
        gates = weights.w.times(bytes_of_x).astype(np.float32) * (scale * weights.w_scale)
        y = np.zeros((len(given.x), *h.shape), np.float32)
        is_even = bool((given.lengths == steps).all())
        last_h, last_c = np.zeros_like(h), np.zeros_like(c)
        for step in range(steps):
            bytes_of_h, scale = dynamic_steps(h)
            total = gates[step] + weights.r.times(bytes_of_h).astype(np.float32) * (scale * weights.r_scale)
            new_h, new_c = lstm_cells(total, weights.bias, weights.peepholes, c, self.bound, self.couples)
            if is_even:
                y[step], h, c = new_h, new_h, new_c
                continue
            runs = np.less(step, given.lengths)[:, None]
            y[step] = np.where(runs, new_h, 0)
            h, c = np.where(runs, new_h, h if given.keeps else 0), np.where(runs, new_c, c)
            ends = np.equal(step + 1, given.lengths)[:, None]
            last_h, last_c = np.where(ends, h, last_h), np.where(ends, c, last_c)
        return (y, h, c) if is_even and steps else (y, last_h, last_c)


def lstm_cells(
    gates: Array, bias: Array, peepholes: Array, c: Array, bound: float, couples: bool
) -> tuple[Array, Array]:
    """h and c (n, cells) after a step.

    ``gates`` (n, 4 * cells) and ``bias`` (4 * cells) are of i, o, f and g, ``peepholes`` (3, cells), or empty, of i, o
    and f. What goes into a function is clipped to ``bound``; f is 1 - i if it ``couples``.
    """
    limits = np.float32(-bound), np.float32(bound)
    gates_i, gates_o, gates_f, gates_g = np.split(gates, 4, axis=1)
    seen = peepholes if len(peepholes) else np.zeros((3, c.shape[1]), np.float32)
    bias_i, bias_o, bias_f, bias_g = np.split(bias, 4)
    i = logistic(np.clip(gates_i + c * seen[0] + bias_i, *limits))
    f = 1 - i if couples else logistic(np.clip(gates_f + c * seen[2] + bias_f, *limits))
    c = f * c + i * tanh(np.clip(gates_g + bias_g, *limits))
    o = logistic(np.clip(gates_o + c * seen[1] + bias_o, *limits))
    return o * tanh(c), c
