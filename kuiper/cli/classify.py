"""Name what is on photos: the likeliest classes of each with their probabilities, and the time."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import kuiper
from kuiper.cli.many_pictures import add_picture_arguments, fill, pictures_of, print_records
from kuiper.cli.terminal import say
from kuiper.errors import KuiperError, ParameterError
from kuiper.models.lookup import find_model
from kuiper.models.many.record_file import RecordFile, header_of
from kuiper.models.predictor import Predictor
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse

_BAR = 30  # characters of a full bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_picture_arguments(
        parser, output="write a .jsonl file, in many processes; a run that was stopped can be continued"
    )
    parser.add_argument(
        "--model", default="cifar_resnet20", metavar="MODEL", help="a file or a name (default: %(default)s)"
    )
    parser.add_argument("--top", type=int, default=5, help="how many classes to print (default: %(default)s)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    if arguments.output is not None and arguments.output.suffix != ".jsonl":
        raise ParameterError("-o", "a file name that ends in .jsonl", arguments.output)
    if arguments.top < 1:
        raise ParameterError("--top", "a number of at least 1", arguments.top)
    pictures = pictures_of(arguments)
    predictor = Predictor(find_model(arguments.model), task="classify", top=arguments.top)
    if arguments.output is not None:
        with RecordFile(arguments.output, header_of(predictor), retry_failures=arguments.retry_errors) as file:
            return fill(file, predictor.record, pictures, arguments)
    if arguments.json:
        return print_records(predictor.record, pictures, arguments)
    return print_bars(predictor, pictures)


def print_bars(predictor: Predictor, pictures: list[str]) -> int:
    """For people; 1 if a picture failed.

    Raises
    ------
    KuiperError
        If the only picture failed.
    """
    failures = 0
    for path in pictures:
        started = perf_counter()
        try:
            best = predictor(path)
        except KuiperError as error:
            if len(pictures) == 1:
                raise
            say(f"{error}\n")
            failures += 1
            continue
        say(f"{printable(path)}  {(perf_counter() - started) * 1e3:.1f} ms, {kuiper.get_num_threads()} threads")
        for label, probability in best:
            say(f"  {printable(label):12} {probability:6.1%} {'█' * round(_BAR * probability)}")
        say()
    return 1 if failures else 0
