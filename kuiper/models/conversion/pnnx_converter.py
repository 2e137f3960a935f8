"""Run pnnx's converter, and judge what it wrote.

The converter's exit code says little: it fails after it has written a whole graph (in the Python file that it also
makes), and it succeeds without one. What counts are the two files.
"""

from __future__ import annotations

import re
import signal
import subprocess
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kuiper.errors import ExportError, KuiperError
from kuiper.graph import pnnx as pnnx_files
from kuiper.machine.processes import need_processes
from kuiper.models.conversion.input_spec import KIND_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    class Typed(Protocol):
        """An array or a tensor."""

        @property
        def shape(self) -> Iterable[int]: ...
        @property
        def dtype(self) -> object: ...


MAX_SECONDS = 3600
"""So long the converter may take: on some graphs in ONNX it never ends."""

_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_TELLING = re.compile(
    r"error|fail|terminate|what\(\)|exception|unknown|unexpected|unsupported|no such|todo ", re.IGNORECASE
)


def convert(model: Path, options: list[str]) -> tuple[Path, Path]:
    """Run pnnx's converter on a TorchScript or ONNX file; the graph it writes lies beside the file.

    Raises
    ------
    ExportError
        If the converter leaves no whole graph, or none within ``MAX_SECONDS``; the hint holds what it said last.
    ModuleNotFoundError
        If pnnx, or PyTorch which it imports, is not installed.
    """
    need_processes("pnnx", "to run the converter in")
    import pnnx

    command = [pnnx.EXEC_PATH, model.name, *options]
    try:
        finished = subprocess.run(
            command,
            cwd=model.parent,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"") + (error.stderr or b"")
        last = last_words(said.decode(errors="replace") if isinstance(said, bytes) else said)
        raise ExportError("pnnx", f"a graph within {MAX_SECONDS} s", "none (the converter was ended)", last) from error
    param, weights = (model.with_name(f"{model.stem}.pnnx.{kind}") for kind in ("param", "bin"))
    try:
        graph = pnnx_files.load(param, weights)
    except KuiperError as error:
        place = error.where.replace(f"{model.parent}/{model.stem}.pnnx", "")
        problem = f"in its {place} {error.got} instead of {error.expected}" if param.exists() else "none"
        got = f"{problem} ({_ending(finished.returncode)})"
        raise ExportError("pnnx", "a whole graph", got, last_words(finished.stdout + finished.stderr)) from error
    _refuse_split_weights(graph)
    return param, weights


def converter_options(
    inputs: Sequence[Typed], other_inputs: Sequence[Typed] = (), moduleop: str = "", optlevel: int = 2
) -> list[str]:
    """The converter's options for a graph of these inputs, with all weights in float32.

    >>> import numpy as np
    >>> converter_options([np.zeros((1, 10), np.int64)], moduleop="net.Head")
    ['inputshape=[1,10]i64', 'optlevel=2', 'fp16=0', 'moduleop=net.Head']
    """
    options = [f"inputshape={shape_option(inputs)}", f"optlevel={optlevel}", "fp16=0"]
    if other_inputs:
        options.append(f"inputshape2={shape_option(other_inputs)}")
    return [*options, f"moduleop={moduleop}"] if moduleop else options


def last_words(output: str) -> str:
    """The last lines of the converter's output that tell what went wrong, or its last line.

    >>> last_words("############# pass_level1\\nterminate called after throwing\\n  what():  map::at\\n")
    'it said: terminate called after throwing | what():  map::at'
    """
    lines = [_COLOUR.sub("", line).strip() for line in output.splitlines()]
    lines = [line for line in lines if line and "onnxruntime:pnnx" not in line]  # its warnings about the CPU
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return "it said: " + " | ".join(line[:300] for line in telling[-2:]) if telling else ""


def shape_option(tensors: Iterable[Typed]) -> str:
    """How the converter takes the shapes and types of inputs.

    >>> import numpy as np
    >>> shape_option([np.zeros((1, 3, 8, 8), np.float32), np.zeros((1, 10), np.int64)])
    '[1,3,8,8]f32,[1,10]i64'

    Raises
    ------
    ExportError
        If an element type is not one that the converter knows.
    """
    words = []
    for tensor in tensors:
        name = str(tensor.dtype).removeprefix("torch.")
        if name not in KIND_NAMES:
            raise ExportError("pnnx", f"inputs of the types {', '.join(KIND_NAMES)}", name)
        if not tuple(tensor.shape):
            raise ExportError("pnnx", "inputs that have axes", "a number, ()", "--by onnx takes numbers")
        words.append(f"[{','.join(map(str, tensor.shape))}]{KIND_NAMES[name]}")
    return ",".join(words)


def _ending(code: int) -> str:
    """How the converter ended, in words."""
    if code >= 0:
        return f"the converter ended with exit code {code}"
    names = [number.name for number in signal.Signals if number == -code]
    return f"the converter crashed: {names[0] if names else f'signal {-code}'}"


def _refuse_split_weights(graph: pnnx_files.Graph) -> None:
    """A weight that two modules share in a trace becomes an input of the second, in front of the data."""
    for op in graph.operators:
        own = op.attrs.get("weight")
        producers = [operand.producer for operand in op.inputs if operand.producer is not None]
        for producer in producers if op.type.startswith("nn.") else ():
            shared = producer.attrs.get("data")
            if shared and own and np.array_equal(np.asarray(shared.data), np.asarray(own.data)):
                hint = f"the trace shares the weight of '{producer.name}': give each module a copy, then trace"
                raise ExportError(f"{op.type} '{op.name}'", "its weight inside", "its weight as an input too", hint)
