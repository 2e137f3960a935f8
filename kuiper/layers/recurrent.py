"""What LSTM, GRU and RNN share: layers of cells that read a sequence, forwards or in both directions.

        y[0]    y[1]    y[2]                  one direction of one layer: the cell's state goes from step to step
         |       |       |
    h0 -cell -- cell -- cell -> h
         |       |       |
        x[0]    x[1]    x[2]

A layer reads what the layer below it has put out; of two directions that is both outputs side by side. The products
with ``x`` do not wait for each other and are one matrix product for the whole sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.gemm import matmul, pack_right
from kuiper.layers.layer import Array

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperand
    from kuiper.layers.gemm import PackedRight

States = tuple[Array, ...]
"""h of a GRU or an RNN, h and c of an LSTM."""


@dataclass(frozen=True)
class CellWeights:
    """The weights of one direction of one layer; the rows of each gate stand below those of the gate before it.

    ``input`` (gates * hidden, features) and ``hidden`` (gates * hidden, outputs) have a bias each, or none;
    ``projection`` (outputs, hidden) lets an LSTM put out fewer numbers than its cells hold.
    """

    input: Array
    hidden: Array
    input_bias: Array | None = None
    hidden_bias: Array | None = None
    projection: Array | None = None

    def check(self, gates: int, features: int, outputs: int, hidden: int, where: str) -> None:
        """Raise ShapeError unless all are of the shapes that a cell of these sizes needs: kernels count on it."""
        rows = gates * hidden
        expected = {
            "weights of the input": (self.input, (rows, features)),
            "weights of the state": (self.hidden, (rows, outputs)),
            "a bias of the input": (self.input_bias, (rows,)),
            "a bias of the state": (self.hidden_bias, (rows,)),
            "a projection": (self.projection, (outputs, hidden)),
        }
        for name, (array, shape) in expected.items():
            if array is not None and array.shape != shape:
                raise ShapeError(where, f"{name} {shape}", array.shape)
        if self.projection is None and outputs != hidden:
            raise ShapeError(where, f"a projection to {outputs} outputs or {hidden} of them", "none")

    @property
    def features(self) -> int:
        """How many numbers of the input a step reads."""
        return int(self.input.shape[-1]) if self.input.ndim else 0

    @property
    def matrices(self) -> tuple[Array, ...]:
        """What is multiplied in every step."""
        return (self.input, self.hidden) if self.projection is None else (self.input, self.hidden, self.projection)

    @cached_property
    def packed_input(self) -> PackedRight:
        """``input`` as the right operand of the product with a sequence."""
        return pack_right(np.ascontiguousarray(self.input.T))

    @cached_property
    def by_output(self) -> Array:
        """``hidden`` as (outputs, gates * hidden)."""
        return np.ascontiguousarray(self.hidden.T)

    def gates_of(self, x: Array, *biases: Array | None) -> Array:
        """What the inputs (l, n, features) give to the gates, and these biases: (l, n, gates * hidden)."""
        length, n, features = x.shape
        gates = matmul(np.ascontiguousarray(x).reshape(length * n, features), self.packed_input)
        for bias in biases:
            if bias is not None:
                gates += bias
        return gates.reshape(length, n, -1)


def for_sequences(count: int, states: States, operands: Sequence[RuntimeOperand]) -> States:
    """States for this many sequences, if the export wrote down, as a constant, the same for each of another number.

    The zeros that a network starts from are (1, 2, 4) in a file that was exported for two sequences.
    """

    def baked(state: Array, operand: RuntimeOperand) -> bool:
        constant = operand.producer is not None and operand.producer.type == "pnnx.Attribute"
        return constant and state.ndim == 3 and bool((state == state[:, :1]).all())

    return tuple(
        np.broadcast_to(state[:, :1], (len(state), count, state.shape[2])) if baked(state, operand) else state
        for state, operand in zip(states, operands, strict=True)
    )


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) of each number; where the exponential is inf it is 0."""
    y: Array = np.negative(x)
    with np.errstate(over="ignore"):
        np.exp(y, out=y)
    y += 1
    return np.asarray(np.reciprocal(y, out=y))


def split(x: Array, gates: int) -> Array:
    """A view (gates, n, cells) of the numbers (n, gates * cells); ``np.split`` takes longer than a step's sums."""
    return np.asarray(x.reshape(len(x), gates, -1).swapaxes(0, 1))


Cell = Callable[[Array, States, CellWeights], tuple[Array, States]]
"""Reads a sequence (l, n, features) from states (n, size): all outputs (l, n, outputs), and the states at the end."""


@dataclass(frozen=True)
class Stack:
    """A recurrent network: the weights of every layer and direction, those of one layer together.

    ``sizes`` are those of the cell's states: outputs for h, hidden for c.

    Raises
    ------
    ShapeError
        If the weights do not fit each other, or the sizes.
    """

    cell: Cell
    gates: int
    weights: Sequence[CellWeights]
    directions: int
    batch_first: bool
    sizes: tuple[int, ...]
    where: str

    def __post_init__(self) -> None:
        if not self.weights or len(self.weights) % self.directions or not self.sizes or min(self.sizes) < 1:
            got = f"{len(self.weights)} cells in {self.directions} directions, of sizes {self.sizes}"
            raise ShapeError(self.where, "weights of each direction for cells of at least 1 number", got)
        features, outputs = self.weights[0].features, self.sizes[0]
        for k, cell in enumerate(self.weights):
            read = features if k < self.directions else self.directions * outputs
            cell.check(self.gates, read, outputs, self.sizes[-1], self.where)

    def run(self, x: Array, states: States = (), lengths: Array | None = None) -> tuple[Array, ...]:
        """All outputs of the top layer, and the last states of all layers.

        ``x`` is (l, n, features), (n, l, features) if the batch is first, or (l, features), and the outputs likewise;
        states are (layers * directions, n, size), without n if ``x`` is without, zero if none are given. Sequences of
        ``lengths`` (n,), integers, end early: their outputs are zeros from there on, and the second direction begins at
        their own end.

        Raises
        ------
        ShapeError
            If ``x`` has no steps or other features, the states or the lengths have other shapes, or a length is not one
            of 0 to l.
        DataTypeError
            If something is not float32, or the lengths are not integers.
        """
        features = self.weights[0].features
        if x.ndim not in (2, 3) or x.shape[-1] != features or 0 in x.shape:
            letters = "(n, l, f)" if self.batch_first else "(l, n, f)"
            raise ShapeError(self.where, f"input {letters} or (l, f) with f = {features}, nothing empty", x.shape)
        batched, swapped = x.ndim == 3, x.ndim == 3 and self.batch_first
        sequence = x.swapaxes(0, 1) if swapped else x if batched else x[:, None]
        if lengths is not None:
            self._check_lengths(lengths, *sequence.shape[:2])
        y, last = self._layers(sequence, self._first_states(states, x, sequence.shape[1]), lengths)
        if not batched:
            return y[:, 0], *(state[:, 0] for state in last)
        return y.swapaxes(0, 1) if swapped else y, *last

    def _first_states(self, given: States, x: Array, n: int) -> States:
        """The given states with an axis n, or zeros."""
        shapes = [(len(self.weights), n, size) for size in self.sizes]
        if any(array.dtype != np.float32 for array in (x, *given)):
            raise DataTypeError(self.where, "float32 input and states", [str(array.dtype) for array in (x, *given)])
        if not given:
            return tuple(np.zeros(shape, np.float32) for shape in shapes)
        states = given if x.ndim == 3 else tuple(state[:, None] for state in given)
        if [state.shape for state in states] != shapes:
            expected = [shape if x.ndim == 3 else (shape[0], shape[2]) for shape in shapes]
            raise ShapeError(self.where, f"states {expected}", [state.shape for state in given])
        return states

    def _check_lengths(self, lengths: Array, steps: int, n: int) -> None:
        if lengths.dtype.kind not in "iu":
            raise DataTypeError(self.where, "lengths that are integers", str(lengths.dtype))
        if lengths.shape != (n,) or lengths.min() < 0 or lengths.max() > steps:
            raise ShapeError(self.where, f"lengths ({n},) of 0 to {steps} steps", lengths.tolist())

    def _layers(self, x: Array, states: States, lengths: Array | None) -> tuple[Array, States]:
        last: list[States] = []
        for first in range(0, len(self.weights), self.directions):
            parts = []
            for k in range(first, first + self.directions):
                step = 1 if k == first else -1  # the second direction reads backwards
                own = tuple(state[k] for state in states)
                if lengths is None:
                    outputs, final = self.cell(x[::step], own, self.weights[k])
                    outputs = outputs[::step]
                else:
                    outputs, final = self._early(x, own, self.weights[k], step, lengths)
                parts.append(outputs)
                last.append(final)
            x = np.concatenate(parts, axis=-1)
        return x, tuple(np.stack(column) for column in zip(*last, strict=True))

    def _early(self, x: Array, states: States, weights: CellWeights, step: int, lengths: Array) -> tuple[Array, States]:
        """One direction of one layer over sequences that end early: those of one length run together."""
        outputs = np.zeros((*x.shape[:2], self.sizes[0]), np.float32)
        last = tuple(np.array(state) for state in states)
        for length in np.unique(lengths[lengths > 0]):
            rows = lengths == length
            made, final = self.cell(x[:length, rows][::step], tuple(state[rows] for state in states), weights)
            outputs[:length, rows] = made[::step]
            for state, end in zip(last, final, strict=True):
                state[rows] = end
        return outputs, last
