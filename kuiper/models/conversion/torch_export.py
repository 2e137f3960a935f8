"""Trace a PyTorch module, convert the trace, and run the module for its own answers."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.errors import ExportError, KuiperError
from kuiper.models.conversion.code_place import place_of, warned_place
from kuiper.models.conversion.data_sizes import note_sizes_of_data
from kuiper.models.conversion.pnnx_converter import convert, converter_options
from kuiper.models.conversion.repairs import name_outputs, repair
from kuiper.models.conversion.traps import ignore, prepared, traceable

if TYPE_CHECKING:
    import torch
    from torch import nn

    from kuiper.models.conversion.traps import Note

    Tensors = tuple[torch.Tensor, ...]


def export(
    module: nn.Module,
    inputs: Tensors,
    path: str | Path,
    moduleop: str = "",
    other_inputs: Tensors = (),
    *,
    optlevel: int = 2,
    note: Note = ignore,
) -> tuple[Path, Path]:
    """Write ``<path>.pnnx.param`` and ``<path>.pnnx.bin`` and return their paths.

    Parameters
    ----------
    module : it is put into eval mode and run once before it is traced; a TorchScript module is taken as it is
    inputs : one tensor for each argument of ``forward``; their shapes are those in the graph, floats become float32
    path : folder and stem of the files; the folder is made if need be
    moduleop : full name of a module class that the graph holds as one operator (several with commas between)
    other_inputs : inputs of other shapes; the graph then leaves the axes open in which they differ
    optlevel : how much pnnx itself rewrites: 0 nothing, 1 it keeps batch norms, 2 it folds them
    note : is told, in a line each, what was changed for the conversion and what the trace cannot hold

    Raises
    ------
    ExportError
        If the module cannot be run or traced on these inputs, or pnnx writes no whole graph.
    """
    import torch

    inputs, other_inputs = (tuple(map(as_float32, tensors)) for tensors in (inputs, other_inputs))
    options = converter_options(inputs, other_inputs, moduleop, optlevel)
    note = once(note)
    with tempfile.TemporaryDirectory() as scratch, prepared(module, note):
        run(module, inputs)
        traced = Path(scratch, "traced.pt")
        script = module if isinstance(module, torch.jit.ScriptModule) else _trace(module, inputs, note)
        written = _convert_script(script, traced, options, note)
        note_sizes_of_data(written[0], note)
        name_outputs(written, script, note)
        repair(written, [tensor.numpy() for tensor in inputs], lambda: run(script, copies(inputs)), note)
        return keep(written, Path(path))


def copies(tensors: Tensors) -> Tensors:
    """The same numbers elsewhere: a model may write to its inputs."""
    return tuple(tensor.clone() for tensor in tensors)


def once(note: Note) -> Note:
    """A note taker that passes each text on once."""
    seen: set[str] = set()

    def take(text: str) -> None:
        if text not in seen:
            seen.add(text)
            note(text)

    return take


def keep(written: tuple[Path, Path], path: Path) -> tuple[Path, Path]:
    """Copy the two files to ``<path>.pnnx.param`` and ``<path>.pnnx.bin``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    targets = path.with_name(f"{path.name}.pnnx.param"), path.with_name(f"{path.name}.pnnx.bin")
    for source, target in zip(written, targets, strict=True):
        shutil.copyfile(source, target)
    return targets


def as_float32(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on the CPU, of float32 if it holds floats."""
    import torch

    return tensor.to("cpu", torch.float32 if tensor.is_floating_point() else tensor.dtype)


def run(module: nn.Module, inputs: Tensors) -> Any:
    """What the module returns; an error of its own becomes one line with the place in the user's code.

    Raises
    ------
    ExportError
        If ``forward`` raises.
    """
    try:
        return module(*inputs)
    except KuiperError:
        raise
    except Exception as error:
        shapes = ", ".join(f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}" for tensor in inputs)
        expected = f"a forward pass on {shapes or 'no inputs'}"
        hint = "--input 1,10:i64:0..9 sets the range of made-up indices" if isinstance(error, IndexError) else ""
        raise ExportError(type(module).__name__, expected, in_one_line(error), hint) from error


def in_one_line(error: BaseException) -> str:
    """Type, last line and place of an error.

    >>> in_one_line(KeyError("width"))
    "KeyError: 'width'"
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = next((line for line in reversed(lines) if "Error" in line), lines[0] if lines else "")
    return f"{type(error).__name__}: {text[:300]}{place_of(error)}"


def _trace(module: nn.Module, inputs: Tensors, note: Note) -> torch.jit.ScriptModule:
    """The trace of the module."""
    import torch

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category.__name__ != "TracerWarning" or not (place := warned_place()):
            return  # of torch's own code: that it makes constants of sizes is known here
        note(f"{place}: {str(message).split('. ')[0]}")

    with warnings.catch_warnings(), traceable(module, note):
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            return torch.jit.trace(module, inputs, check_trace=False)
        except KuiperError:
            raise
        except Exception as error:
            expected = "a model that torch.jit.trace can follow"
            raise ExportError(type(module).__name__, expected, in_one_line(error)) from error


def _convert_script(module: torch.jit.ScriptModule, file: Path, options: list[str], note: Note) -> tuple[Path, Path]:
    """Convert TorchScript as it is, so that its operators keep their names; where pnnx fails at that, frozen.

    Frozen, it has no modules any more, and so none of those at whose parts pnnx falls.
    """
    import torch

    try:
        module.save(str(file))
    except RuntimeError as error:  # of a part that is Python, such as an operator from a library
        expected = "TorchScript that can be written to a file"
        raise ExportError(type(module).__name__, expected, in_one_line(error)) from error
    try:
        return convert(file, options)
    except ExportError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            frozen = torch.jit.freeze(module) if hasattr(module, "training") else None  # else it is frozen already
        if frozen is None:
            raise
        frozen.save(str(file))
        written = convert(file, options)
        note("pnnx fails at the modules of this model; converted without them, from a frozen trace")
        return written
