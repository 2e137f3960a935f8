"""Weights that a copy of kuiper does without until somebody asks for them, as the wheel for browsers does.

The build (``packaging/wasm``) writes ``zoo/elsewhere.json``: the size and the SHA-256 of each such file. The files are
in the folder, or at the address, that the variable KUIPER_MODELS names; without it, in ``models/`` beside the wheel
that was installed.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError

VARIABLE = "KUIPER_MODELS"
LIST = "elsewhere.json"


def bring_weights(param: Path) -> None:
    """Fetch what the list names for a model and the folder lacks; nothing where all is there.

    Parameters
    ----------
    param : the model's .param file, which every copy has

    Raises
    ------
    ModelFormatError
        If a file cannot be had, or is another one than the list says.
    """
    listed = param.with_name(LIST)
    if not listed.exists():
        return
    stem = param.name.removesuffix(".pnnx.param")
    for name, facts in read_json(listed, ModelFormatError, "the list of weights").items():
        target = param.with_name(name)
        if name.split(".")[0] == stem and not target.exists():
            _bring(target, facts)


def _bring(target: Path, facts: dict[str, Any]) -> None:
    expected = f"the weights {target.name} ({facts['size'] / 1e6:.1f} MB)"
    hint = f"this copy of kuiper comes without them: {VARIABLE} says in which folder, or at which address, they are"
    place = os.environ.get(VARIABLE) or _beside_the_wheel()
    if not place:
        raise ModelFormatError("bundled", expected, "no place to look for them", hint)
    try:
        data = _read(place, target.name)
    except OSError as error:
        raise ModelFormatError("bundled", f"{expected} at {place}", error.strerror or str(error), hint) from error
    if hashlib.sha256(data).hexdigest() != facts["sha256"]:
        raise ModelFormatError("bundled", f"{expected} at {place}", "another file of this name", hint)
    part = target.with_name(f"{target.name}.part")
    part.write_bytes(data)
    part.replace(target)


def _beside_the_wheel() -> str:
    """``models/`` beside the wheel, whose address micropip notes, or else Pyodide's lock file; "" without one."""
    try:
        installed = distribution("kuiper")
    except PackageNotFoundError:
        return ""
    address = installed.read_text("PYODIDE_URL")
    if not address and installed.read_text("PYODIDE_SOURCE") == "pyodide":
        pyodide = importlib.import_module("pyodide_js")
        address = urljoin(f"{pyodide.lockfileBaseUrl.rstrip('/')}/", pyodide.lockfile.packages.kuiper.file_name)
    return f"{address.rpartition('/')[0]}/models" if address else ""


def _read(place: str, name: str) -> bytes:
    return _from_address(f"{place.rstrip('/')}/{name}") if "://" in place else Path(place, name).read_bytes()


def _from_address(address: str) -> bytes:
    """A file that the page's server has. It is waited for: callers of ``bundled`` expect a path, not a promise."""
    request = getattr(importlib.import_module("js"), "XMLHttpRequest", None) if sys.platform == "emscripten" else None
    if request is None:
        raise OSError("no browser that fetches it")
    request = request.new()
    request.open("GET", address, False)
    request.overrideMimeType("text/plain; charset=x-user-defined")  # a character for a byte: a page waits for text only
    try:
        request.send()
    except Exception as error:  # JavaScript's, of a class that only Pyodide has
        raise OSError("no answer") from error
    if request.status != 200:
        raise OSError(f"status {request.status}")
    text: str = request.responseText
    return text.encode("utf-16-le")[::2]
