"""Convert a model from PyTorch or ONNX to a .param and a .bin file, and compare what they compute.

Nothing is left under the name that was asked for unless kuiper computes what the original computes.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kuiper.cli.conversion_routes import Task, by_some_route, note
from kuiper.cli.model_arguments import add_constant_argument, constants_of
from kuiper.cli.terminal import confirmed, say
from kuiper.errors import ExportError, ParameterError
from kuiper.graph import pnnx
from kuiper.graph.summary import format_shape
from kuiper.machine.processes import need_processes
from kuiper.models.conversion.caches import DecoderInputs
from kuiper.models.conversion.comparison import TOLERANCE
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs
from kuiper.models.conversion.onnx_models import OnnxModel
from kuiper.models.conversion.torch_export import keep
from kuiper.models.conversion.torch_models import FileKind, TorchModel, from_code, from_file, kind_of
from kuiper.models.conversion.torch_weights import load_weights
from kuiper.printable import printable

if TYPE_CHECKING:
    from kuiper.graph.summary import Shape
    from kuiper.models.conversion.verification import Arrays

EXTRAS = {
    "torch": ("PyTorch", "pip install torch pnnx"),
    "pnnx": ("pnnx", "pip install pnnx"),
    "onnx": ("onnx", "pip install onnx"),
    "onnxscript": ("onnxscript", "pip install onnx onnxscript"),
    "safetensors": ("safetensors", "pip install safetensors"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="package.module:Class, file.py:Class, a TorchScript model.pt, or a model.onnx"
    )
    parser.add_argument(
        "--input",
        dest="inputs",
        type=parse_input,
        action="append",
        metavar="1,3,224,224",
        help="one for each argument of forward: sizes, and if need be type and range, as in 1,10:i64:0..999",
    )
    parser.add_argument(
        "--input2",
        dest="other_inputs",
        type=parse_input,
        action="append",
        metavar="2,3,320,320",
        help="inputs of other sizes, one for each --input: the axes that differ are left open",
    )
    parser.add_argument("-o", "--output", metavar="DIR/NAME", help="where to write (default: the model's name, here)")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="a state_dict or a checkpoint for the class")
    parser.add_argument("--args", type=parse_args, metavar="JSON", help="for the class: '{\"width\": 2}' or '[10]'")
    parser.add_argument("--moduleop", default="", metavar="a.b.C", help="a module class to keep as one operator")
    parser.add_argument(
        "--optlevel", type=int, choices=(0, 1, 2), default=2, help="how much pnnx rewrites (default: 2)"
    )
    parser.add_argument("--tolerance", type=parse_tolerance, default=TOLERANCE, help="relative (default: %(default)g)")
    keeps = "a decoder that takes and returns its caches: make a graph of it that keeps them, for sessions"
    parser.add_argument("--state", action="store_true", help=keeps)
    parser.add_argument(
        "--seed", type=parse_seed, default=0, help="of the made-up inputs and weights (default: %(default)s)"
    )
    trust = "load a pickled or exported module, which runs any code that is in it, without asking"
    parser.add_argument("-y", "--yes", action="store_true", help=trust)
    by = "how a PyTorch model becomes a graph (default: pnnx, and PyTorch's ONNX exporter if that fails)"
    parser.add_argument("--by", choices=("pnnx", "onnx"), help=by)
    add_constant_argument(parser)
    parser.add_argument("--no-check", action="store_true", help="write the files without a comparison")
    parser.add_argument("--keep", action="store_true", help="write the files even if they do not agree")


def parse_input(text: str) -> InputSpec:
    """An input as ``--input`` takes it."""
    try:
        return InputSpec.parse(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(f"expected {error.expected}, got {error.got}") from error


def parse_seed(text: str) -> int:
    """An integer that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected an integer from 0 on, got {text!r}")
    return int(text)


def parse_tolerance(text: str) -> float:
    """A number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return value


def parse_args(text: str) -> dict[str, object] | list[object]:
    """The arguments of a class as JSON."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, (dict, list)):
        raise argparse.ArgumentTypeError(f"expected a JSON object or list, got {text!r}")
    return value


def execute(arguments: argparse.Namespace) -> int:
    try:
        convert(arguments)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        name, hint = EXTRAS[error.name]
        raise ExportError(arguments.model, name, f"no module {error.name}", hint) from error
    return 0


def convert(arguments: argparse.Namespace) -> None:
    """Convert, compare, and write the files if they agree."""
    need_processes("conversion", "in which the converters run")
    model = open_source(arguments)
    path = target(arguments)
    if arguments.no_check and arguments.state:
        raise ParameterError("--no-check", "no --state, which needs the comparison", "both")
    specs, others = input_specs(model, arguments)
    inputs = draw_inputs(specs, arguments.seed)
    decoder = decoder_inputs(model, inputs) if arguments.state else None
    if decoder and not others:
        shapes = decoder.shapes(inputs, decoder.length + 2, decoder.past + 3)
        others = [replace(spec, shape=shape) for spec, shape in zip(specs, shapes, strict=True)]
    other_inputs = draw_inputs(others, arguments.seed)
    examples = {labelled(specs): inputs, **further_examples(specs, inputs, arguments.seed + 1)}
    if others:
        examples[f"{labelled(others)} (--input2)" if arguments.other_inputs else labelled(others)] = other_inputs
    if decoder:
        inputs, other_inputs = decoder.consistent(inputs), decoder.consistent(other_inputs)
        examples = {label: decoder.consistent(arrays) for label, arrays in examples.items()}
    say(f"converting {printable(model.name)}" + (f" for {labelled(specs)}" if specs else ""))
    task = Task(specs, inputs, other_inputs, examples, decoder)
    with tempfile.TemporaryDirectory() as scratch:
        written = by_some_route(model, task, Path(scratch), path, arguments)
        announce(keep(written, path), model)


def decoder_inputs(model: TorchModel | OnnxModel, inputs: Arrays) -> DecoderInputs:
    """Which input is what, of a decoder that takes and returns its caches."""
    if isinstance(model, OnnxModel):
        raise ParameterError("--state", "a model in PyTorch", model.name)
    return DecoderInputs.of(inputs)


def further_examples(specs: list[InputSpec], inputs: Arrays, seed: int) -> dict[str, Arrays]:
    """Inputs of the same shapes: what depends on their values, and not on their shapes alone, shows."""
    examples = {"other numbers": draw_inputs(specs, seed)}
    signed = [spec.kind in ("", "f16", "f32", "f64") and spec.limits is None for spec in specs]
    if any(signed):  # a condition on a sum goes the other way
        pairs = zip(signed, inputs, strict=True)
        examples["opposite signs"] = tuple(np.asarray(-array) if free else array for free, array in pairs)
    return examples


def open_source(arguments: argparse.Namespace) -> TorchModel | OnnxModel:
    """The model that the command line names."""
    file = Path(arguments.model)
    in_code = ":" in arguments.model and not file.exists()
    if not in_code and (arguments.weights or arguments.args):
        raise ParameterError("--weights and --args", "a class, package.module:Class", arguments.model)
    if file.suffix == ".onnx":
        if arguments.moduleop or arguments.optlevel != 2:
            raise ParameterError("--moduleop and --optlevel", "a model in PyTorch", arguments.model)
        return OnnxModel(file, constants_of(arguments))
    if arguments.constants:
        raise ParameterError("--constant", "a model in ONNX", arguments.model)
    if not in_code:
        if file.suffix == ".py" or not (file.exists() or file.suffix):
            raise ParameterError(arguments.model, f"a class in it, {file}:Class", "none")
        return from_torch_file(file, arguments.yes)
    import torch

    torch.manual_seed(arguments.seed)
    model = from_code(arguments.model, arguments.args)
    if arguments.weights:
        load_weights(model.module, arguments.weights)
    return model


def from_torch_file(file: Path, yes: bool) -> TorchModel:
    """The model in a file, when it has been said that loading it runs code, and when that is wanted."""
    kind = kind_of(file)
    name = printable(str(file))
    if kind is FileKind.TORCHSCRIPT:
        say(f"note: {name} is {kind.value}, which torch will run: convert only what you trust")
    elif kind.runs_code:
        say(f"note: {name} is {kind.value}: loading it runs any code that is in it, as you")
        yes = yes or (sys.stdin.isatty() and confirmed("Do you trust its author?"))
    return from_file(file, kind, run_code=yes)


def target(arguments: argparse.Namespace) -> Path:
    """Folder and stem of the files to write."""
    source = arguments.model
    name = Path(source).stem if Path(source).exists() else source.rpartition(":")[2].rpartition(".")[2]
    output = arguments.output
    if output is None:
        return Path(name)
    if output.endswith("/") or Path(output).is_dir():
        return Path(output, name)
    return Path(output.removesuffix(".bin").removesuffix(".param").removesuffix(".pnnx"))


def input_specs(
    model: TorchModel | OnnxModel, arguments: argparse.Namespace
) -> tuple[list[InputSpec], list[InputSpec]]:
    """The inputs to convert for, and those of other sizes."""
    specs, others = arguments.inputs or [], arguments.other_inputs or []
    if isinstance(model, OnnxModel) and arguments.no_check:
        return [], []
    if isinstance(model, OnnxModel):
        specs = model.specs(specs, note)
        others = model.specs(others) if others else model.other_specs(specs)
    elif not specs:
        raise ParameterError("--input", "one for each argument of forward, like --input 1,3,224,224", "none")
    if others and [len(spec.shape) for spec in others] != [len(spec.shape) for spec in specs]:
        got = "; ".join(map(str, others))
        raise ParameterError("--input2", f"as many axes as in {labelled(specs)}", got)
    return specs, [other.of_kind(spec.kind) for spec, other in zip(specs, others)]  # noqa: B905


def labelled(specs: list[InputSpec]) -> str:
    """The inputs as a row of the table calls them."""
    return " ".join(map(str, specs))


def in_bytes(size: int) -> str:
    """A size for people.

    >>> in_bytes(46_746_210), in_bytes(812)
    ('46.7 MB', '0.8 kB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def announce(written: tuple[Path, Path], model: TorchModel | OnnxModel) -> None:
    """What was written, which sizes are open in it, and how to run it."""
    sizes = " and ".join(f"{path} ({in_bytes(path.stat().st_size)})" for path in written)
    say(f"\nwrote {printable(sizes)}")
    operators = pnnx.load(written[0], weights=False).operators
    declared = [(op.name, op.outputs[0].shape) for op in operators if op.type == "pnnx.Input"]
    say(f"open sizes: {printable(open_sizes(declared, isinstance(model, TorchModel)))}")
    files = " ".join(f"INPUT{i if len(declared) > 1 else ''}.npy" for i in range(len(declared)))
    say(f"run it: kuiper run {printable(shlex.quote(str(written[0])))} {files}")


def open_sizes(declared: list[tuple[str, Shape | None]], traced: bool) -> str:
    """Which sizes of the inputs a graph leaves open, and how to open others.

    >>> open_sizes([("x", (None, 3, None, None))], traced=False)
    'x (?, 3, ?, ?)'
    >>> open_sizes([("x", (1, 10))], traced=True)
    'none are declared; other sizes than x (1, 10) are sure only with --input2, inputs of other sizes'
    """
    shown = ", ".join(f"{name} {format_shape(shape)}" for name, shape in declared)
    is_open = any(shape is None or None in shape for _, shape in declared)
    if not traced:
        return shown if is_open else f"none, as the file says: {shown}"
    if is_open:
        return f"{shown}; --input2 with other sizes opens further axes"
    return f"none are declared; other sizes than {shown} are sure only with --input2, inputs of other sizes"
