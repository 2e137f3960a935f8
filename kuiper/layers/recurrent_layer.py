"""nn.LSTM, nn.GRU and nn.RNN as pnnx writes them: weights by name, and outputs that only their shapes tell apart."""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.pieces import UNPACKERS
from kuiper.layers.recurrent import Cell, CellWeights, Stack, for_sequences

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

    Declared = tuple[int | str | None, ...] | None


class Recurrent(Layer):
    """The base of the three: a subclass says how many gates its cell has, which states, and how it runs a sequence.

    Inputs are the sequence and the first states, if the model gives them; outputs some of ``output``, ``h_n``, ``c_n``.
    With ``lengths=True``, which ONNX's reader writes, the last input says how many steps each sequence has: torch packs
    such sequences (``pack_padded_sequence``).
    """

    data_inputs = None
    gates: ClassVar[int]
    states: ClassVar[tuple[str, ...]] = ("h_n",)

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.hidden, self.layers = op.int_param("hidden_size"), op.int_param("num_layers", 1)
        if min(self.hidden, self.layers) < 1:
            raise ParameterError(op.where, "hidden_size and num_layers of at least 1", (self.hidden, self.layers))
        self.directions = 2 if op.bool_param("bidirectional", False) else 1
        self.batch_first = op.bool_param("batch_first", False)
        self.has_lengths = op.bool_param("lengths", False)
        self.width = self.read_width()
        self.stack = Stack(
            self.read_cell(),
            self.gates,
            self._read_weights(),
            self.directions,
            self.batch_first,
            (self.width, self.hidden)[: len(self.states)],
            op.where,
        )
        self.returned = self._find_returned()

    def read_width(self) -> int:
        """How many numbers each direction of each layer puts out."""
        return self.hidden

    def read_cell(self) -> Cell:
        """The function that runs one direction of one layer."""
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Array | tuple[Array, ...]:
        x, *states = (item for value in inputs for item in (value if isinstance(value, (tuple, list)) else (value,)))
        lengths = None
        if self.has_lengths:
            self.expect(bool(states) and x.ndim == 3, "a batch of sequences, and their lengths", x.shape)
            lengths = states.pop()
        self.expect(len(states) in (0, len(self.states)), f"{len(self.states)} first states or none", len(states))
        given = tuple(states)
        if given and len(inputs) == 1 + len(given) + self.has_lengths and x.ndim == 3:
            operands = self.op.inputs[1 : 1 + len(given)]
            given = for_sequences(x.shape[0 if self.batch_first else 1], given, operands)
        made = dict(zip(("output", *self.states), self.stack.run(x, given, lengths), strict=True))
        outputs = tuple(made[name] for name in self.returned)
        return outputs[0] if len(outputs) == 1 else outputs

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        steps = math.prod(inputs[0][:-1])
        return 2 * steps * sum(array.size for cell in self.stack.weights for array in cell.matrices)

    def _read_weights(self) -> list[CellWeights]:
        has_bias = self.op.bool_param("bias", "bias_ih_l0" in self.op.attrs)
        features, rows = self.op.int_param("input_size"), self.gates * self.hidden
        weights = []
        for k in range(self.layers * self.directions):
            suffix = f"l{k // self.directions}{'_reverse' if k % self.directions else ''}"
            read = features if k < self.directions else self.directions * self.width
            weights.append(
                CellWeights(
                    self._weight(f"weight_ih_{suffix}", rows, read),
                    self._weight(f"weight_hh_{suffix}", rows, self.width),
                    self._weight(f"bias_ih_{suffix}", rows) if has_bias else None,
                    self._weight(f"bias_hh_{suffix}", rows) if has_bias else None,
                    self._weight(f"weight_hr_{suffix}", self.width, self.hidden) if self.width < self.hidden else None,
                )
            )
        return weights

    def _weight(self, key: str, *shape: int) -> Array:
        weight = self.op.attr(key)
        self.expect(weight.shape == shape, f"{key} of shape {shape}", weight.shape)
        return weight

    def _find_returned(self) -> tuple[str, ...]:
        """What each output of the operator is, by ``outputs``, or else by the shape that the file declares for it.

        pnnx writes those that are used in the order of their first use. It puts output, h_n, c_n in that order where it
        finds them as h_n, c_n, output, except without a batch; told to optimise nothing it leaves a mark instead.
        """
        outputs = self.op.outputs
        if len(outputs) == 1 and outputs[0].consumers and outputs[0].consumers[0].type in UNPACKERS:
            outputs = outputs[0].consumers[0].outputs
        names = ("output", *self.states)
        declared = [operand.shape for operand in outputs]
        if self.op.has_param("outputs"):
            return self._read_returned(names, len(declared))
        if self.op.bool_param("pnnx_rnn_output_swapped", False):
            return (*self.states, "output")[: len(declared)]
        shapes = self._declared_shapes()
        fitting = [
            order
            for order in permutations(names, len(declared))
            if all(_may_be(shape, shapes[name]) for shape, name in zip(declared, order, strict=True))
        ]
        batched = shapes["output"] is not None and len(shapes["output"]) == 3
        rotated = (*self.states, "output")
        if batched:
            fitting = [order for order in fitting if order != rotated] or fitting
        elif names in fitting and rotated in fitting:
            raise self.unsupported("outputs that their shapes tell apart", declared)
        return fitting[0] if fitting else names[: len(declared)]

    def _read_returned(self, names: tuple[str, ...], count: int) -> tuple[str, ...]:
        """The parameter ``outputs``, which kuiper's converter writes."""
        value = self.op.params["outputs"].value
        given = tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()
        if len(given) != count or len(set(given)) != count or not set(given) <= set(names):
            raise ParameterError(self.op.where, f"outputs={count} different ones of {', '.join(names)}", value)
        return given

    def _declared_shapes(self) -> dict[str, Declared]:
        """The shapes of output, h_n and c_n for an input as the file declares it."""
        x = self.op.inputs[0].shape
        if x is None or len(x) not in (2, 3):
            return dict.fromkeys(("output", *self.states))
        batch = () if len(x) == 2 else (x[0 if self.batch_first else 1],)
        cells = self.layers * self.directions
        return {
            "output": (*x[:-1], self.directions * self.width),
            "h_n": (cells, *batch, self.width),
            "c_n": (cells, *batch, self.hidden),
        }


def _may_be(shape: Declared, expected: Declared) -> bool:
    """Whether a declared shape is this one, as far as both are known."""
    if shape is None or expected is None:
        return True
    sizes = zip(shape, expected, strict=False)
    return len(shape) == len(expected) and all(
        a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in sizes
    )
