"""What the commands that take a model have in common: where it is, its weights, its inputs, the threads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kuiper
from kuiper.cli.input_files import Constant
from kuiper.engine.engine import Engine
from kuiper.errors import ParameterError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.made_up import fill_random_weights, sample_inputs
from kuiper.layers import registry
from kuiper.onnx.source import graph_source, is_onnx

if TYPE_CHECKING:
    import numpy as np


def add_model_arguments(
    parser: argparse.ArgumentParser, optimize_only: bool = False, *, is_optional: bool = False
) -> None:
    """MODEL, the .bin of a .param, and, unless ``optimize_only``, the choice of the readable path."""
    words = "a .param file, whose weights lie beside it, or an .onnx file"
    parser.add_argument("model", type=Path, nargs="?" if is_optional else None, metavar="MODEL", help=words)
    parser.add_argument("--bin", type=Path, help="the weights of a .param file (default: its sibling)")
    add_constant_argument(parser)
    if optimize_only:
        parser.set_defaults(no_optimize=False)
    else:
        parser.add_argument("--no-optimize", action="store_true", help="run every operator as it stands in the file")


def add_constant_argument(parser: argparse.ArgumentParser) -> None:
    """Inputs that become constants of the model."""
    words = "an input of an .onnx file that is the same in every run: sr=16000, or NAME=FILE.npy; once for each"
    parser.add_argument(
        "--constant", dest="constants", type=Constant.parse, action="append", metavar="NAME=VALUE", help=words
    )


def constants_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The inputs that become constants, by name."""
    return {one.name: one.value for one in arguments.constants or ()}


def add_timing_arguments(parser: argparse.ArgumentParser) -> None:
    """Made-up weights and inputs, and the number of threads."""
    parser.add_argument("--random-weights", action="store_true", help="make weights up; no .bin is read")
    parser.add_argument(
        "--shape",
        type=parse_shape,
        action="append",
        metavar="1,3,224,224",
        help="the shape of an input, once per input (default: what the file declares)",
    )
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def parse_shape(text: str) -> tuple[int, ...]:
    """``1,3,224,224`` as a tuple.

    >>> parse_shape("1,3,224,224")
    (1, 3, 224, 224)
    """
    try:
        shape = tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        shape = (-1,)
    if any(size < 0 for size in shape):
        raise argparse.ArgumentTypeError(f"expected sizes like 1,3,224,224, got {text!r}")
    return shape


def open_graph(arguments: argparse.Namespace) -> RuntimeGraph:
    """The model that the arguments name, initialised but not built."""
    if getattr(arguments, "random_weights", False):
        if is_onnx(arguments.model):
            raise ParameterError("--random-weights", "a .param file", arguments.model)
        file_graph = pnnx.load(arguments.model, weights=False)
        fill_random_weights(file_graph)
        graph = RuntimeGraph(file_graph, name=arguments.model.name)
    else:
        graph = RuntimeGraph(*graph_source(arguments.model, arguments.bin, constants_of(arguments)))
    graph.init()
    return graph


def open_model(arguments: argparse.Namespace) -> RuntimeGraph:
    """The model that the arguments name, ready to run, with as many threads as they say."""
    if getattr(arguments, "threads", None) is not None:
        kuiper.set_num_threads(arguments.threads)
    graph = open_graph(arguments)
    optimize = not arguments.no_optimize
    graph.build(registry, optimize, engine=Engine if optimize else None)
    return graph


def make_inputs(graph: RuntimeGraph, arguments: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Seeded inputs of the shapes that the arguments or the file give."""
    shapes = arguments.shape or []
    expected = len(graph.input_operators)
    if shapes and len(shapes) != expected:
        raise ParameterError(graph.name, f"{expected} times --shape, one per input", len(shapes))
    return sample_inputs(graph, shapes)
