"""Weights in files beside a model: only in its folder, and only if they have what the tensor needs."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kuiper.bounded_file import obstacle
from kuiper.errors import ModelFormatError
from kuiper.onnx.element_types import bytes_needed

if TYPE_CHECKING:
    import onnx

LONGEST_LOCATION = 1024
"""Characters of the name of such a file."""

EXTERNAL = 1
"""``onnx.TensorProto.EXTERNAL``."""


def read_external(tensor: onnx.TensorProto, where: str, folder: str) -> bytes:
    """The bytes of a tensor that lie in a file beside the model.

    Parameters
    ----------
    tensor : says which file, and perhaps from where to where
    where : what messages call it
    folder : of the model; "" for a model that is no file

    Raises
    ------
    ModelFormatError
        If the file is not in the folder of the model, is none, or has not what the tensor needs.
    UnsupportedOperatorError
        If the tensor is text.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = external_path(tensor, where, folder)
    needed = bytes_needed(tensor, where)
    offset, length = _number(entries, "offset", 0, where), _number(entries, "length", needed, where)
    size = path.stat().st_size
    if length != needed or offset + length > size:
        raise ModelFormatError(where, f"{needed} bytes of numbers in '{path.name}'", f"{length} at {offset} of {size}")
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read(length)
    if len(data) != length:
        raise ModelFormatError(where, f"{length} bytes of numbers in '{path.name}'", len(data))
    return data


def external_path(tensor: onnx.TensorProto, where: str, folder: str) -> Path:
    """The file beside a model in which a tensor's bytes lie.

    Raises
    ------
    ModelFormatError
        If it is no regular file in the folder of the model, or if a link could lead out of that.
    """
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    name = PurePosixPath(location.replace("\\", "/"))
    expected = "weights in a file beside the model"
    bad = not location or len(location) > LONGEST_LOCATION or ":" in location or "\0" in location
    if bad or not folder or name.is_absolute() or ".." in name.parts:
        raise ModelFormatError(where, expected, f"'{location[:200]}'")
    path = Path(folder, *name.parts)
    got = obstacle(path)
    if got:
        raise ModelFormatError(where, expected, f"'{location[:200]}': {got}")
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), *name.parts):
        raise ModelFormatError(where, expected, f"'{location[:200]}', which is a link")
    return path


def _number(entries: dict[str, str], key: str, default: int, where: str) -> int:
    """A place in a file."""
    text = entries.get(key, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ModelFormatError(where, f"an integer as {key}", f"'{text[:40]}'")
    return int(text)
