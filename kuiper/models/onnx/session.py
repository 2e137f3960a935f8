"""A session as onnxruntime has it, that runs on kuiper: code written for onnxruntime changes one import.

    from kuiper.models.onnx import InferenceSession        # was: from onnxruntime import InferenceSession

>>> import tempfile, numpy as np, onnx
>>> from onnx import TensorProto, helper
>>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy")
>>> graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "tiny", [x], [y])
>>> session = InferenceSession(helper.make_model(graph).SerializeToString())
>>> session.get_inputs()[0]
NodeArg(name='x', type='tensor(float)', shape=['n', 2])
>>> session.run(None, {"x": np.float32([[1, -2]])})
[array([[-1.,  2.]], dtype=float32)]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import kuiper
from kuiper.errors import ParameterError
from kuiper.onnx.element_types import ELEMENT_TYPES
from kuiper.onnx.extra import import_onnx
from kuiper.onnx.reader import read_onnx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import numpy as np
    import onnx


class NodeArg(NamedTuple):
    """An input or an output: open axes are names, or None; ``shape`` is empty where the file says none."""

    name: str
    type: str
    shape: list[int | str | None]


class ModelMetadata(NamedTuple):
    """What the file says of its model."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    version: int
    custom_metadata_map: dict[str, str]


class InferenceSession:
    """A model in ONNX, ready to run.

    Parameters
    ----------
    path_or_bytes : path of the file, or what is in it
    sess_options, providers, provider_options : taken and not looked at: kuiper runs on the CPU, with the threads that
        ``kuiper.set_num_threads`` says
    options : as of ``kuiper.load``

    Raises
    ------
    KuiperError
        As ``kuiper.load``.
    """

    def __init__(
        self,
        path_or_bytes: str | PathLike[str] | bytes,
        sess_options: Any = None,
        providers: Any = None,
        provider_options: Any = None,
        **options: Any,
    ) -> None:
        onnx = import_onnx("InferenceSession")
        if isinstance(path_or_bytes, bytes):
            model = onnx.load_model_from_string(path_or_bytes)
            self.graph = kuiper.load(lambda: read_onnx(model), **options)
        else:
            model = onnx.load(path_or_bytes, load_external_data=False)
            self.graph = kuiper.load(Path(path_or_bytes), **options)
        weights = {tensor.name for tensor in model.graph.initializer}
        self._inputs = [_node_arg(info) for info in model.graph.input if info.name not in weights]
        self._outputs = [_node_arg(info) for info in model.graph.output]
        self._meta = ModelMetadata(
            model.producer_name,
            model.graph.name,
            model.domain,
            model.doc_string,
            model.model_version,
            {entry.key: entry.value for entry in model.metadata_props},
        )

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None
    ) -> list[np.ndarray]:
        """The outputs.

        Parameters
        ----------
        output_names : which of them, in this order; None or an empty list stands for all
        input_feed : an array for each input, by its name
        run_options : taken and not looked at

        Raises
        ------
        ParameterError
            If there are no such inputs or outputs, or an input is missing.
        KuiperError
            As a call of the graph.
        """
        names = [one.name for one in self._inputs]
        if sorted(names) != sorted(input_feed):
            raise ParameterError(self.graph.name, f"the inputs {', '.join(names)}", ", ".join(input_feed) or "none")
        results = self.graph.forward(*(input_feed[name] for name in names))
        known = dict(zip([one.name for one in self._outputs], _as_tuple(results), strict=True))
        wanted = list(output_names or known)
        if missing := [name for name in wanted if name not in known]:
            raise ParameterError(self.graph.name, f"outputs among {', '.join(known)}", ", ".join(missing))
        return [known[name] for name in wanted]

    def get_inputs(self) -> list[NodeArg]:
        """The inputs, in the order of the file."""
        return self._inputs

    def get_outputs(self) -> list[NodeArg]:
        """The outputs, in the order of the file."""
        return self._outputs

    def get_modelmeta(self) -> ModelMetadata:
        """What the file says of its model."""
        return self._meta

    def get_providers(self) -> list[str]:
        """Where it runs."""
        return ["CPUExecutionProvider"]


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _node_arg(info: onnx.ValueInfoProto) -> NodeArg:
    """An input or an output as onnxruntime describes it."""
    tensor = info.type.tensor_type
    kind = ELEMENT_TYPES[tensor.elem_type].name if tensor.elem_type in ELEMENT_TYPES else "string"
    sizes = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor.shape.dim]
    return NodeArg(info.name, f"tensor({kind})", sizes)
