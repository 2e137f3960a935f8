"""The packages of the extra ``text``, which are imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, what: str) -> Any:
    """The module of a package; ``what`` needs it.

    >>> package("json", "the example").loads("[1]")
    [1]

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        root = name.partition(".")[0]
        raise ImportError(f"{what}: expected the package {root}, got none; pip install {root}") from error
