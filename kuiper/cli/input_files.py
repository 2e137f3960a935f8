"""Inputs from the command line: pictures and .npy files, in the order of the model's inputs or by their names."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.bounded_file import obstacle
from kuiper.errors import DataTypeError, ParameterError
from kuiper.models.many.picture_files import picture_suffixes
from kuiper.models.pictures.preprocess import read_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL import Image

    from kuiper.graph import RuntimeGraph

    Source = np.ndarray | Image.Image


class InputFile(NamedTuple):
    """A file for an input of a model: the input of this name, or, without one, the next."""

    name: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> InputFile:
        """``FILE``, or ``NAME=FILE`` if there is no file that is called so as a whole.

        >>> InputFile.parse("x.npy").name, InputFile.parse("mask=a/m.npy").name
        ('', 'mask')
        """
        name, sign, path = text.rpartition("=")
        if not sign or not name or Path(text).exists():
            return cls("", Path(text))
        return cls(name, Path(path))


def in_order(model: RuntimeGraph, names: Sequence[str], values: Sequence[Source]) -> list[Source]:
    """The values in the order of the model's inputs.

    Parameters
    ----------
    model : its inputs have names
    names : for each value the input that it is for, or "": the next that has no value yet
    values : pictures and arrays

    Raises
    ------
    ParameterError
        If an input has no value, or two, or if there is none of a name.
    """
    known = [op.name for op in model.input_operators]
    given = list(zip(names, values, strict=True))
    by_name = {name: value for name, value in given if name}
    unknown = [name for name in by_name if name not in known]
    if unknown:
        raise ParameterError(model.name, f"an input named one of {', '.join(known)}", ", ".join(unknown))
    if len(by_name) < sum(bool(name) for name, _ in given):
        raise ParameterError(model.name, "each input once", " ".join(name for name, _ in given if name))
    rest = iter([value for name, value in given if not name])
    ordered = [by_name[name] if name in by_name else next(rest, None) for name in known]
    if by_name and any(value is None for value in ordered):
        missing = [name for name, value in zip(known, ordered, strict=True) if value is None]
        raise ParameterError(model.name, f"a file for each of {', '.join(known)}", f"none for {', '.join(missing)}")
    return [*(value for value in ordered if value is not None), *rest]  # the model says how many it takes


def load_input(path: Path) -> Source:
    """The picture, or the array of a .npy file, at this path; what it is says its ending.

    Raises
    ------
    ImageError, DataTypeError
        If the file is neither.
    """
    return read_image(path) if path.suffix.lower() in picture_suffixes() else load_array(path)


def load_array(path: Path) -> np.ndarray:
    """The array in a .npy file.

    Raises
    ------
    DataTypeError
        If the file is not one (object arrays, which could run code, are refused).
    """
    got = obstacle(path)
    if got:
        raise DataTypeError(str(path), "a .npy file", "no such file" if got == "nothing there" else got)
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            raise DataTypeError(str(path), "a .npy file with one array", "an .npz archive")
    try:
        # Not read but mapped: of an array that claims to be larger than the file, no memory is asked for.
        return np.array(np.lib.format.open_memmap(path, mode="r"))
    except Exception as error:  # what NumPy raises depends on where the damage is
        raise DataTypeError(str(path), "a .npy file", f"{path.stat().st_size} bytes of something else") from error


class Constant(NamedTuple):
    """An input that is the same in every run; ``text`` is how the command line says it."""

    name: str
    value: Any
    text: str

    @classmethod
    def parse(cls, text: str) -> Constant:
        """``NAME=NUMBER``, ``NAME=NUMBER,NUMBER`` or ``NAME=FILE.npy``.

        >>> Constant.parse("sr=16000").value, Constant.parse("scale=1,0.5").value
        (16000, [1, 0.5])
        """
        name, sign, value = text.rpartition("=")
        if sign and name and value.endswith(".npy"):
            try:
                return cls(name, load_array(Path(value)), text)
            except DataTypeError as error:
                raise argparse.ArgumentTypeError(str(error)) from error
        try:
            numbers = [_number(word) for word in value.split(",")]
        except ValueError:
            numbers = []
        if not sign or not name or not numbers:
            raise argparse.ArgumentTypeError(f"expected NAME=NUMBER, NAME=1,2,3 or NAME=FILE.npy, got {text!r}")
        return cls(name, numbers if "," in value else numbers[0], text)


def _number(word: str) -> bool | int | float:
    """A number, or true or false."""
    word = word.strip().lower()
    if word in ("true", "false"):
        return word == "true"
    try:
        return int(word)
    except ValueError:
        return float(word)
