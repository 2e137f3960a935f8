"""What goes wrong while a graph is built or runs, as one KuiperError that names the place."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ExecutionError, KuiperError, OutOfMemoryError
from kuiper.tensor_limit import bytes_of, get_tensor_limit, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.runtime_operator import RuntimeOperator

_MISSING = re.compile(r"forward\(\) missing \d+ required positional arguments?: (.*)")
"""What Python says where a graph gives a layer too few inputs."""


def out_of_memory(where: str, error: MemoryError, hint: str = "") -> OutOfMemoryError:
    """The error that names the place where memory has run out.

    >>> str(out_of_memory("nn.Conv2d 'c'", MemoryError("cannot have 3 GiB")))
    "nn.Conv2d 'c': expected enough memory, got MemoryError: cannot have 3 GiB"
    """
    return OutOfMemoryError(where, "enough memory", f"MemoryError: {error}" if str(error) else "MemoryError", hint)


@contextmanager
def naming_the_place(where: str) -> Iterator[None]:
    """Within this block a MemoryError gets the name of the place."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise out_of_memory(where, error) from error


def operator_failure(op: RuntimeOperator, error: Exception, expected: str = "a result", hint: str = "") -> KuiperError:
    """The error to raise instead of ``error``, whatever that is; the caller gives ``error`` as its cause.

    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> str(operator_failure(RuntimeOperator("nn.Linear", "fc"), ZeroDivisionError("division by zero")))
    "nn.Linear 'fc': expected a result, got ZeroDivisionError: division by zero"
    >>> error = TypeError("forward() missing 1 required positional argument: 'x'")
    >>> str(operator_failure(RuntimeOperator("F.relu", "r"), error))
    "F.relu 'r': expected an input 'x', got 0 inputs"
    """
    if isinstance(error, KuiperError):
        if op.where not in error.where and f"'{op.name}'" not in error.where:  # raised by what knows no operator
            error = error.within(op.where)
        return error.with_hint(hint) if hint else error
    if isinstance(error, MemoryError):
        # NumPy says which array it was; a kernel's or the system's own MemoryError does not
        shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        needed = 0 if shape is None else bytes_of(shape, getattr(dtype, "itemsize", 1))
        if needed > get_tensor_limit():
            refused = too_large(f"{shape} of {dtype}", needed, op.where)
            return refused.with_hint(hint) if hint else refused
        return out_of_memory(op.where, error, hint)
    missing = _MISSING.search(str(error)) if isinstance(error, TypeError) else None
    if missing:
        return ExecutionError(op.where, f"an input {missing[1]}", f"{len(op.inputs)} inputs", hint=hint)
    return ExecutionError(op.where, expected, f"{type(error).__name__}: {error}", hint=hint)


def check_results(op: RuntimeOperator, results: Any) -> None:
    """Refuse outputs that are larger than a tensor may be.

    What takes memory was refused when it was asked for. A view takes none, as an expanded axis, but whatever reads it
    has as much to do, and a copy of it takes all.

    Raises
    ------
    ShapeError
        If one is too large.
    """
    if isinstance(results, np.ndarray):
        needed = results.size * results.itemsize  # NumPy's own ``nbytes`` overflows
        if needed > get_tensor_limit():
            raise too_large(f"{results.shape} of {results.dtype}", needed, op.where)
    elif isinstance(results, (list, tuple)):
        for result in results:
            check_results(op, result)
