"""Find things on photos: a table of them, and the photos with boxes around them."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

import kuiper
from kuiper.cli.many_pictures import add_picture_arguments, fill, pictures_of, print_records
from kuiper.cli.picture_output import check_picture_name, save_picture
from kuiper.cli.terminal import say, say_json
from kuiper.errors import KuiperError, ParameterError
from kuiper.models.lookup import find_model
from kuiper.models.many.drawn_records import DrawnRecords
from kuiper.models.many.picture_files import picture_suffixes
from kuiper.models.many.record_file import RecordFile, header_of
from kuiper.models.pictures.preprocess import read_image
from kuiper.models.predictor import Predictor
from kuiper.models.tasks.drawing import draw_detections
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from PIL import Image

    from kuiper.models.tasks.detection import Detection

_RECORDS = "detections.jsonl"  # in a folder of drawings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    output = "the picture to draw; a folder for many; or a .jsonl file. A run of many that was stopped can be continued"
    add_picture_arguments(parser, output)
    parser.add_argument(
        "--model", default="digits_yolo", metavar="MODEL", help="a file or a name (default: %(default)s)"
    )
    parser.add_argument("--labels", help="coco, or a file with one name a line (default: those of the model's card)")
    parser.add_argument("--confidence", type=float, help="the score to be above (default: the card's, or 0.25)")
    parser.add_argument(
        "--iou", type=float, help="how much boxes of a class may overlap (default: the card's, or 0.45)"
    )
    parser.add_argument("--class-agnostic", action="store_true", help="let boxes of all classes suppress each other")
    parser.add_argument("--size", type=int, help="height and width of the model's input (default: the model's own)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    pictures, output = pictures_of(arguments), arguments.output
    predictor = Predictor(find_model(arguments.model), task="detect", **options_of(arguments))
    if output is None and arguments.json:
        return print_records(predictor.record, pictures, arguments)
    if output is None:
        return print_tables(predictor, pictures)
    if output.suffix == ".jsonl":
        with RecordFile(output, header_of(predictor), retry_failures=arguments.retry_errors) as file:
            return fill(file, predictor.record, pictures, arguments)
    if output.suffix.lower() in picture_suffixes() and not output.is_dir():
        return draw_one(predictor, pictures, output, arguments.json)
    return draw_all(predictor, pictures, arguments)


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The detector's options that were given; the card knows the others."""
    options = {name: getattr(arguments, name) for name in ("labels", "confidence", "iou", "size")}
    options["class_agnostic"] = arguments.class_agnostic or None
    return {name: value for name, value in options.items() if value is not None}


def print_tables(predictor: Predictor, pictures: list[str]) -> int:
    """For people; 1 if a picture failed.

    Raises
    ------
    KuiperError
        If the only picture failed.
    """
    failures = 0
    for path in pictures:
        try:
            _, _, table = look_at(predictor, path)
        except KuiperError as error:
            if len(pictures) == 1:
                raise
            say(f"{error}\n")
            failures += 1
        else:
            say(table)
    return 1 if failures else 0


def look_at(predictor: Predictor, path: str) -> tuple[Image.Image, list[Detection], str]:
    """A picture, what is on it, and a table of that for people."""
    started = perf_counter()
    photo = read_image(path)
    detections: list[Detection] = predictor(photo)
    milliseconds = (perf_counter() - started) * 1e3
    lines = [
        f"{printable(path)}  {photo.width}x{photo.height}  {milliseconds:.1f} ms, {kuiper.get_num_threads()} threads"
    ]
    if not detections:
        return photo, detections, f"{lines[0]}\n  nothing found\n"
    labels = [printable(detection.label) for detection in detections]
    width = max(len("label"), *map(len, labels))
    lines.append(f"  {'label':{width}}   score    left     top   right  bottom")
    for label, detection in zip(labels, detections, strict=True):
        edges = "".join(f"{edge:8.1f}" for edge in detection.box)
        lines.append(f"  {label:{width}}  {detection.score:6.1%}{edges}")
    return photo, detections, "\n".join(lines) + "\n"


def draw_one(predictor: Predictor, pictures: list[str], output: Path, as_json: bool) -> int:
    """Draw the only picture, and print its table, or its record.

    Raises
    ------
    ParameterError
        If there are several, if it would be overwritten, or if Pillow cannot write such a file.
    """
    path, *others = pictures
    if others:
        raise ParameterError("-o", f"a folder or a .jsonl file for {len(pictures)} pictures", output)
    if output.exists() and output.samefile(path):
        raise ParameterError("-o", "another file than the photo itself", output)
    check_picture_name("-o", output)
    photo, detections, table = look_at(predictor, path)
    save_picture(draw_detections(photo, detections), output)
    if as_json:
        say_json(predictor.describe(path, photo, detections))
    else:
        say(f"{table}wrote {printable(str(output))}")
    return 0


def draw_all(predictor: Predictor, pictures: list[str], arguments: argparse.Namespace) -> int:
    """Draw all pictures in a folder, laid out as where they come from, and write their records there too.

    Raises
    ------
    ParameterError
        If there is something else in the folder, which a drawing could overwrite.
    """
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / _RECORDS).exists():
        raise ParameterError("-o", f"an empty folder, or one with {_RECORDS} of an earlier run", folder)
    root = os.path.commonpath(
        [path.absolute() if path.is_dir() else path.absolute().parent for path in arguments.images]
    )
    header = header_of(predictor, drawn_from=root)
    with RecordFile(folder / _RECORDS, header, retry_failures=arguments.retry_errors) as file:
        return fill(file, DrawnRecords(predictor, root, str(folder.absolute())), pictures, arguments)
