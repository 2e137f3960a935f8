"""Models in PyTorch: from a class or function in Python code, or from a file of TorchScript or torch.export."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import warnings
import zipfile
from enum import Enum
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.bounded_file import obstacle
from kuiper.errors import ExportError
from kuiper.models.conversion.diagnosis import first_difference
from kuiper.models.conversion.exact import answers_in_float64
from kuiper.models.conversion.onnx_route import export_by_onnx
from kuiper.models.conversion.ties import first_of_equals
from kuiper.models.conversion.torch_export import as_float32, export, in_one_line, run
from kuiper.models.conversion.traps import ignore, intercepted, prepared
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from torch import nn

    from kuiper.models.conversion.traps import Note
    from kuiper.models.conversion.verification import Arrays


class TorchModel:
    """A module with the name that messages call it, and its answers as arrays."""

    def __init__(self, module: nn.Module, name: str) -> None:
        import torch

        self.module, self.name = module, name
        self.framework = f"PyTorch {torch.__version__}"

    @property
    def is_script(self) -> bool:
        """Whether it is TorchScript, which torch.export does not take."""
        import torch

        return isinstance(self.module, torch.jit.ScriptModule)

    def export(
        self,
        inputs: Arrays,
        path: Path,
        moduleop: str = "",
        other_inputs: Arrays = (),
        *,
        optlevel: int = 2,
        note: Note = ignore,
        by: str = "pnnx",
    ) -> tuple[Path, Path]:
        """As ``export``, for arrays, or, ``by="onnx"``, as ``export_by_onnx``."""
        import torch

        examples, others = (tuple(map(torch.from_numpy, arrays)) for arrays in (inputs, other_inputs))
        if by == "onnx":
            return export_by_onnx(self.module, examples, path, others, note=note)
        return export(self.module, examples, path, moduleop, others, optlevel=optlevel, note=note)

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs, flat and in order."""
        import torch

        with prepared(self.module):
            outputs = run(self.module, tuple(as_float32(torch.from_numpy(array.copy())) for array in inputs))
            return [as_array(output) for output in flat(outputs)]

    def exact_answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs in float64, or nothing where the model cannot compute in it."""
        return answers_in_float64(self.module, inputs)

    def settled_answers(self, inputs: Arrays) -> tuple[list[np.ndarray], set[str]]:
        """The outputs where the first of equal numbers comes first, and the functions that met equals."""
        met: set[str] = set()
        with intercepted(partial(first_of_equals, met)):
            return self.answers(inputs), met

    def shaken_answers(self, inputs: Arrays) -> list[list[np.ndarray]]:
        """Nothing: what the model computes in float64 says more."""
        return []

    def suspect(self, param: str | Path, inputs: Arrays, tolerance: float) -> str | None:
        """The first operator of the graph whose output the model never computes; None if there is none."""
        return first_difference(param, inputs, self.steps(inputs), tolerance) or None

    def steps(self, inputs: Arrays) -> list[np.ndarray]:
        """Every tensor that a torch function returns on the way; of TorchScript, which calls none, nothing."""
        import torch

        found: list[np.ndarray] = []

        def record(function: Any, args: Any, kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            found.extend(as_array(item).copy() for item in flat(result) if isinstance(item, torch.Tensor))
            return result

        with intercepted(record):
            self.answers(inputs)
        return found


def as_array(value: Any) -> np.ndarray:
    """A tensor, or a plain number, as an array."""
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    array: np.ndarray = as_float32(value.detach()).numpy()
    return array


def from_code(place: str, arguments: dict[str, Any] | list[Any] | None = None) -> TorchModel:
    """The model that ``package.module:Class``, ``package.module:function`` or ``file.py:Class`` makes.

    ``arguments`` are those of the class or function: a dict for names, a list for places. A module that exists
    already (``package.module:net``) takes none. Modules are looked for in the working directory first.

    Raises
    ------
    ExportError
        If there is no such thing, if it raises, or if what comes out is not a module of PyTorch.
    """
    from torch import nn

    origin, _, names = place.rpartition(":")
    try:
        found = attrgetter(names)(_import(origin))
    except (SystemExit, Exception) as error:
        raise ExportError(place, "a class or function that can be imported", in_one_line(error)) from error
    if not isinstance(found, nn.Module):
        if not callable(found):
            raise ExportError(place, "a class, a function or a module of PyTorch", type(found).__name__)
        found = _call(found, place, arguments)
    elif arguments:
        raise ExportError(place, "no arguments for a module that exists", arguments)
    if not isinstance(found, nn.Module):
        raise ExportError(place, "a torch.nn.Module", type(found).__name__)
    return TorchModel(found, place)


def _import(origin: str) -> Any:
    """The Python module of this name, or in this file."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not origin.endswith(".py"):
        return importlib.import_module(origin)
    file = Path(origin).resolve()
    name = f"_{file.stem}" if file.stem in sys.modules else file.stem  # a random.py must not take random's place
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise FileNotFoundError(f"no file {origin}")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))  # for what stands beside it and is imported by it
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _call(factory: Any, place: str, arguments: dict[str, Any] | list[Any] | None) -> Any:
    args, kwargs = ((), arguments) if isinstance(arguments, dict) else (arguments or (), {})
    try:
        return factory(*args, **kwargs)
    except (SystemExit, Exception) as error:
        hint = _signature_hint(factory) if isinstance(error, TypeError) else ""
        raise ExportError(place, "a model", in_one_line(error), hint) from error


def _signature_hint(factory: Any) -> str:
    """What a class or function takes."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return ""
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    taken = signature.replace(parameters=bare, return_annotation=signature.empty)
    return f"it takes {taken}; --args '{{\"name\": value}}' gives them"


class FileKind(Enum):
    """What a file of PyTorch is; the value is how messages call it."""

    TORCHSCRIPT = "a TorchScript program"
    EXPORTED = "a program of torch.export, which can have pickles in it"
    PICKLE = "a pickled module, or another file"
    WEIGHTS = "weights without a model"
    OTHER = "something else"

    @property
    def runs_code(self) -> bool:
        """Whether loading it can run any code of Python that is in it, with all that this user may do."""
        return self in (FileKind.EXPORTED, FileKind.PICKLE)


def kind_of(path: Path) -> FileKind:
    """What a file is, found out without running anything in it.

    Raises
    ------
    ExportError
        If there is no such file.
    """
    import pickle

    import torch

    got = obstacle(path)
    if got:
        raise ExportError(str(path), "a file", got)
    try:
        names = zipfile.ZipFile(path).namelist() if zipfile.is_zipfile(path) else []
    except (zipfile.BadZipFile, OSError, ValueError):
        return FileKind.OTHER
    if any(name.endswith("/constants.pkl") for name in names):
        return FileKind.TORCHSCRIPT
    if any(name.endswith("/models/model.json") for name in names):
        return FileKind.EXPORTED
    if path.suffix == ".safetensors":
        return FileKind.WEIGHTS
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        return FileKind.PICKLE
    except Exception:
        return FileKind.OTHER
    return FileKind.WEIGHTS if isinstance(content, dict) else FileKind.OTHER


def from_file(path: Path, kind: FileKind, *, run_code: bool = False) -> TorchModel:
    """The model in a file of TorchScript; with ``run_code`` also of ``torch.export.save``, or a pickled module.

    ``kind`` is what ``kind_of`` says of it: to find out, much of the file has to be read.

    Raises
    ------
    ExportError
        If it is none of these, or if loading it can run code that is in it and ``run_code`` does not allow that.
    """
    import torch

    if kind.runs_code and not run_code:
        raise ExportError(str(path), "TorchScript", kind.value, f"loading it would run code: {_ADVICE[kind]}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is deprecated; pnnx reads nothing else
            if kind is FileKind.TORCHSCRIPT:
                return TorchModel(torch.jit.load(str(path), map_location="cpu"), path.name)
            if kind is FileKind.EXPORTED:
                return TorchModel(torch.export.load(path).module(), path.name)
            if kind is FileKind.PICKLE:
                module = torch.load(path, map_location="cpu", weights_only=False)
                if isinstance(module, torch.nn.Module):
                    return TorchModel(module, path.name)
                raise TypeError(f"a {type(module).__name__}, no torch.nn.Module")
    except Exception as error:
        raise ExportError(str(path), "a model that PyTorch can load", in_one_line(error)) from error
    advice = f"kuiper convert package.module:Class --weights {path.name}" if kind is FileKind.WEIGHTS else ""
    raise ExportError(str(path), "TorchScript", kind.value, advice)


_ADVICE = {
    FileKind.EXPORTED: "--yes if you trust its author",
    FileKind.PICKLE: "--yes if you trust its author, or there "
    "torch.save(model.state_dict(), FILE) and here kuiper convert package.module:Class --weights FILE",
}
