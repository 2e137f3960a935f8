"""What every layer is: an object made from one RuntimeOperator that turns input arrays into output arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kuiper.errors import ShapeError, UnsupportedOperatorError

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

Array = np.ndarray


class Layer:
    """The base of all layers.

    A subclass reads and checks its parameters in ``__init__`` and computes in ``forward``. Arrays are float32 unless
    the graph says otherwise, in torch's axis order, (n, c, h, w) for images. ``forward`` never writes to its inputs;
    it may return a view of them.

    ``data_inputs`` names the inputs that ``forward`` takes. An input of any other name (``$size=7``) is a parameter
    that the graph computes: the engine makes the layer anew with that value, so no layer needs code for it. None says
    that all inputs are data, whatever their names.
    """

    data_inputs: ClassVar[tuple[str, ...] | None] = ("input", "self", "tensor", "tensors")

    #: Whether the one output is always the one input, as for dropout at inference.
    is_no_op: bool = False

    def __init__(self, op: RuntimeOperator) -> None:
        self.op = op

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs: one array, or a tuple with one entry for each output of the operator."""
        raise NotImplementedError

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        """Floating-point operations of one forward pass, a multiply-add counted as two; 0 for moves and views.

        The default counts nothing. ``inputs`` and ``outputs`` are shapes.
        """
        return 0

    def expect(self, condition: bool, expected: str, got: object) -> None:
        """Raise ShapeError in the name of this operator unless the condition holds."""
        if not condition:
            raise ShapeError(self.op.where, expected, got)

    def expect_rank(self, x: Array, ranks: tuple[int, ...], letters: str) -> None:
        """Raise ShapeError unless ``x`` has one of these numbers of axes; ``letters`` names them, "(n, c, h, w)"."""
        if x.ndim not in ranks:
            raise ShapeError(self.op.where, f"input {letters}", x.shape)

    def unsupported(self, what: str, got: object) -> UnsupportedOperatorError:
        """The error for a mode of this operator that kuiper lacks: ``raise self.unsupported("mode nearest", mode)``."""
        return UnsupportedOperatorError(self.op.where, what, got)


class ParamLayer(Layer):
    """A layer with weights: ``weight`` and, unless the file says ``bias=False``, ``bias``."""

    weight: Array
    bias: Array | None

    def __init__(self, op: RuntimeOperator, weight_shape: tuple[int, ...]) -> None:
        super().__init__(op)
        self.weight = op.attr("weight")
        self.expect(self.weight.shape == weight_shape, f"weight of shape {weight_shape}", self.weight.shape)
        self.bias = op.attr("bias") if op.bool_param("bias", "bias" in op.attrs) else None
