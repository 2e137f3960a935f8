"""Run a model on pictures and arrays from .npy files, and print, or store, what it returns."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.cli.input_files import InputFile, in_order, load_input
from kuiper.cli.model_arguments import add_model_arguments, open_model
from kuiper.cli.picture_output import check_picture_name, save_picture
from kuiper.cli.terminal import say
from kuiper.errors import ParameterError
from kuiper.models.cards.model_card import ImageCard
from kuiper.models.nested import flat
from kuiper.models.tasks.image_to_image import picture_input, picture_output
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse

    from PIL import Image

    from kuiper.graph import RuntimeGraph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    help_inputs = "a .npy file or a picture for each input of the model, in its order, or NAME=FILE"
    parser.add_argument("inputs", type=InputFile.parse, nargs="*", metavar="INPUT", help=help_inputs)
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.npy", help="store the output; .npz holds several")
    parser.add_argument("--image-out", type=Path, metavar="OUT.png", help="store output 0 as a picture")
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.output is not None and arguments.output.suffix not in (".npy", ".npz"):
        raise ParameterError("-o", "a file name that ends in .npy or .npz", arguments.output)
    if arguments.image_out is not None:
        check_picture_name("--image-out", arguments.image_out)
    files = arguments.inputs
    values = [load_input(file.path) for file in files]
    model = open_model(arguments)
    values = in_order(model, [file.name for file in files], values)
    card = ImageCard.beside(arguments.model)
    inputs = [as_array(value, card, takes_luma(model, i)) for i, value in enumerate(values)]
    started = perf_counter()
    outputs = [np.asarray(output) for output in flat(model(*inputs))]
    seconds = perf_counter() - started
    for i, output in enumerate(outputs):
        say(describe(f"output {i}", output))
    say(f"{seconds * 1e3:.1f} ms, {kuiper.get_num_threads()} threads")
    if arguments.output is not None:
        store(outputs, arguments.output)
        say(f"wrote {printable(str(arguments.output))}")
    if arguments.image_out is not None:
        lumas = (v for i, v in enumerate(values) if not isinstance(v, np.ndarray) and takes_luma(model, i))
        save_picture(picture_output(outputs[0], card, next(lumas, None), model.name), arguments.image_out)
        say(f"wrote {printable(str(arguments.image_out))}")
    return 0


def as_array(value: np.ndarray | Image.Image, card: ImageCard, luma: bool) -> np.ndarray:
    """An input of the model: arrays as they are, pictures as the card says."""
    return value if isinstance(value, np.ndarray) else picture_input(value, card, luma)


def takes_luma(model: RuntimeGraph, index: int) -> bool:
    """Whether the file declares an input with one channel."""
    operators = model.input_operators
    shape = operators[index].outputs[0].shape if index < len(operators) else None
    return shape is not None and len(shape) == 4 and shape[1] == 1


def describe(name: str, array: np.ndarray) -> str:
    """One line: shape, type, range, mean, and where the largest value stands."""
    line = f"{name}: {array.shape} {array.dtype}"
    if array.size and array.dtype.kind in "fiu":
        line += f"  min {array.min():.6g}  max {array.max():.6g}  mean {array.mean():.6g}"
        place = np.unravel_index(int(array.argmax()), array.shape)
        line += f"  argmax {tuple(int(i) for i in place)}"
    return line


def store(outputs: list[np.ndarray], path: Path) -> None:
    """One array to .npy, several to .npz as output_0, output_1, ..."""
    if path.suffix == ".npz":
        named: dict[str, Any] = {f"output_{i}": output for i, output in enumerate(outputs)}
        np.savez(path, **named)
    elif len(outputs) == 1:
        np.save(path, outputs[0])
    else:
        raise ParameterError(str(path), "a name that ends in .npz for several outputs", f"{len(outputs)} outputs")
