"""A PNNX graph made operator by operator, in code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType, Operand, Operator, Parameter, ParameterType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.graph.pnnx.ir import Dimension, ParameterValue

_ATTRIBUTES = {np.dtype(np.float32): DataType.F32, np.dtype(np.float16): DataType.F16}


class GraphWriter:
    """The graph so far, and a method that adds an operator to it.

    Examples
    --------
    >>> writer = GraphWriter()
    >>> x = writer.add("pnnx.Input", "x", shape=(1, 4))
    >>> y = writer.add("F.silu", "silu", x, shape=(1, 4))
    >>> writer.finish(y)
    >>> [op.type for op in writer.graph.operators]
    ['pnnx.Input', 'F.silu', 'pnnx.Output']
    """

    def __init__(self) -> None:
        self.graph = pnnx.Graph()

    def add(
        self,
        kind: str,
        name: str,
        *inputs: Operand,
        shape: tuple[Dimension, ...] | None = None,
        dtype: DataType = DataType.F32,
        outputs: int = 1,
        params: Mapping[str, Any] | None = None,
        attrs: Mapping[str, np.ndarray] | None = None,
    ) -> Operand:
        """Add an operator; its first output comes back, the others follow it in ``graph.operands``.

        Parameters
        ----------
        kind, name : type and name of the operator
        inputs : what it reads
        shape, dtype : of its outputs, as far as they are known
        outputs : how many there are
        params, attrs : settings, and weights of float32 or float16
        """
        op = Operator(kind, name, list(inputs), input_names=[""] * len(inputs))
        for operand in inputs:
            operand.consumers.append(op)
        for _ in range(outputs):
            operand = Operand(f"{len(self.graph.operands)}", op, type=dtype, shape=shape)
            op.outputs.append(operand)
            self.graph.operands.append(operand)
        op.params = {key: Parameter(_kind_of(value), value) for key, value in (params or {}).items()}
        op.attrs = {
            key: pnnx.Attribute(_ATTRIBUTES[data.dtype], data.shape, data) for key, data in (attrs or {}).items()
        }
        self.graph.operators.append(op)
        return op.outputs[0]

    def finish(self, result: Operand) -> None:
        """Add the output."""
        op = Operator("pnnx.Output", "pnnx_output_0", [result], input_names=[""])
        result.consumers.append(op)
        self.graph.operators.append(op)


def _kind_of(value: ParameterValue) -> ParameterType:
    """The kind of a parameter of this value."""
    if isinstance(value, list):
        return ParameterType.INT_LIST
    kinds = {bool: ParameterType.BOOL, int: ParameterType.INT, float: ParameterType.FLOAT, str: ParameterType.STRING}
    return kinds[type(value)]
