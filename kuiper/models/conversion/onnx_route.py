"""From PyTorch to kuiper by way of ONNX: ``torch.onnx.export``, read by ``kuiper.onnx``. The other way is pnnx.

PyTorch's exporter follows the module itself, with ``torch.export``; pnnx follows a trace of it. Where one fails, the
other often does not.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.errors import ExportError, KuiperError, ModelFormatError
from kuiper.models.conversion.onnx_models import OnnxModel
from kuiper.models.conversion.torch_export import as_float32, in_one_line, once, run
from kuiper.models.conversion.traps import ignore, prepared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from torch import nn

    from kuiper.models.conversion.traps import Note

    Tensors = tuple[torch.Tensor, ...]
    Axes = dict[int, Any]


def export_by_onnx(
    module: nn.Module, inputs: Tensors, path: str | Path, other_inputs: Tensors = (), *, note: Note = ignore
) -> tuple[Path, Path]:
    """Write ``<path>.pnnx.param`` and ``<path>.pnnx.bin`` and return their paths.

    Parameters
    ----------
    module : it is put into eval mode, and run once
    inputs : one tensor for each argument of ``forward``; floats become float32
    path : folder and stem of the files; the folder is made if need be
    other_inputs : inputs of other shapes; the axes in which they differ are left open
    note : is told, in a line each, what was changed for the conversion

    Raises
    ------
    ExportError
        If the module cannot be run, or PyTorch cannot export it.
    KuiperError
        If kuiper lacks an operator of what it exports, or a PNNX file cannot hold it.
    ModuleNotFoundError
        If onnx or onnxscript, which PyTorch's exporter needs, is not installed.
    """
    import onnxscript  # noqa: F401 (PyTorch's exporter says it in three lines)
    import torch

    name = type(module).__name__
    if isinstance(module, torch.jit.ScriptModule):
        raise ExportError(name, "a module that torch.export can follow", "TorchScript")
    inputs, other_inputs = (tuple(map(as_float32, tensors)) for tensors in (inputs, other_inputs))
    example, axes = _open_axes(inputs, other_inputs)
    heard: list[str] = []
    try:
        with tempfile.TemporaryDirectory() as scratch, prepared(module, once(heard.append)), _silence():
            run(module, example)
            file = Path(scratch, "model.onnx")
            _export(module, example, axes, file)
            return OnnxModel(file).export((), Path(path))
    except ModelFormatError as error:
        hint = "torch.onnx.export(..., dynamo=True) writes an .onnx file, which kuiper.load takes as it is"
        raise ModelFormatError(name, error.expected, error.got, hint) from error
    finally:
        for text in heard:
            note(text)


def _export(module: nn.Module, example: Tensors, axes: list[Axes], file: Path) -> None:
    """Let PyTorch write the file."""
    import torch

    shapes = _by_argument(module, axes) if any(axes) else None
    try:
        torch.onnx.export(module, example, str(file), dynamo=True, dynamic_shapes=shapes, verbose=False)
    except KuiperError:
        raise
    except Exception as error:  # of many types, of torch.export and of its translations
        cause, expected = error.__cause__ or error, "a model that torch.onnx.export can follow"
        raise ExportError(type(module).__name__, expected, in_one_line(cause)) from error


def _open_axes(inputs: Tensors, other_inputs: Tensors) -> tuple[Tensors, list[Axes]]:
    """An example to export with, and for each input the axes that are open.

    PyTorch takes a size of 0 or 1 for a constant, so that the example has others on open axes where one of the two has.
    """
    import torch

    if not other_inputs:
        return inputs, [{} for _ in inputs]
    pairs = list(zip(inputs, other_inputs, strict=True))
    axes = [
        {axis: torch.export.Dim.DYNAMIC for axis, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)) if a != b}
        for x, y in pairs
    ]
    special = [any(x.shape[axis] < 2 for axis in open_) for x, open_ in zip(inputs, axes, strict=True)]
    return (other_inputs if any(special) else inputs), axes


def _by_argument(module: nn.Module, axes: list[Axes]) -> dict[str, Any]:
    """The open axes by the names of the arguments of ``forward``; those of ``*args`` in a tuple."""
    bound = inspect.signature(module.forward).bind(*axes)
    return dict(bound.arguments)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing is printed, warned of or logged: PyTorch's exporter is at work, and says much."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        deaf = io.StringIO()
        with contextlib.redirect_stdout(deaf), contextlib.redirect_stderr(deaf), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
