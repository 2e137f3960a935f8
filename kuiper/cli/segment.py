"""Colour the regions of photos, and print how large they are."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import kuiper
from kuiper.cli.picture_output import check_picture_name, save_picture
from kuiper.cli.terminal import say, say_json
from kuiper.errors import ImageError, ParameterError
from kuiper.models.lookup import find_model
from kuiper.models.many.picture_files import find_pictures, picture_suffixes
from kuiper.models.pictures.preprocess import read_image
from kuiper.models.predictor import failure
from kuiper.models.tasks.drawing import draw_regions
from kuiper.models.tasks.segmentation import Segmenter
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse

    from kuiper.models.predictor import Record
    from kuiper.models.tasks.segmentation import Segmentation

_BAR = 30  # characters of a full bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", type=Path, nargs="+", metavar="IMAGE", help="photos, or folders of photos")
    model = "or the name of a model (default: %(default)s, which knows drawn shapes)"
    parser.add_argument("--model", default="shapes_unet", metavar="MODEL", help=model)
    output = "the photo under the colours of its regions, with a legend; or a folder"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.png", help=output)
    labels = "a file with one name a line, or coco (default: those of the model's card, or numbers)"
    parser.add_argument("--labels", help=labels)
    parser.add_argument("--alpha", type=float, default=0.5, help="how opaque the colours are (default: %(default)s)")
    multiple = "if the model takes any size: its sides must be multiples of this (default: %(default)s)"
    parser.add_argument("--multiple", type=int, default=32, help=multiple)
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each photo instead")
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    if not 0 <= arguments.alpha <= 1:
        raise ParameterError("--alpha", "a number from 0 to 1", arguments.alpha)
    pictures = find_pictures(arguments.images, leave_out=arguments.output)
    if not pictures:
        raise ImageError(", ".join(map(str, arguments.images)), "a folder with pictures", "none in it")
    drawings = places(pictures, arguments.output)
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    segmenter = Segmenter(find_model(arguments.model), labels=arguments.labels, multiple=arguments.multiple)
    failed = False
    for path, drawing in zip(pictures, drawings, strict=True):
        started = perf_counter()
        try:
            photo = read_image(path)
        except ImageError as error:
            if len(pictures) == 1:
                raise
            if arguments.json:
                say_json(failure(path, error))
            else:
                say(f"{error}\n")
            failed = True
            continue
        segmentation = segmenter(photo)
        seconds = perf_counter() - started
        if arguments.json:
            say_json(record(path, segmentation))
        else:
            say(table(path, segmentation, seconds))
        if drawing is not None:
            drawing.parent.mkdir(parents=True, exist_ok=True)
            save_picture(draw_regions(photo, segmentation, arguments.alpha), drawing)
            if not arguments.json:
                say(f"wrote {printable(str(drawing))}\n")
    return int(failed)


def places(pictures: list[str], output: Path | None) -> list[Path | None]:
    """Where each picture is drawn: in the file ``output``, or in that folder, as the pictures lie in their own.

    Raises
    ------
    ParameterError
        If a file cannot be that, or is to hold several pictures.
    """
    if output is None:
        return [None] * len(pictures)
    if len(pictures) == 1 and output.suffix and not output.is_dir():
        check_picture_name("-o", output)
        return [output]
    if output.suffix.lower() in picture_suffixes():
        raise ParameterError("-o", f"a folder for {len(pictures)} pictures", output)
    root = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in pictures])
    drawings = [output / os.path.relpath(path, root) for path in pictures]
    return [path if path.suffix == ".png" else path.with_name(f"{path.name}.png") for path in drawings]


def record(path: str, segmentation: Segmentation) -> Record:
    """The regions of a photo, ready for JSON."""
    height, width = segmentation.map.shape
    regions = [region._asdict() for region in segmentation.regions()]
    return {"image": path, "width": width, "height": height, "regions": regions}


def table(path: str, segmentation: Segmentation, seconds: float) -> str:
    """The regions of a photo as lines with bars."""
    regions = segmentation.regions()
    wide = max(len(printable(region.label)) for region in regions)
    lines = [f"{printable(path)}  {seconds * 1e3:.1f} ms, {kuiper.get_num_threads()} threads"]
    for label, _, share in regions:
        lines.append(f"  {printable(label):{wide}} {share:6.1%} {'█' * round(_BAR * share)}".rstrip())
    return "\n".join([*lines, ""])
