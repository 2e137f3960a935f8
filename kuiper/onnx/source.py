"""What a graph is made from: the two files of PNNX, an .onnx file, or a graph in memory."""

from __future__ import annotations

from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kuiper.graph import pnnx

    Model = str | PathLike[str] | pnnx.Graph | Callable[[], pnnx.Graph]


class GraphSource(NamedTuple):
    """The arguments of a RuntimeGraph: what it is made from, the file of its weights, its name ("": by the first)."""

    model: Model
    bin_path: str | PathLike[str] | None = None
    name: str = ""


def graph_source(
    model: Model, bin_path: str | PathLike[str] | None = None, constants: Mapping[str, Any] | None = None
) -> GraphSource:
    """What ``RuntimeGraph`` is to be made from.

    Parameters
    ----------
    model : path of a .param or an .onnx file, a graph, or a function that makes one
    bin_path : the weights of a .param file, if they do not lie beside it
    constants : inputs of an .onnx file that shall be the same in every run

    Raises
    ------
    ParameterError
        If an .onnx file has a ``bin_path``, or anything else has ``constants``.

    >>> graph_source("a/net.onnx").name, graph_source("a/net.pnnx.param").model
    ('net.onnx', 'a/net.pnnx.param')
    """
    if not isinstance(model, (str, PathLike)) or not is_onnx(model):
        if constants:
            raise ParameterError("load", "constants for an .onnx file", model)
        return GraphSource(model, bin_path)
    if bin_path is not None:
        raise ParameterError("load", "no bin beside an .onnx file, which names its weights itself", bin_path)
    return GraphSource(partial(_read, Path(model), constants), None, Path(model).name)


def is_onnx(path: str | PathLike[str]) -> bool:
    """Whether this is the path of an .onnx file, by its ending.

    >>> is_onnx("a/Net.ONNX"), is_onnx("net.onnx.pnnx.param")
    (True, False)
    """
    return fspath(path).lower().endswith(".onnx")


def _read(path: Path, constants: Mapping[str, Any] | None) -> pnnx.Graph:
    """The graph of an .onnx file; what reads it is imported when somebody has one."""
    from kuiper.onnx.reader import read_onnx

    return read_onnx(path, constants)
