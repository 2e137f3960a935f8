"""An .onnx file, opened: checked as far as a stranger's file must be, functions inlined, shapes inferred."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.bounded_file import obstacle
from kuiper.errors import KuiperError, ModelFormatError
from kuiper.graph.failures import naming_the_place
from kuiper.onnx.checks import all_graphs, bodies_of, check_model, tensors_of
from kuiper.onnx.element_types import DATA_FIELDS, STRING, numbers
from kuiper.onnx.external_data import EXTERNAL, external_path, read_external
from kuiper.onnx.extra import import_onnx
from kuiper.onnx.functions import inlined
from kuiper.printable import first_line

if TYPE_CHECKING:
    import numpy as np
    import onnx

OLDEST_OPSET = 7
"""Models of older operator sets are brought to this one by the onnx package."""

MAX_FILE = 2**31
"""Bytes of an .onnx file: protobuf can have no more. Larger models keep their weights in files beside it."""

MAX_AXES = 64
"""Axes that a NumPy array can have."""

KEPT_IN_PROTO = 4096
"""Bytes of a tensor that shape inference may look at; what is larger is taken out of the protobuf at once."""


MAX_INFERENCES = 4
"""Rounds in which more and more of a graph becomes known behind tensors that are reshaped."""

MAX_AXES = 64


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
        self.weights: dict[str, np.ndarray] = {}
        self.types: dict[str, int] = {}
        with naming_the_place(self.name):
            try:
                model = self._prepared(_parsed(source) if isinstance(source, Path) else _copied(source))
            except (KuiperError, MemoryError):
                raise
            except Exception as error:  # of many types: what the onnx package says to a stranger's file
                raise ModelFormatError(self.name, "a model in ONNX", first_line(error)) from error
        if not model.graph.output:
            raise ModelFormatError(self.name, "a model in ONNX", "a file without outputs")
        self.graph: onnx.GraphProto = model.graph
        self.opsets = {("" if one.domain == "ai.onnx" else one.domain): one.version for one in model.opset_import}

    def _prepared(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """The model, checked, without its large weights, functions inlined, shapes inferred."""
        check_model(model, self.name)
        self._take_weights(model.graph)
        self._complete_tensors(model)
        for body in (model.graph, *model.functions):
            _refuse_traps(body, self.name)
        model = inlined(self._upgraded(model), self.name)
        _open_unknown_sizes(model.graph)
        _refuse_traps(model.graph, self.name)
        return _with_shapes(model)

    def _upgraded(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """The model with an operator set that the table knows."""
        from onnx import version_converter

        versions = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
        if not versions or min(versions) >= OLDEST_OPSET:
            return model
        return version_converter.convert_version(model, OLDEST_OPSET)

    def _take_weights(self, graph: onnx.GraphProto) -> None:
        """Take the initializers, and large constants, as arrays; what is large leaves the protobuf, which is copied."""
        for tensor in graph.initializer:
            self.weights[tensor.name] = self._taken(tensor, tensor.name)
        kept = []
        for node in graph.node:
            value = _large_constant(node)
            if value is None or node.output[0] in self.weights:
                kept.append(node)
                continue
            self.weights[node.output[0]] = self._taken(value, node.output[0])
            graph.initializer.append(value)
            graph.initializer[-1].name = node.output[0]
        if len(kept) < len(graph.node):
            del graph.node[:]
            graph.node.extend(kept)

    def _taken(self, tensor: onnx.TensorProto, name: str) -> np.ndarray:
        """The numbers of a tensor; a large one is left without them."""
        where = f"{self.name}: '{name}'"
        outside = tensor.data_location == EXTERNAL
        array = numbers(tensor, where, read_external(tensor, where, self.folder) if outside else None)
        self.types[name] = tensor.data_type
        if outside and array.nbytes <= KEPT_IN_PROTO:
            _store_inside(tensor, read_external(tensor, where, self.folder))
        elif array.nbytes > KEPT_IN_PROTO:
            for field in ("raw_data", "external_data", "data_location", *DATA_FIELDS):
                tensor.ClearField(field)
            tensor.raw_data = b""
        return array

    def _complete_tensors(self, model: onnx.ModelProto) -> None:
        """Check the tensors in bodies and settings, and fetch those that lie in other files."""
        graphs = list(all_graphs(model.graph, self.name))
        tensors = [(f"'{tensor.name}'", tensor) for graph in graphs[1:] for tensor in graph.initializer]
        nodes = [node for graph in graphs for node in graph.node]
        for function in model.functions:
            for node in function.node:
                nodes.append(node)
                inner = [graph for body in bodies_of(node) for graph in all_graphs(body, self.name)]
                nodes += [one for graph in inner for one in graph.node]
                tensors += [(f"'{tensor.name}'", tensor) for graph in inner for tensor in graph.initializer]
        for node in nodes:
            tensors += [(f"{node.op_type} '{node.name}'", tensor) for tensor in tensors_of(node)]
        for name, tensor in tensors:
            where = f"{self.name}: {name}"
            if tensor.data_location == EXTERNAL:
                _store_inside(tensor, read_external(tensor, where, self.folder))
            elif tensor.data_type != STRING:  # text in a setting is refused where it is used
                numbers(tensor, where)


def files_of(path: Path) -> list[Path]:
    """An .onnx file, and the files beside it in which weights of it lie.

    Raises
    ------
    ModelFormatError
        As ``OnnxFile`` does.
    """
    import_onnx(str(path))
    try:
        model = _parsed(path)
    except KuiperError:
        raise
    except Exception as error:  # protobuf's own, of many types
        raise ModelFormatError(str(path), "a model in ONNX", first_line(error)) from error
    outside = [one for one in model.graph.initializer if one.data_location == EXTERNAL]
    return [path, *sorted({external_path(one, f"{path}: '{one.name}'", str(path.parent)) for one in outside})]


def _parsed(path: Path) -> onnx.ModelProto:
    """The protobuf in a file."""
    import onnx

    got = obstacle(path)
    if got:
        raise ModelFormatError(str(path), "a file", got)
    size = path.stat().st_size
    if size > MAX_FILE:
        raise ModelFormatError(str(path), f"a file of at most {MAX_FILE} bytes", size)
    model = onnx.ModelProto()
    model.ParseFromString(path.read_bytes())
    return model


def _large_constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """The value of a Constant that is large."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.output) != 1:
        return None
    values = [one.t for one in node.attribute if one.name == "value" and one.HasField("t")]
    return values[0] if values and values[0].ByteSize() > KEPT_IN_PROTO and values[0].data_type != STRING else None


def _store_inside(tensor: onnx.TensorProto, raw: bytes) -> None:
    """Let a tensor have its bytes itself."""
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = raw


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


def _refuse_traps(graph: onnx.GraphProto | onnx.FunctionProto, where: str) -> None:
    """Refuse what ends the process when onnx infers shapes: an axis that no tensor has, too many pieces of a Split.

    Raises
    ------
    ModelFormatError
        If there is one.
    """
    for node in (node for one in all_graphs(graph, where) for node in one.node):
        for one in node.attribute:
            if one.ref_attr_name:  # known when the function is inlined
                continue
            if one.name == "axis" and abs(one.i) > MAX_AXES:
                raise ModelFormatError(f"{node.op_type} '{node.name}'", f"an axis within {MAX_AXES}", one.i)
            if node.op_type == "Split" and one.name == "num_outputs" and one.i != len(node.output):
                raise ModelFormatError(f"Split '{node.name}'", f"num_outputs={len(node.output)}, as it has", one.i)


def _with_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with what onnx can infer; as it is where a file contradicts itself, and sizes are found in the run."""
    from onnx import shape_inference

    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
        for _ in range(MAX_INFERENCES):
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
        if 0 < rank <= MAX_AXES:
            output.shape.CopyFrom(onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension()] * rank))
            added = True
    return added
