"""The ways from a model to the two files, tried in turn, and the comparison that each has to stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import kuiper
from kuiper.cli.terminal import say
from kuiper.errors import ExportError, KuiperError, ParameterError
from kuiper.graph import pnnx
from kuiper.models.conversion import Comparison, verify
from kuiper.models.conversion.caches import DecoderInputs, add_state, verify_session
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs
from kuiper.models.conversion.onnx_models import OnnxModel
from kuiper.models.conversion.torch_export import keep
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from kuiper.models.conversion.torch_models import TorchModel
    from kuiper.models.conversion.verification import Arrays

ROUTES = {"pnnx": "a trace, by pnnx", "onnx": "torch.onnx.export, read as ONNX (--by onnx)"}
"""The ways from PyTorch, as the report calls them."""

SESSION = 30
"""Tokens of the text on which a session is compared with the model that keeps its caches itself."""


OF_THE_MODEL = ("a forward pass on", "the same answer to the same inputs", "a tensor returned", "weights with values")
"""How errors begin that no route would help against."""


class Task(NamedTuple):
    """What to convert for, and what to compare on."""

    specs: list[InputSpec]
    inputs: Arrays
    other_inputs: Arrays
    examples: dict[str, Arrays]
    decoder: DecoderInputs | None


class Failure(NamedTuple):
    """Why a route did not lead to a graph that agrees, and what it wrote."""

    error: KuiperError
    written: tuple[Path, Path] | None


def routes_of(model: TorchModel | OnnxModel, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The ways to try, in order: the one that was asked for, else pnnx, and PyTorch's ONNX exporter if that fails."""
    if isinstance(model, OnnxModel):
        if arguments.by:
            raise ParameterError("--by", "a model in PyTorch", model.name)
        return ("",)
    if arguments.by == "onnx" and (arguments.moduleop or arguments.state):
        raise ParameterError("--by onnx", "neither --moduleop nor --state, which go by pnnx", "one")
    if arguments.by or arguments.moduleop or arguments.state or model.is_script:
        return (arguments.by or "pnnx",)
    return ("pnnx", "onnx")


def by_some_route(
    model: TorchModel | OnnxModel, task: Task, scratch: Path, path: Path, arguments: argparse.Namespace
) -> tuple[Path, Path]:
    """The files of the first route that leads to a graph which agrees.

    Raises
    ------
    KuiperError
        If none does: what was wrong on the first.
    """
    failures: list[Failure] = []
    for route in routes_of(model, arguments):
        written = None
        if failures:
            note(str(failures[0].error))
            say("trying PyTorch's ONNX exporter instead (--by onnx)")
        try:
            written = exported(model, route, task, scratch / (route or "onnx") / path.name, arguments)
            if arguments.no_check:
                for optimize in (False, True):
                    kuiper.load(written[0], optimize=optimize)
                say(f"not compared with {printable(model.name)} (--no-check)")
            else:
                compare(model, written, task, arguments, ROUTES.get(route, ""))
            return written
        except KuiperError as error:
            if error.expected.startswith(OF_THE_MODEL):
                raise
            failures.append(Failure(error, written))
        except ModuleNotFoundError as error:
            if not failures:
                raise
            missing = ExportError("--by onnx", "onnx and onnxscript", f"no module {error.name}")
            failures.append(Failure(missing.with_hint("pip install onnx onnxscript"), None))
    raise final_error(failures, path, arguments)


def exported(
    model: TorchModel | OnnxModel, route: str, task: Task, place: Path, arguments: argparse.Namespace
) -> tuple[Path, Path]:
    """The files that a route leads to."""
    level, others = arguments.optlevel, task.other_inputs
    return model.export(task.inputs, place, arguments.moduleop, others, optlevel=level, note=note, by=route)


def compare(
    model: TorchModel | OnnxModel, written: tuple[Path, Path], task: Task, arguments: argparse.Namespace, route: str
) -> None:
    """Print how the graph compares with the model; raise if it computes something else."""
    check_moduleop(written[0], arguments.moduleop)
    comparison = replace(verify(written[0], model, task.examples, arguments.tolerance), route=route)
    say(comparison.report())
    refuse_difference(comparison, model.name)
    decoder = task.decoder
    if decoder:
        state = add_state(written, decoder, task.inputs, task.other_inputs)
        text = replace(task.specs[decoder.tokens], shape=(len(task.inputs[decoder.tokens]), SESSION))
        (tokens,) = draw_inputs([text], arguments.seed)
        comparison = verify_session(written[0], model, decoder, state, task.inputs, tokens, arguments.tolerance)
        say(comparison.report())
        refuse_difference(comparison, model.name)


def final_error(failures: list[Failure], path: Path, arguments: argparse.Namespace) -> KuiperError:
    """The error of the first route, with what the user can do; with --keep, its files are written."""
    error, written = failures[0]
    if "(--input2)" in error.expected and " runs on " in error.expected:
        error = error.with_hint("an axis was lost where two sizes were traced: leave fewer open, the batch first")
    if failures[1:]:
        error = error.with_hint(f"by ONNX: {failures[1].error}")
    if written is None:
        return error
    if not arguments.keep:
        return error.with_hint("nothing was written (--keep writes it all the same)")
    keep(written, path)
    return error.with_hint(f"written all the same: {path}.pnnx.param")


def check_moduleop(param: Path, moduleop: str) -> None:
    """Say so where pnnx has kept nothing."""
    types = {op.type for op in pnnx.load(param, weights=False).operators}
    for name in filter(None, moduleop.split(",")):
        if name not in types:
            say(f"note: the graph holds no operator {name}; --moduleop takes the full name, package.module.Class")


def refuse_difference(comparison: Comparison, name: str) -> None:
    """Raise if the graph computes something else."""
    if not comparison.agrees:
        expected = f"what {comparison.framework} computes, within {comparison.tolerance:.0e}"
        raise ExportError(name, expected, f"a difference of {comparison.worst:.1e}", comparison.reason)


def note(text: str) -> None:
    """What the user should know of the conversion."""
    say(f"note: {printable(text)}")
