"""kuiper as a backend of the onnx package: ``onnx.backend.test.BackendTest(kuiper.models.onnx.backend)``.

>>> from onnx import TensorProto, helper
>>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
>>> graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "tiny", [x], [y])
>>> prepare(helper.make_model(graph)).run([np.float32([1, -2])])
(array([-1.,  2.], dtype=float32),)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

import kuiper
from kuiper.errors import ParameterError
from kuiper.onnx.element_types import ELEMENT_TYPES, element_type
from kuiper.onnx.reader import read_onnx

if TYPE_CHECKING:
    from collections.abc import Sequence


class KuiperBackendRep(BackendRep):  # type: ignore[misc]
    """A model that is ready to run.

    Parameters
    ----------
    model : in ONNX
    optimize : False runs one layer after the other, as ``kuiper.load`` does with it
    """

    def __init__(self, model: onnx.ModelProto, optimize: bool = True) -> None:
        self.graph = kuiper.load(lambda: read_onnx(model), optimize=optimize)
        self._outputs = [_array_types(info) for info in model.graph.output]

    def run(self, inputs: Sequence[Any], **kwargs: Any) -> tuple[Any, ...]:
        """The outputs, as arrays of the types that the model declares.

        Parameters
        ----------
        inputs : one array for each input
        """
        results = self.graph.forward(*(_inside(value) for value in inputs))
        results = results if isinstance(results, tuple) else (results,)
        return tuple(_outside(value, *types) for value, types in zip(results, self._outputs, strict=True))


class KuiperBackend(Backend):  # type: ignore[misc]
    """The class that onnx's tools ask."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> KuiperBackendRep:
        """A model that is ready to run; ``optimize=False`` is the readable path.

        Raises
        ------
        ParameterError
            If the device is not "CPU".
        KuiperError
            If kuiper cannot run the model.
        """
        if not cls.supports_device(device):
            raise ParameterError("prepare", "the device CPU", device)
        return KuiperBackendRep(model, **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """The outputs of a model for these inputs; errors as of ``prepare``."""
        return cls.prepare(model, device).run(inputs, **kwargs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """The outputs of one node.

        Parameters
        ----------
        node : an operator, whose inputs are all arguments
        inputs : one array for each input
        outputs_info : element type and shape of each output
        """
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        given = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays, strict=True)
        ]
        infos = outputs_info or [(np.dtype(np.float32), None)] * len(node.output)
        made = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
            for name, (dtype, shape) in zip(node.output, infos, strict=True)
        ]
        graph = onnx.helper.make_graph([node], "node", given, made)
        return cls.run_model(onnx.helper.make_model(graph), arrays, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether it is the CPU."""
        return device.partition(":")[0] == "CPU"


def _array_types(info: onnx.ValueInfoProto) -> tuple[np.dtype, np.dtype]:
    """The types of the arrays that stand for an output inside the graph and outside."""
    code = info.type.tensor_type.elem_type
    if code not in ELEMENT_TYPES:
        return np.dtype(object), np.dtype(object)
    return ELEMENT_TYPES[code].inside, np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code))


def _inside(value: Any) -> np.ndarray:
    """An argument in a type that NumPy has."""
    array = np.asarray(value)
    if array.dtype.kind in "fiubc":
        return array
    return array.astype(element_type(onnx.helper.np_dtype_to_tensor_dtype(array.dtype), "an argument").inside)


def _outside(value: Any, inside: np.dtype, outside: np.dtype) -> Any:
    """A result in the type that the model declares; one of another type than it has inside is shown as it is."""
    if isinstance(value, (list, tuple)):
        return [_outside(item, inside, outside) for item in value]
    array = np.asarray(value)
    return array.astype(outside) if array.dtype == inside else array


prepare = KuiperBackend.prepare
run_model = KuiperBackend.run_model
run_node = KuiperBackend.run_node
supports_device = KuiperBackend.supports_device
