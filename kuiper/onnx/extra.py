"""The onnx package, which reads .onnx files, or one line that says how to install it."""

from __future__ import annotations

from typing import Any

from kuiper.errors import ModelFormatError


def import_onnx(where: str) -> Any:
    """The package; ``where`` is the file that needs it.

    Raises
    ------
    ModelFormatError
        If it is not installed.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        hint = "pip install onnx"
        raise ModelFormatError(where, "the onnx package, which reads .onnx files", "none", hint) from None
    return onnx
