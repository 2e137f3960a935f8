"""Parameters that the graph computes.

A graph exported with free sizes may pass a parameter as an operand, ``Tensor.reshape ... $input=0 $shape=21``, where
operand 21 is ``[size(@0,0),-1]``. No layer knows about that: this one stands in front, and makes the real layer anew
whenever such a value changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.graph.pnnx.ir import ParameterType
from kuiper.graph.runtime_operator import RuntimeParameter
from kuiper.layers.layer import Array, Layer, is_kuipers_own

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kuiper.graph.layer_protocol import LayerProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


OF_A_VIEW = ("input", "self", "tensor", "query", "key", "value", "mask")
"""What the one input of a reshape or a permute may be called: pnnx keeps the names of the attention that follows."""


def operand_parameters(op: RuntimeOperator, data_inputs: tuple[str, ...] | None) -> dict[int, str]:
    """Position and name of the inputs that are parameters: those with a name that is not one of the data inputs."""
    if data_inputs is None:
        return {}
    return {i: name for i, name in enumerate(op.input_names) if name and name not in data_inputs}


def computes_as_kuiper(layer: LayerProtocol | None) -> bool:
    """Whether what a layer computes is kuiper's own code, also if the graph computes its parameters."""
    return is_kuipers_own(layer.factory if isinstance(layer, WithOperandParameters) else type(layer))


class WithOperandParameters(Layer):
    """Stands for a layer some of whose parameters arrive as operands.

    The last layer made is kept, so a parameter that does not change costs nothing.
    """

    def __init__(self, op: RuntimeOperator, factory: Callable[[RuntimeOperator], Layer], names: dict[int, str]) -> None:
        super().__init__(op)
        self.factory = factory
        self.of_shapes = getattr(factory, "of_shapes", False)
        self.is_pixelwise = getattr(factory, "is_pixelwise", False)
        self._names = names
        self._data = [i for i in range(len(op.inputs)) if i not in names]
        self._made: tuple[list[Any], Layer] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.op, self.factory, self._names)

    def forward(self, *inputs: Any) -> Any:
        layer, data = self.made_for(inputs)
        return layer.forward(*data)

    def returns_ownership(self, result: Array) -> bool:
        return False  # the layer that has made it may have been replaced meanwhile

    @property
    def parameter_positions(self) -> Collection[int]:
        """Which inputs are parameters."""
        return self._names.keys()

    def made_for(self, inputs: Sequence[Any]) -> tuple[Layer, list[Any]]:
        """The layer that the parameters among these inputs make, and the other inputs."""
        values = [_plain(inputs[i]) for i in self._names]
        made = self._made  # one read: another thread may replace it at any time
        if made is None or made[0] != values:
            made = self._made = (values, self.factory(self._with(values)))
        return made[1], [inputs[i] for i in self._data]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        made = self._made
        return made[1].flops(inputs, outputs) if made else 0

    def _with(self, values: list[Any]) -> RuntimeOperator:
        """The operator as the file would describe it with these parameters.

        Without the shapes that the file declares for its data: what the graph computes fits those that come.
        """
        computed = zip(self._names.values(), values, strict=True)
        params = {name: RuntimeParameter(ParameterType.OTHER, value) for name, value in computed}
        return replace(
            self.op,
            inputs=[replace(self.op.inputs[i], shape=None) for i in self._data],
            input_names=[self.op.input_names[i] for i in self._data],
            params={**self.op.params, **params},
        )


def _plain(value: Any) -> Any:
    """A computed value as a parameter would come from the file: Python numbers and lists, no arrays.

    In a list, as in ``[size(@0,0),@1]``, a vector stands for its numbers: that is how graphs born from ONNX hold sizes.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        items = [item if np.ndim(item) == 1 and isinstance(item, np.ndarray) else [item] for item in value]
        return [_plain(one) for item in items for one in item]
    return value
