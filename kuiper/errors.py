"""Every error that kuiper raises on purpose, its one warning, and the one form of their messages.

    <where>: expected <what>, got <value>[; hint]

``except kuiper.KuiperError`` catches all of them; each is also the built-in that Python users would expect
(``ValueError``, ``IndexError``, ...), so code that knows nothing of kuiper handles them too.
"""

from __future__ import annotations

from typing import TypeVar

from kuiper.printable import printable

Self = TypeVar("Self", bound="KuiperError")


class KuiperError(Exception):
    """The base of all errors: a place, an expectation, what came instead, and perhaps a hint.

    >>> str(KuiperError("resnet.param:17", "2 inputs", 3, hint="count the operands"))
    'resnet.param:17: expected 2 inputs, got 3; count the operands'

    As text it is safe for a terminal, whatever file names and files it quotes, and of a bounded length.
    """

    def __init__(self, where: str, expected: str, got: object, hint: str = "") -> None:
        self.where, self.expected, self.got, self.hint = where, expected, got, hint
        super().__init__(where, expected, got, hint)

    def __str__(self) -> str:
        where, expected = printable(shortened(self.where)), printable(shortened(self.expected))
        got, hint = (printable(shortened(part), keep="\n") for part in (str(self.got), self.hint))
        message = f"{where}: expected {expected}, got {got}"
        return f"{message}; {hint}" if hint else message

    def with_hint(self: Self, hint: str) -> Self:
        """The same error with one more hint behind those it has."""
        return self._changed(self.where, f"{self.hint}; {hint}" if self.hint else hint)

    def within(self: Self, where: str) -> Self:
        """The same error with a larger place, such as the operator, in front of its own.

        >>> str(ShapeError("matmul", "2 axes", 1).within("nn.Linear 'fc'"))
        "nn.Linear 'fc': matmul: expected 2 axes, got 1"
        """
        return self._changed(f"{where}: {self.where}", self.hint)

    def _changed(self: Self, where: str, hint: str) -> Self:
        error = type(self).__new__(type(self))  # a class of the user's may be made from other arguments
        vars(error).update(vars(self))
        KuiperError.__init__(error, where, self.expected, self.got, hint)
        return error


_LONGEST = 4000
"""Characters of each part of a message."""


def shortened(text: str) -> str:
    """The text without its middle if it is too long to be read."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


class ModelFormatError(KuiperError, ValueError):
    """A .param or .bin file does not follow the PNNX format; ``where`` is file and line."""


class UnsupportedOperatorError(KuiperError, NotImplementedError):
    """The graph needs an operator, or a mode of one, that kuiper does not have."""


class ParameterError(KuiperError, ValueError):
    """A parameter or a weight of an operator is missing, of the wrong type or out of range."""


class ConstraintError(ParameterError):
    """What an answer must hold to is no constraint, or a text that holds to it cannot be written."""


class ShapeError(KuiperError, ValueError):
    """A tensor's shape does not fit where it is used."""


class TensorIndexError(KuiperError, IndexError):
    """An index lies outside a tensor."""


class DataTypeError(KuiperError, TypeError):
    """A value is not of a type that can be used here."""


class CsvFormatError(KuiperError, ValueError):
    """A cell of a CSV file is not a number; ``where`` is file, line and column."""


class ExpressionError(KuiperError, ValueError):
    """An expression cannot be read; the hint shows the place with a caret."""


class GraphStateError(KuiperError, RuntimeError):
    """A RuntimeGraph was asked for something that its state does not allow yet."""


class ExecutionError(KuiperError, RuntimeError):
    """An operator failed while it ran; ``__cause__`` is the original error."""


class OutOfMemoryError(ExecutionError, MemoryError):
    """There is not enough memory to load a model or to run it; the model itself is as it was, and can be run again."""


class ImageError(KuiperError, ValueError):
    """A file is not an image that can be read."""


class ExportError(KuiperError, RuntimeError):
    """A model cannot be brought into PNNX's form: the converter wrote no graph, or another one."""


class DownloadError(KuiperError, OSError):
    """A file cannot be had from the network, or is not the one that was asked for."""


class FallbackWarning(RuntimeWarning):
    """A model runs on a slower way than it should, because of a mistake of kuiper's.

    With ``KUIPER_STRICT=1`` in the environment the mistake is an error instead.
    """
