"""A network's graph by one of the routes, and what others make of the same file."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from typing import TYPE_CHECKING, Any

import torch

from kuiper.errors import KuiperError
from kuiper.graph import pnnx
from kuiper.models.conversion import OnnxModel, export
from kuiper.models.conversion.pnnx_converter import convert, converter_options
from kuiper.models.conversion.torch_models import as_array
from kuiper.models.conversion.traps import prepared, traceable
from kuiper.models.nested import flat
from tests.fixtures.conversion import one_line, root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from tests.networks.network import Network, Tensors

ROUTES = ("optlevel2", "optlevel1", "optlevel0", "onnx")

TURNS = ("optlevel2", "optlevel1", "optlevel0", "optlevel2", "optlevel1", "optlevel0", "optlevel2", "onnx")
"""The route of a seed is that of its last digit in the system of eight."""


class NoGraphError(Exception):
    """A route does not lead to a graph; the message says why in one line."""


def graph_of(network: Network, route: str, folder: Path) -> Path:
    """The .param file that the route leads to.

    Raises
    ------
    NoGraphError
        If PyTorch's exporter or pnnx gives up.
    """
    module, traced = network.build(), network.tensors(network.inputs)
    other = network.tensors(network.others) if network.open_sizes and network.others else ()
    try:
        if route != "onnx":
            return export(module, traced, folder / "network", other_inputs=other, optlevel=int(route[-1]))[0]
        model = OnnxModel(onnx_file(network, folder))
        return model.export(tuple(map(as_array, traced)), folder / "network")[0]
    except KuiperError as error:
        raise NoGraphError(one_line(str(error))) from error


def onnx_file(network: Network, folder: Path) -> Path:
    """What PyTorch's older exporter writes, sizes left open if the network says so.

    Raises
    ------
    NoGraphError
        If it cannot.
    """
    path, inputs = folder / "network.onnx", network.tensors(network.inputs)
    names = [f"v{number}" for number in network.inputs]
    axes: dict[str, dict[int, str]] = {}
    if network.open_sizes and network.others:
        for name, number in zip(names, network.inputs, strict=True):
            sizes = zip(network.inputs[number].shape, network.others[number].shape, strict=True)
            axes[name] = {axis: f"{name}_{axis}" for axis, (size, other) in enumerate(sizes) if size != other}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(network.build(), inputs, str(path), input_names=names, dynamic_axes=axes, dynamo=False)
    except Exception as error:  # of many classes; all mean that there is no ONNX file
        raise NoGraphError(f"torch.onnx: {one_line(str(root(error)))}") from error
    return path


def by_onnxruntime(network: Network, folder: Path, inputs: Tensors) -> list[np.ndarray]:
    """What onnxruntime computes from the ONNX file."""
    return OnnxModel(onnx_file(network, folder)).answers(tuple(map(as_array, inputs)))


def by_pnnx(network: Network, route: str, folder: Path, inputs: Tensors) -> list[np.ndarray]:
    """What the Python module computes that pnnx writes beside its graph."""
    traced = network.tensors(network.inputs)
    other = network.tensors(network.others) if network.open_sizes and network.others else ()
    module, file = network.build(), folder / "network.pt"
    with prepared(module), traceable(module), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(module, traced, check_trace=False).save(str(file))
    convert(file, converter_options(traced, other, optlevel=int(route[-1])))
    names: dict[str, Any] = {"__name__": "pnnx_module"}
    text = file.with_name("network_pnnx.py").read_text(encoding="utf-8")
    here = os.getcwd()
    os.chdir(folder)  # it looks for its weights there
    try:
        exec(text, names)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [as_array(output) for output in flat(names["Model"]().float().eval()(*inputs))]
    finally:
        os.chdir(here)


def declares_other_shapes(network: Network, route: str, folder: Path, wanted: Sequence[np.ndarray]) -> bool:
    """Whether pnnx's file gives its outputs other shapes than these, which torch has computed."""
    graph = pnnx.load(graph_of(network, route, folder))
    outputs = [operand for op in graph.operators if op.type == "pnnx.Output" for operand in op.inputs]
    declared = [operand.shape for operand in outputs]
    return None not in declared and declared != [array.shape for array in wanted]
