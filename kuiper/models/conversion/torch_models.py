"""Models in PyTorch: from a class or function in Python code, or from a file of TorchScript or torch.export."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import warnings
import zipfile
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ExportError
from kuiper.models.conversion.torch_export import as_float32, export, in_one_line, run
from kuiper.models.conversion.traps import ignore, intercepted, prepared
from kuiper.models.conversion.verification import flat

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
        """As ``export``, for arrays."""
        import torch

        examples, others = (tuple(map(torch.from_numpy, arrays)) for arrays in (inputs, other_inputs))
        return export(self.module, examples, path, moduleop, others, optlevel=optlevel, note=note)

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs, flat and in order."""
        import torch

        with prepared(self.module):
            outputs = run(self.module, tuple(as_float32(torch.from_numpy(array.copy())) for array in inputs))
            return [as_array(output) for output in flat(outputs)]

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


def from_file(path: Path) -> TorchModel:
    """The model in a file of TorchScript, or of ``torch.export.save``.

    Raises
    ------
    ExportError
        If it is neither: a pickled module would run code when it is loaded, and a state_dict has no computation.
    """
    import torch

    if not path.is_file():
        raise ExportError(str(path), "a file", "a directory" if path.is_dir() else "nothing there")
    names = zipfile.ZipFile(path).namelist() if zipfile.is_zipfile(path) else []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is deprecated; pnnx reads nothing else
            if any(name.endswith("/constants.pkl") for name in names):
                return TorchModel(torch.jit.load(str(path), map_location="cpu"), path.name)
            if any(name.endswith("/models/model.json") for name in names):
                return TorchModel(torch.export.load(path).module(), path.name)
    except Exception as error:
        raise ExportError(str(path), "a model that PyTorch can load", in_one_line(error)) from error
    raise ExportError(str(path), "TorchScript", *_what_it_is(path))


def _what_it_is(path: Path) -> tuple[str, str]:
    """What a file is that is no program, and what to do with it."""
    import pickle

    import torch

    by_class = f"kuiper convert package.module:Class --weights {path.name}"
    if path.suffix == ".safetensors":
        return "weights without a model", by_class
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        hint = "loading it would run code: torch.save(model.state_dict(), FILE), then "
        return "a pickled module, or another file", f"{hint}{by_class.replace(path.name, 'FILE')}"
    except Exception:
        return "something else", ""
    return ("weights without a model" if isinstance(content, dict) else f"a {type(content).__name__}"), by_class
