"""Models in ONNX: their inputs, their conversion, their answers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ExportError
from kuiper.models.conversion.input_spec import InputSpec
from kuiper.models.conversion.onnx_traps import upgraded, with_explicit_pads
from kuiper.models.conversion.pnnx_converter import KIND_NAMES, convert, converter_options
from kuiper.models.conversion.torch_export import in_one_line, keep
from kuiper.models.conversion.traps import ignore
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from kuiper.models.conversion.traps import Note
    from kuiper.models.conversion.verification import Arrays


class OnnxInput(NamedTuple):
    """An input as the file declares it; sizes that it leaves open are names."""

    name: str
    dims: tuple[int | str, ...] | None
    kind: str

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The sizes if all are known."""
        sizes = [size for size in self.dims or () if isinstance(size, int)]
        return tuple(sizes) if self.dims is not None and len(sizes) == len(self.dims) else None

    def __str__(self) -> str:
        dims = "?" if self.dims is None else ", ".join(map(str, self.dims))
        return f"{self.name} ({dims}) {self.kind}"


class OnnxModel:
    """A model in an .onnx file, weights in files beside it included.

    Raises
    ------
    ExportError
        If the file is not such a model.
    ModuleNotFoundError
        If onnx is not installed.
    """

    def __init__(self, path: Path) -> None:
        import onnx

        if not path.is_file():
            raise ExportError(str(path), "a file", "a directory" if path.is_dir() else "nothing there")
        try:
            self.model = onnx.load(path)
            self.model = upgraded(self.model)
        except Exception as error:
            raise ExportError(str(path), "a model in ONNX", in_one_line(error)) from error
        if not self.model.graph.node:
            raise ExportError(str(path), "a model in ONNX", "a file without operators")
        self.name = path.name
        self.framework = "onnxruntime" if _has_onnxruntime() else "ONNX"
        self.inputs = _inputs(self.model)

    def specs(self, given: Sequence[InputSpec]) -> list[InputSpec]:
        """The inputs to convert for: those given, with the file's element types, or those of the file.

        Raises
        ------
        ExportError
            If the file leaves sizes open and none are given, or if those given do not fit it.
        """
        declared = "; ".join(map(str, self.inputs))
        if not given:
            known = [InputSpec(one.shape, one.kind) for one in self.inputs if one.shape is not None]
            if len(known) < len(self.inputs):
                hint = "give one --input for each: --input 1,3,224,224"
                raise ExportError(self.name, "inputs of known sizes", declared, hint)
            return known
        fits = len(given) == len(self.inputs) and all(map(_fits, given, self.inputs))
        if not fits:
            raise ExportError(self.name, f"inputs like {declared}", "; ".join(map(str, given)))
        return [spec.of_kind(one.kind) for spec, one in zip(given, self.inputs, strict=True)]

    def export(
        self,
        inputs: Arrays,
        path: Path,
        moduleop: str = "",
        other_inputs: Arrays = (),
        *,
        optlevel: int = 2,
        note: Note = ignore,
    ) -> tuple[Path, Path]:
        """Write ``<path>.pnnx.param`` and ``<path>.pnnx.bin`` and return their paths."""
        import onnx

        options = converter_options(inputs, other_inputs, moduleop, optlevel)
        shapes = {name: array.shape for name, array in self._named(inputs).items()}
        model = with_explicit_pads(self.model, shapes)
        if model is not self.model:
            note("auto_pad is written as the pads for these sizes")
        with tempfile.TemporaryDirectory() as scratch:
            whole = Path(scratch, "model.onnx")
            try:
                onnx.save(model, whole)  # weights from other files included: pnnx does not look for those
            except ValueError as error:
                raise ExportError(self.name, "less than 2 GB", in_one_line(error)) from error
            return keep(convert(whole, options), path)

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs in order, by onnxruntime if it is there, else by the reference implementation in onnx."""
        return self._run(self.model, inputs)

    def exact_answers(self, inputs: Arrays) -> list[np.ndarray]:
        """Nothing: an ONNX file says of every tensor that it is float32."""
        return []

    def settled_answers(self, inputs: Arrays) -> tuple[list[np.ndarray], set[str]]:
        """Nothing: in ONNX the first of equal numbers comes first anyway."""
        return [], set()

    def steps(self, inputs: Arrays) -> list[np.ndarray]:
        """Everything that a node of the graph computes."""
        import onnx

        talkative = onnx.ModelProto()
        talkative.CopyFrom(self.model)
        names = [name for node in talkative.graph.node for name in node.output if name]
        del talkative.graph.output[:]
        talkative.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        return self._run(talkative, inputs)

    def _named(self, inputs: Arrays) -> dict[str, np.ndarray]:
        """The arrays by the names of the file's inputs; an exporter leaves out an input that nothing depends on."""
        if len(inputs) != len(self.inputs):
            raise ExportError(self.name, f"{len(self.inputs)} inputs, as the file has", f"{len(inputs)}")
        return {one.name: array for one, array in zip(self.inputs, inputs, strict=True)}

    def _run(self, model: onnx.ModelProto, inputs: Arrays) -> list[np.ndarray]:
        feeds = self._named(inputs)
        try:
            if _has_onnxruntime():
                import onnxruntime

                options = onnxruntime.SessionOptions()
                options.log_severity_level = 4
                session = onnxruntime.InferenceSession(model.SerializeToString(), options)
                outputs = session.run(None, feeds)
            else:
                from onnx.reference import ReferenceEvaluator

                outputs = ReferenceEvaluator(model).run(None, feeds)
        except Exception as error:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in feeds.items())
            raise ExportError(self.name, f"a run on {shapes}", in_one_line(error)) from error
        return [np.asarray(output) for output in flat(outputs)]


def _has_onnxruntime() -> bool:
    import importlib.util

    return importlib.util.find_spec("onnxruntime") is not None


def _inputs(model: onnx.ModelProto) -> list[OnnxInput]:
    """The inputs that are no weights, in order."""
    import onnx

    weights = {tensor.name for tensor in model.graph.initializer}
    found = []
    for value in model.graph.input:
        tensor = value.type.tensor_type
        if value.name in weights:
            continue
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type else "no tensor"
        if dtype not in KIND_NAMES:
            raise ExportError(value.name, f"an input of the types {', '.join(KIND_NAMES)}", dtype)
        dims = tuple(dim.dim_value or dim.dim_param or "?" for dim in tensor.shape.dim)
        found.append(OnnxInput(value.name, dims if tensor.HasField("shape") else None, KIND_NAMES[dtype]))
    return found


def _fits(spec: InputSpec, declared: OnnxInput) -> bool:
    """Whether an input that was asked for is one that the file declares."""
    dims = spec.shape if declared.dims is None else declared.dims
    if spec.kind not in ("", declared.kind) or len(spec.shape) != len(dims):
        return False
    return all(isinstance(dim, str) or dim == size for dim, size in zip(dims, spec.shape, strict=True))
