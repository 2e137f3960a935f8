"""A folder of Hugging Face's form: ``config.json``, and weights in one or several files of safetensors.

    config.json                            what the network is
    model.safetensors                      its weights; or, in several files,
    model.safetensors.index.json           {"weight_map": {"name of a weight": "its file", ...}}

Weights in any other form are refused: ``pytorch_model.bin`` is a pickle, which runs its author's code when it is read.
A folder has at most MAX_FILES files and MAX_WEIGHTS weights, and a header has at most MAX_TEXT bytes. A weight is
read only when it is asked for; it has at most MAX_AXES axes, and no more bytes than ``kuiper.tensor_limit`` allows.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.bounded_file import MAX_TEXT, obstacle, parse_json, read_json
from kuiper.errors import ModelFormatError
from kuiper.models.text.extra import package
from kuiper.pages import pages
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_FILES = 1000
MAX_WEIGHTS = 100_000
MAX_AXES = 8

CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "consolidated.00.pth")
_STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""How a type of safetensors lies in a file; of bfloat16 the bits, which are the upper half of a float32."""


class Place(NamedTuple):
    """Where a weight is: its file, the type and shape there, and its first byte."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int


class Checkpoint(Mapping[str, "npt.NDArray[np.float32]"]):
    """The weights of a folder by their names, as float32; each is read anew whenever it is asked for.

    Raises
    ------
    ModelFormatError
        If the folder, or a file in it, is not what the module's text says.
    ImportError
        If the package ``safetensors`` is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        if obstacle(path) != "a directory":
            raise ModelFormatError(str(folder), f"a folder with {CONFIG} and {SINGLE}", obstacle(path) or "a file")
        self.config = read_config(path / CONFIG)
        self._places = _places_of(path)

    def __getitem__(self, name: str) -> npt.NDArray[np.float32]:
        place = self._places[name]
        where = f"{place.file}: {name}"
        if place.dtype not in _STORED:
            raise ModelFormatError(where, f"a weight of the types {', '.join(_STORED)}", place.dtype)
        if len(place.shape) > MAX_AXES or not math.prod(place.shape):
            raise ModelFormatError(where, f"at most {MAX_AXES} axes, none of them empty", f"the shape {place.shape}")
        check_size(place.shape, where=where)
        stored = np.memmap(place.file, _STORED[place.dtype], "r", place.offset, place.shape or (1,))
        if place.dtype == "BF16":
            return (stored.astype(np.uint32) << 16).view(np.float32).reshape(place.shape)
        with np.errstate(over="ignore"):  # a float64 that is too large becomes infinite
            found = pages(4 * stored.size).view(np.float32).reshape(place.shape)
            found[...] = stored.reshape(place.shape)
            return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def read_config(path: Path) -> dict[str, Any]:
    """The object in a ``config.json``.

    Raises
    ------
    ModelFormatError
        If the file is missing or is no JSON object.
    """
    content = read_json(path, ModelFormatError, "a configuration in JSON", finite=False)
    if not isinstance(content, dict):
        raise ModelFormatError(str(path), "a configuration: a JSON object", f"a {type(content).__name__}")
    return content


def _places_of(folder: Path) -> dict[str, Place]:
    if (folder / SINGLE).exists():
        return _read_header(folder / SINGLE)
    if (folder / INDEX).exists():
        return _read_index(folder / INDEX)
    pickled = next((name for name in _PICKLES if (folder / name).exists()), None)
    hint = (
        f"{pickled} is a pickle, which runs its author's code when it is read; save the model with safe_serialization"
        if pickled
        else ""
    )
    raise ModelFormatError(str(folder), f"{SINGLE} or {INDEX}", f"only {pickled}" if pickled else "neither", hint)


def _read_index(path: Path) -> dict[str, Place]:
    """The weights that an index names, each from the file that the index says."""
    content = read_json(path, ModelFormatError, "an index of safetensors in JSON")
    files = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not 0 < len(files) <= MAX_WEIGHTS:
        raise ModelFormatError(str(path), f"'weight_map' with 1 to {MAX_WEIGHTS} weights", reprlib.repr(files))
    names = list(dict.fromkeys(map(str, files.values())))
    if len(names) > MAX_FILES:
        raise ModelFormatError(str(path), f"at most {MAX_FILES} files", len(names))
    for name in names:
        if Path(name).name != name or "\\" in name or ":" in name or not name.endswith(".safetensors"):
            raise ModelFormatError(str(path), "names of .safetensors files in the same folder", reprlib.repr(name))
    headers = {name: _read_header(path.parent / name) for name in names}
    for weight, file in files.items():
        if weight not in headers[file]:
            raise ModelFormatError(str(path.parent / file), f"the weight {weight!r}, as {INDEX} says", "none")
    return {weight: headers[file][weight] for weight, file in files.items()}


def _read_header(path: Path) -> dict[str, Place]:
    """Where each weight of a file is. The package ``safetensors`` checks the header, its sizes and its offsets."""
    safetensors = package("safetensors", "checkpoint")
    got = obstacle(path)
    if got:
        raise ModelFormatError(str(path), "a file of safetensors", got)
    try:
        with path.open("rb") as file, safetensors.safe_open(path, framework="numpy"):
            length = int.from_bytes(file.read(8), "little")
            if length > MAX_TEXT:
                raise ValueError(f"a header of {length} bytes")
            header = parse_json(file.read(length))
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise ModelFormatError(str(path), "a file of safetensors", str(error) or type(error).__name__) from error
    header.pop("__metadata__", None)
    if len(header) > MAX_WEIGHTS:
        raise ModelFormatError(str(path), f"at most {MAX_WEIGHTS} weights", len(header))
    return {
        name: Place(path, entry["dtype"], tuple(entry["shape"]), 8 + length + entry["data_offsets"][0])
        for name, entry in header.items()
    }
