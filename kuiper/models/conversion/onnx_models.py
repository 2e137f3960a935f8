"""Models in ONNX: their inputs, their conversion, their answers."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import ExportError
from kuiper.graph import pnnx
from kuiper.models.conversion.input_spec import KIND_NAMES, InputSpec, draw_inputs
from kuiper.models.conversion.open_axes import ATTEMPTS, made_up
from kuiper.models.conversion.shared_weights import share_weights
from kuiper.models.conversion.traps import ignore
from kuiper.models.onnx.one_node import differing_node
from kuiper.models.onnx.oracle import Oracle
from kuiper.onnx.element_types import element_type
from kuiper.onnx.model_file import OnnxFile
from kuiper.onnx.reader import graph_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kuiper.models.conversion.traps import Note
    from kuiper.models.conversion.verification import Arrays


_NUMPY_NAMES = {"float": "float32", "double": "float64"}


class OnnxInput(NamedTuple):
    """An input as the file declares it; sizes that it leaves open are names or "?"."""

    name: str
    dims: tuple[int | str, ...] | None
    kind: str

    def __str__(self) -> str:
        dims = "?" if self.dims is None else ", ".join(map(str, self.dims))
        return f"{self.name} ({dims}) {self.kind}"


class OnnxModel:
    """A model in an .onnx file, weights in files beside it included.

    Parameters
    ----------
    path : the file
    constants : inputs that shall be the same in every run, by name, as of ``kuiper.load``

    Raises
    ------
    ModelFormatError
        If the file is not such a model, or onnx is not installed.
    """

    def __init__(self, path: Path, constants: Mapping[str, Any] | None = None) -> None:
        self.path, self.name = path, path.name
        self.constants = dict(constants or {})
        self._file = OnnxFile(path)
        self.inputs = [
            _input(info, self.name)
            for info in self._file.graph.input
            if info.name not in self._file.weights and info.name not in self.constants
        ]

    @property
    def framework(self) -> str:
        """Who computes the answers."""
        return self._oracle.runtime

    def specs(self, given: Sequence[InputSpec], note: Note = ignore) -> list[InputSpec]:
        """The inputs to convert for: those given, with the file's element types, or those of the file.

        Sizes that the file leaves open are made up where none are given, so that the model runs; ``note`` is told.

        Raises
        ------
        ExportError
            If those given do not fit the file, or no sizes that were made up do.
        """
        if not given:
            return self._made_up(note)
        fits = len(given) == len(self.inputs) and all(map(_fits, given, self.inputs))
        if not fits:
            declared = "; ".join(map(str, self.inputs))
            raise ExportError(self.name, f"inputs like {declared}", "; ".join(map(str, given)))
        return [spec.of_kind(one.kind) for spec, one in zip(given, self.inputs, strict=True)]

    def other_specs(self, specs: Sequence[InputSpec]) -> list[InputSpec]:
        """Inputs of other sizes where the file leaves some open; none if it does not, or none run that are tried."""
        for attempt in range(1, ATTEMPTS):
            sizes = made_up([one.dims for one in self.inputs], attempt, batch=2)
            others = [InputSpec(shape, spec.kind, spec.limits) for shape, spec in zip(sizes, specs, strict=True)]
            if others != list(specs) and self._runs(others):
                return others
        return []

    def export(
        self,
        inputs: Arrays,
        path: Path,
        moduleop: str = "",
        other_inputs: Arrays = (),
        *,
        optlevel: int = 2,
        note: Note = ignore,
        by: str = "",
    ) -> tuple[Path, Path]:
        """Write ``<path>.pnnx.param`` and ``<path>.pnnx.bin`` and return their paths.

        Sizes that the file leaves open stay open, whatever ``inputs`` are; the other arguments are for models of
        PyTorch.

        Raises
        ------
        UnsupportedOperatorError
            If kuiper lacks operators of the model.
        ModelFormatError
            If it has what a PNNX file cannot hold, such as the bodies of conditions and loops.
        """
        graph = graph_of(self._file, self.constants)
        for operand in graph.operands:
            if operand.shape is not None:
                operand.shape = tuple(size if isinstance(size, int) else None for size in operand.shape)
        _spell_as_pnnx_does(graph)
        share_weights(graph)
        path.parent.mkdir(parents=True, exist_ok=True)
        param = path.with_name(f"{path.name}.pnnx.param")
        pnnx.save(graph, param)
        return param, pnnx.sibling_bin(param)

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs in order, by onnxruntime if it is there, else by the reference implementation in onnx."""
        return self._oracle.answers(self._named(inputs))

    def exact_answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs in float64, or nothing."""
        return self._oracle.exact_answers(self._named(inputs))

    def shaken_answers(self, inputs: Arrays) -> list[list[np.ndarray]]:
        """The outputs as they would be with other rounding, or nothing."""
        return self._oracle.shaken_answers(self._named(inputs))

    def settled_answers(self, inputs: Arrays) -> tuple[list[np.ndarray], set[str]]:
        """Nothing: in ONNX the first of equal numbers comes first anyway."""
        return [], set()

    def suspect(self, param: str | Path, inputs: Arrays, tolerance: float) -> str | None:
        """The first node that kuiper, given the oracle's inputs of that node, computes otherwise; "" if none does.

        None means that it cannot be told.
        """
        return differing_node(self._oracle, self._named(inputs))

    def _made_up(self, note: Note) -> list[InputSpec]:
        """The file's inputs, with sizes for which the model runs where it leaves them open."""
        dims = [one.dims for one in self.inputs]
        if all(one is not None and all(isinstance(size, int) for size in one) for one in dims):
            return [InputSpec(shape, one.kind) for shape, one in zip(made_up(dims), self.inputs, strict=True)]
        for attempt in range(ATTEMPTS):
            specs = [InputSpec(shape, one.kind) for shape, one in zip(made_up(dims, attempt), self.inputs, strict=True)]
            if self._runs(specs):
                note(f"sizes that the file leaves open, made up: {'; '.join(map(str, specs))} (--input chooses others)")
                return specs
        declared = "; ".join(map(str, self.inputs))
        raise ExportError(self.name, "--input once for each input, with sizes that the model takes", declared)

    def _runs(self, specs: Sequence[InputSpec]) -> bool:
        """Whether the oracle can run the model on inputs like these."""
        try:
            return bool(self.answers(draw_inputs(specs, 0)))
        except ExportError:
            return False

    @cached_property
    def _oracle(self) -> Oracle:
        return Oracle(self.path)

    @cached_property
    def _constants(self) -> dict[str, np.ndarray]:
        """The inputs that are constants, as the oracle takes them."""
        from onnx import helper

        found = {}
        for info in self._file.graph.input:
            if info.name in self.constants:
                tensor = info.type.tensor_type
                array = np.asarray(self.constants[info.name], helper.tensor_dtype_to_np_dtype(tensor.elem_type))
                found[info.name] = array if array.ndim else array.reshape([1] * len(tensor.shape.dim))
        return found

    def _named(self, inputs: Arrays) -> dict[str, np.ndarray]:
        """The arrays by the names of the file's inputs, constants included."""
        if len(inputs) != len(self.inputs):
            raise ExportError(self.name, f"{len(self.inputs)} inputs, as the file has", f"{len(inputs)}")
        given = {one.name: array for one, array in zip(self.inputs, inputs, strict=True)}
        return given | self._constants


def _spell_as_pnnx_does(graph: pnnx.Graph) -> None:
    """Give settings that the format has no numbers for the words that layers take for them, in place.

    A number that is not finite is a word there, and an empty list is none.
    """
    for op in graph.operators:
        for key, param in op.params.items():
            if isinstance(param.value, float) and not math.isfinite(param.value):
                op.params[key] = pnnx.Parameter(pnnx.ParameterType.STRING, str(param.value))
            elif param.value == [] and key in ("shape", "axes"):
                op.params[key] = pnnx.Parameter(pnnx.ParameterType.NULL, None, "()")


def _input(info: Any, where: str) -> OnnxInput:
    """An input of the file, if arrays for it can be made up."""
    tensor = info.type.tensor_type
    dtype = element_type(tensor.elem_type, f"{where}: '{info.name}'").name
    kind = KIND_NAMES.get(_NUMPY_NAMES.get(dtype, dtype))
    if kind is None:
        raise ExportError(
            info.name, f"an input of the types {', '.join(KIND_NAMES)}", dtype, "load the .onnx file itself"
        )
    dims = tuple(dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in tensor.shape.dim)
    return OnnxInput(info.name, dims if tensor.HasField("shape") else None, kind)


def _fits(spec: InputSpec, declared: OnnxInput) -> bool:
    """Whether an input that was asked for is one that the file declares."""
    dims = spec.shape if declared.dims is None else declared.dims
    if spec.kind not in ("", declared.kind) or len(spec.shape) != len(dims):
        return False
    return all(isinstance(dim, str) or dim == size for dim, size in zip(dims, spec.shape, strict=True))
