"""kuiper: a deep-learning inference engine in Python and Cython.

>>> import kuiper, numpy as np
>>> from kuiper.models import bundled
>>> model = kuiper.load(bundled("cifar_resnet20"))
>>> y = model(np.zeros((1, 3, 32, 32), np.float32))
>>> y.shape
(1, 10)
"""

from __future__ import annotations

from kuiper.machine.levels import use_best_level

use_best_level()  # before any compiled module is imported: this CPU might not be able to run it

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from kuiper import layer_packages
from kuiper.build_info import build_info
from kuiper.errors import (
    CsvFormatError,
    DataTypeError,
    DownloadError,
    ExecutionError,
    ExportError,
    ExpressionError,
    FallbackWarning,
    GraphStateError,
    ImageError,
    KuiperError,
    ModelFormatError,
    OutOfMemoryError,
    ParameterError,
    ShapeError,
    TensorIndexError,
    UnsupportedOperatorError,
)
from kuiper.machine import build, stated, this_machine
from kuiper.tensor_limit import set_tensor_limit
from kuiper.threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from kuiper import engine as engine
    from kuiper import expression as expression
    from kuiper import graph as graph
    from kuiper import layers as layers
    from kuiper import onnx as onnx
    from kuiper.graph import RuntimeGraph, pnnx
    from kuiper.graph.passes import Pass
    from kuiper.graph.protocols import PageProtocol
    from kuiper.machine import Machine
    from kuiper.tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "CsvFormatError",
    "DataTypeError",
    "DownloadError",
    "ExecutionError",
    "ExportError",
    "ExpressionError",
    "FallbackWarning",
    "GraphStateError",
    "ImageError",
    "KuiperError",
    "ModelFormatError",
    "OutOfMemoryError",
    "ParameterError",
    "RuntimeGraph",
    "ShapeError",
    "Tensor",
    "TensorIndexError",
    "UnsupportedOperatorError",
    "build_info",
    "get_num_threads",
    "load",
    "set_num_threads",
    "set_tensor_limit",
]

_NAMES = {"RuntimeGraph": "kuiper.graph", "Tensor": "kuiper.tensor"}
_PARTS = ("engine", "expression", "graph", "layers", "onnx", "tensor")
_MODULES = ("kuiper.expression", "kuiper.engine.engine", "kuiper.onnx.source")

layer_packages.above.append("kuiper.expression")  # which registers pnnx.Expression


if not TYPE_CHECKING:  # a type checker would take any name for one of kuiper's

    def __getattr__(name: str) -> Any:
        """Import what ``import kuiper`` has not: packages that take several times as long as NumPy."""
        if name in _NAMES:
            value = getattr(importlib.import_module(_NAMES[name]), name)
        elif name in _PARTS:
            for module in _MODULES:  # all that they import can be reached from here, whichever part was asked for first
                importlib.import_module(module)
            value = importlib.import_module(f"kuiper.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_NAMES, *_PARTS})


def load(
    param: str | PathLike[str] | pnnx.Graph | Callable[[], pnnx.Graph],
    bin: str | PathLike[str] | None = None,  # noqa: A002 (the public name)
    *,
    optimize: bool = True,
    passes: Sequence[Pass | str] | None = None,
    machine: Machine | str | None = None,
    reproducible: bool = False,
    constants: Mapping[str, Any] | None = None,
) -> RuntimeGraph:
    """The model in these files, ready to be called.

    Parameters
    ----------
    param : path of a ``.pnnx.param`` or an ``.onnx`` file, a graph that was made in code, or a function that makes one
    bin : path of the ``.pnnx.bin`` file; by default the sibling of ``param``
    optimize : False is the readable path: every operator as it stands in the file, one layer after the other
    passes : rewrites of the graph, as functions of ``kuiper.graph.passes`` or by name, done in this order; by default
        ``DEFAULT_PASSES``, or none with ``optimize=False``. Given both, the readable path runs the graph that exactly
        these passes leave: good for seeing what one of them does.
    machine : what the engine plans for, or in a few words what that has other than this machine, as in the variable
        KUIPER_MACHINE: ``"l2=256K cores=4 vnni=no"``; by default this machine
    reproducible : True chooses the engine's algorithms without any fact of this machine, so that every CPU with fused
        multiply-adds computes the same bits; it may take longer. Layers that run in Python, and functions of the C
        library, are as the machine has them: ``plan`` says which these are.
    constants : inputs of an ``.onnx`` file that shall be the same in every call, by name: ``{"sr": 16000}``. They are
        no arguments any more, and conditions on them are decided now.

    Returns
    -------
    A graph that is called with one argument for each input of the model.

    Raises
    ------
    ModelFormatError
        If a file is missing or does not follow the PNNX format; the message gives file and line.
    UnsupportedOperatorError
        If the graph needs operators that kuiper lacks; the message lists all of them.
    ParameterError
        If there is no pass of a name; the message lists all names. If ``machine`` cannot be meant, wants an instruction
        that this machine lacks, or comes together with ``reproducible``; if this build cannot be reproducible.

    Warns
    -----
    FallbackWarning
        Here or in a call, once for a model: a mistake of kuiper's lets it run on a slower way. ``KUIPER_STRICT=1`` in
        the environment raises the error instead.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> model(np.zeros((2, 3, 32, 32), np.float32)).shape
    (2, 10)
    """
    if machine is not None and reproducible:
        raise ParameterError("load", "a machine, or reproducible=True", "both")
    if reproducible and not (build.FUSES and build.LANES > 1):
        expected = "a build with fused multiply-adds of vectors (AVX2, AVX-512, NEON) for reproducible=True"
        raise ParameterError("load", expected, build_info()["level"])
    if isinstance(machine, str):
        machine = stated(this_machine(), machine)
    from kuiper.engine.engine import Engine
    from kuiper.graph import RuntimeGraph
    from kuiper.layers import registry
    from kuiper.onnx.source import graph_source

    graph = RuntimeGraph(*graph_source(param, bin, constants))
    engine = partial(Engine, machine=machine, reproducible=reproducible)
    graph.build(registry, optimize, passes, engine if optimize else None, _explorer)
    return graph


def _explorer(graph: RuntimeGraph, /, *inputs: Any) -> PageProtocol:
    """What a graph is handed for ``explore``; what makes pages is imported when somebody asks for one."""
    from kuiper.explore.explore import explore

    return explore(graph, *inputs, version=__version__)
