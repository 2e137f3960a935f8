"""Write a page that shows a model at work: graph, feature maps, time, memory, in one HTML file."""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.bounded_file import read_json
from kuiper.cli.apart import note_in, result_apart
from kuiper.cli.input_files import load_input
from kuiper.cli.model_arguments import add_constant_argument, constants_of, parse_shape
from kuiper.cli.terminal import say
from kuiper.course.errors import CourseError
from kuiper.course.explored_layers import look_into
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import root_here
from kuiper.course.selection import Selection
from kuiper.errors import ParameterError
from kuiper.explore.explore import explore
from kuiper.graph.made_up import sample_inputs
from kuiper.language import _
from kuiper.models.bundle import bundled_photo
from kuiper.models.cards.model_card import model_name
from kuiper.models.lookup import find_model
from kuiper.models.many.picture_files import picture_suffixes
from kuiper.models.subject import Subject
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.explore.arrays import Table
    from kuiper.graph import RuntimeGraph

DEFAULT_MODEL = "cifar_resnet20"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = f"a .param or an .onnx file, or the name of a model (default: {DEFAULT_MODEL} on the photo of a cat)"
    parser.add_argument("model", nargs="?", metavar="MODEL", help=words)
    words = "one photo or .npy file for each input of the model (default: made-up numbers)"
    parser.add_argument("inputs", nargs="*", type=Path, metavar="INPUT", help=words)
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE.html", help="default: MODEL.html in this folder")
    parser.add_argument("--text", default="", help="what a language model reads (default: the sample of its card)")
    parser.add_argument(
        "--shape",
        type=parse_shape,
        action="append",
        metavar="1,3,224,224",
        help="the shape of a made-up input, once per input (default: what the file declares)",
    )
    add_constant_argument(parser)
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")
    words = "run your own layers of the course too, and show where they differ from the reference"
    parser.add_argument("--mine", action="store_true", help=words)
    words = "give your layers up after this long (default: %(default)s)"
    parser.add_argument("--seconds", type=float, default=300.0, help=words)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)  # set for the process that runs your code


def execute(arguments: argparse.Namespace) -> int:
    if arguments.result is not None:
        return run_here(Path(arguments.model), constants_of(arguments), arguments.result)
    if arguments.output is not None and arguments.output.suffix not in (".html", ".htm"):
        raise ParameterError("-o", "a file name that ends in .html", arguments.output)
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    model, paths = words_of(arguments)
    sources = [load_input(path) for path in paths]
    subject = Subject.of(find_model(model), sources, arguments.text, constants_of(arguments))
    inputs = subject.inputs or made_up(subject, arguments)
    mine = run_apart(find_model(model), inputs, arguments) if arguments.mine else None
    page = explore(
        subject.model,
        *inputs,
        picture=subject.picture(),
        answers=subject.answers,
        mine=mine,
        version=kuiper.__version__,
    )
    name = model_name(find_model(model))
    output = arguments.output or Path(f"{name}.html")
    page.save(output)
    if mine is not None:
        tell(mine)
    for missing in page.data["left_out"]:
        say(_("left out: {what}").format(what=printable(missing)))
    size = output.stat().st_size * 1e-6
    say(_("wrote {path}: {size:.1f} MB; any browser opens it").format(path=printable(str(output)), size=size))
    return 0


def words_of(arguments: argparse.Namespace) -> tuple[str, list[Path]]:
    """The model and its inputs: anyone who gives neither gets the cat, and a photo without a model the classifier."""
    if arguments.model is None:
        return DEFAULT_MODEL, [bundled_photo()]
    suffix = Path(arguments.model).suffix.lower()
    if suffix == ".npy" or suffix in picture_suffixes():
        return DEFAULT_MODEL, [Path(arguments.model), *arguments.inputs]
    return arguments.model, arguments.inputs


def made_up(subject: Subject, arguments: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Seeded inputs of the shapes that the arguments or the file give."""
    shapes, expected = arguments.shape or [], len(subject.model.input_operators)
    if shapes and len(shapes) != expected:
        raise ParameterError(subject.model.name, f"{expected} times --shape, one per input", len(shapes))
    return sample_inputs(subject.model, shapes)


def run_here(model: Path, constants: dict[str, Any], result: Path) -> int:
    """Run the student's layers in this process, on the inputs that lie beside the result, and write what was seen."""
    with np.load(result.with_suffix(".npz")) as stored:
        inputs = tuple(stored[f"input_{i}"] for i in range(len(stored.files)))
    selection = Selection(read_syllabus(root_here()))
    note = note_in(result.with_suffix(".place"))
    load = partial(_load, model, constants)
    table = look_into(selection, load, inputs, note)
    result.write_text(json.dumps(table), encoding="utf-8")
    return 0


def _load(model: Path, constants: dict[str, Any], optimize: bool) -> RuntimeGraph:
    """The model with the engine, or without."""
    return kuiper.load(model, optimize=optimize, constants=constants)


def run_apart(model: Path, inputs: Sequence[Any], options: argparse.Namespace) -> Table:
    """Run the student's layers in a process of their own: a layer may crash, or never return.

    Raises
    ------
    CourseError
        If it does; the message names the operator and its exercise.
    """
    root_here()  # no courses are no fault of the process's
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        arrays: dict[str, Any] = {f"input_{i}": np.asarray(x) for i, x in enumerate(inputs)}
        np.savez(path.with_suffix(".npz"), **arrays)
        words = [word for one in options.constants or () for word in ("--constant", one.text)]
        result_apart("explore", [str(model.absolute()), "--mine", *words], path, options.seconds)
        table = read_json(path, CourseError, "a result in JSON")
        if not isinstance(table, dict) or not isinstance(table.get("operators"), dict):
            raise CourseError("explore", "the result of a run", "another")
        return table


def tell(mine: Table) -> None:
    """Whose layers ran, and where they first went wrong."""
    names = printable(", ".join(map(str, mine.get("exercises", []))))
    nothing = _("nothing of yours is in it yet: kuiper progress shows where to begin")
    say(_("yours: {names}").format(names=names) if names else nothing)
    for failure in mine.get("failures", []):
        say(_("failed, replaced by the reference: {failure}").format(failure=printable(str(failure))))
    first = mine.get("first")
    if first is not None:
        others = printable(str(mine.get("others", "")))
        say(_("first divergence: {name}. {others}").format(name=printable(str(first)), others=others).rstrip())
    elif names and mine.get("failures"):
        say(_("all other outputs agree with the reference"))
    elif names:
        say(_("all outputs agree with the reference"))
