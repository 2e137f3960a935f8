"""Load and save a pair of PNNX files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.bounded_file import obstacle
from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.bin_reader import read_weights
from kuiper.graph.pnnx.bin_writer import check_weights, write_weights
from kuiper.graph.pnnx.ir import DataType, Graph
from kuiper.graph.pnnx.param_reader import MAX_TEXT, parse_param
from kuiper.graph.pnnx.param_writer import format_param

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

FilePath = str | PathLike[str]


def load(param_path: FilePath, bin_path: FilePath | None = None, *, weights: bool = True) -> Graph:
    """The graph of a pair of PNNX files.

    Parameters
    ----------
    param_path : the .param file
    bin_path : the .bin file; by default the sibling of the .param file
    weights : False reads the .param file only and leaves ``data`` of all attributes None

    Returns
    -------
    The graph as the files have it; ``RuntimeGraph`` makes it run.

    Raises
    ------
    ModelFormatError
        For everything that is wrong with the files, from a missing one to a wrong checksum.

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> graph = load(bundled("cifar_resnet20"))
    >>> graph.operators[1].type, graph.operators[1].attrs["weight"].data.shape
    ('nn.Conv2d', (16, 3, 3, 3))
    """
    with _opened(param_path) as file:
        graph = parse_param(_read_text(file, str(param_path)), str(param_path))
    if weights:
        bin_path = sibling_bin(param_path) if bin_path is None else bin_path
        needed = any(attr.type is not DataType.NULL for op in graph.operators for attr in op.attrs.values())
        if needed or os.path.exists(bin_path):
            with _opened(bin_path) as file:
                read_weights(graph, file, str(bin_path))
    return graph


def save(graph: Graph, param_path: FilePath, bin_path: FilePath | None = None) -> None:
    """Write a graph as a pair of PNNX files.

    Parameters
    ----------
    graph : the graph, with the data of all its attributes
    param_path : the .param file to write
    bin_path : the .bin file; by default the sibling of the .param file

    Raises
    ------
    ModelFormatError
        If the graph holds something that the format cannot express, or an attribute has no data.
    OSError
        If a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from kuiper.models import bundled
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(load(bundled("cifar_resnet20")), f"{folder}/copy.pnnx.param")
    ...     len(load(f"{folder}/copy.pnnx.param").operators) == len(load(bundled("cifar_resnet20")).operators)
    True
    """
    bin_path = sibling_bin(param_path) if bin_path is None else bin_path
    text = format_param(graph, str(param_path)).encode()
    check_weights(graph, str(bin_path))
    with open(bin_path, "wb") as file:
        write_weights(graph, file)
    Path(param_path).write_bytes(text)


def sibling_bin(param_path: FilePath) -> Path:
    """The .bin file that belongs to a .param file.

    >>> sibling_bin("models/resnet18.pnnx.param").name
    'resnet18.pnnx.bin'

    Raises
    ------
    ModelFormatError
        If the name does not end in "param".
    """
    path = Path(param_path)
    if not path.name.endswith("param"):
        raise ModelFormatError(str(path), "a name that ends in 'param'", path.name, "or pass bin_path")
    return path.with_name(path.name.removesuffix("param") + "bin")


@contextmanager
def _opened(path: FilePath) -> Iterator[BufferedReader]:
    """The file at a path, open for reading; whatever the system says against it becomes a ModelFormatError."""
    if got := obstacle(path):  # a pipe or a device could keep the reader waiting forever
        raise ModelFormatError(str(path), "a file", got)
    try:
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise ModelFormatError(str(path), "a file that can be read", error) from error


def _read_text(file: BufferedReader, where: str) -> str:
    size = os.fstat(file.fileno()).st_size
    if size > MAX_TEXT:
        raise ModelFormatError(where, f"at most {MAX_TEXT} bytes of text", size, "is this a .param file?")
    data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        got = f"the byte 0x{data[error.start]:02x}"
        raise ModelFormatError(f"{where}:{line}", "UTF-8 text", got, "is this a .param file?") from error
