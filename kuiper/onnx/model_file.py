"""An .onnx file, opened: checked as far as a stranger's file must be, functions inlined, shapes inferred."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.bounded_file import obstacle
from kuiper.errors import KuiperError, ModelFormatError
from kuiper.onnx.element_types import numbers
from kuiper.onnx.extra import import_onnx
from kuiper.onnx.functions import inlined
from kuiper.printable import first_line

if TYPE_CHECKING:
    import numpy as np
    import onnx

OLDEST_OPSET = 7
"""Models of older operator sets are brought to this one by the onnx package."""

LARGEST_FILE = 2**31
"""Bytes of an .onnx file: protobuf can have no more. Larger models keep their weights in files beside it."""

KEPT_IN_PROTO = 4096
"""Bytes of a tensor that shape inference may look at; what is larger is taken out of the protobuf at once."""


MOST_INFERENCES = 4
"""Rounds in which more and more of a graph becomes known behind tensors that are reshaped."""

MOST_AXES = 64


class OnnxFile:
    """The model of a file.

    Attributes
    ----------
    name : what messages call it
    graph : its graph, functions inlined, with the types and shapes that onnx could infer
    opsets : the version of each domain's operator set
    weights, types : the initializers by name, as arrays, and their element types; those of bodies are not among them
    folder : where weights in files beside the model lie

    Raises
    ------
    ModelFormatError
        If the file is no model in ONNX, or names a tensor that it does not have.
    ModuleNotFoundError
        If the onnx package is not installed.
    """

    def __init__(self, source: Path | onnx.ModelProto, name: str = "") -> None:
        self.name = name or (str(source) if isinstance(source, Path) else "model")
        import_onnx(self.name)
        self.folder = str(source.parent) if isinstance(source, Path) else ""
        try:
            model = _parsed(source) if isinstance(source, Path) else _copied(source)
            model = inlined(self._upgraded(model))
            self.weights = self._take_weights(model.graph)
            _open_unknown_sizes(model.graph)
            _refuse_traps(model.graph)
            model = _with_shapes(model)
        except KuiperError:
            raise
        except MemoryError:
            raise
        except Exception as error:
            raise ModelFormatError(self.name, "a model in ONNX", first_line(error)) from error
        if not model.graph.output:
            raise ModelFormatError(self.name, "a model in ONNX", "a file without outputs")
        self.graph: onnx.GraphProto = model.graph
        self.types = {one.name: one.data_type for one in model.graph.initializer}
        self.opsets = {("" if one.domain == "ai.onnx" else one.domain): one.version for one in model.opset_import}

    def _upgraded(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """The model with an operator set that the table knows."""
        from onnx import version_converter

        versions = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
        if not versions or min(versions) >= OLDEST_OPSET:
            return model
        return version_converter.convert_version(model, OLDEST_OPSET)

    def _take_weights(self, graph: onnx.GraphProto) -> dict[str, np.ndarray]:
        """The initializers as arrays; large ones leave the protobuf, in which they would lie a second time."""
        weights = {}
        for tensor in graph.initializer:
            weights[tensor.name] = numbers(tensor, f"{self.name}: '{tensor.name}'", self.folder)
            if tensor.ByteSize() > KEPT_IN_PROTO:
                for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
                    tensor.ClearField(field)
                tensor.raw_data = b""
        return weights


def _parsed(path: Path) -> onnx.ModelProto:
    """The protobuf in a file."""
    import onnx

    got = obstacle(path)
    if got:
        raise ModelFormatError(str(path), "a file", got)
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ModelFormatError(str(path), f"a file of at most {LARGEST_FILE} bytes", size)
    model = onnx.ModelProto()
    model.ParseFromString(path.read_bytes())
    return model


def _copied(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model that may be changed."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _open_unknown_sizes(graph: onnx.GraphProto) -> None:
    """Sizes of inputs and outputs that some exporters write as -1 or 0, and mean to be open."""
    for value in [*graph.input, *graph.output, *graph.value_info]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value <= 0:
                dim.ClearField("dim_value")


def _refuse_traps(graph: onnx.GraphProto) -> None:
    """Refuse what ends the process when onnx infers shapes: a Split into another number of outputs than it has.

    Raises
    ------
    ModelFormatError
        If there is one.
    """
    for node in _all_nodes(graph):
        for one in node.attribute if node.op_type == "Split" else ():
            if one.name == "num_outputs" and one.i != len(node.output):
                raise ModelFormatError(f"Split '{node.name}'", f"num_outputs={len(node.output)}, as it has", one.i)


def _with_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with what onnx can infer; as it is where a file contradicts itself, and sizes are found in the run."""
    from onnx import shape_inference

    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
        for _ in range(MOST_INFERENCES):
            if not _add_ranks(inferred.graph):
                break
            inferred = shape_inference.infer_shapes(inferred, data_prop=True)
        return inferred
    except Exception:  # of many types; types and shapes are a help, not a need
        return model


def _add_ranks(graph: onnx.GraphProto) -> bool:
    """Say how many axes a reshaped tensor has where the length of its shape is known, which onnx does not infer."""
    import onnx

    known = {value.name: value for value in [*graph.input, *graph.value_info, *graph.output]}
    added = False
    for node in graph.node:
        if node.op_type not in ("Reshape", "ConstantOfShape") or node.output[0] not in known:
            continue
        sizes, output = known.get(node.input[-1]), known[node.output[0]].type.tensor_type
        if sizes is None or output.HasField("shape") or len(sizes.type.tensor_type.shape.dim) != 1:
            continue
        rank = sizes.type.tensor_type.shape.dim[0].dim_value
        if 0 < rank <= MOST_AXES:
            output.shape.CopyFrom(onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension()] * rank))
            added = True
    return added
