"""How large one tensor may become: one number for the whole process.

A model file may ask for any size: an image enlarged a million times, a matrix of 2^40 rows. While a model is built,
planned or run, nothing larger than the limit is allocated, whichever operator asks for it, and the operator's name is
in the error. Two guards see to that: NumPy's allocator (kuiper/allocator.pyx), and ``check_size`` where a shape is
worked out that needs no memory at first, such as the padded image that a convolution only imagines.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.allocator import Limited as Limited
from kuiper.allocator import set_most_bytes
from kuiper.errors import ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "KUIPER_TENSOR_LIMIT"
"""The environment variable that gives the limit at the start, in bytes."""

_UNKNOWN_MEMORY = 16 << 30  # where the system does not tell how much there is
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

_limit = 0


def get_tensor_limit() -> int:
    """The most bytes that one tensor may have.

    At first what the environment variable ``KUIPER_TENSOR_LIMIT`` says, else half of the memory that this process may
    use: of the machine's, or of its container's if that is less.
    """
    return _limit


def set_tensor_limit(bytes: int) -> None:  # noqa: A002 (the unit)
    """Let no tensor have more bytes than this from the next call on: an operator that needs one raises a ShapeError.

    >>> from kuiper.tensor_limit import get_tensor_limit
    >>> before = get_tensor_limit()
    >>> set_tensor_limit(1 << 30)
    >>> get_tensor_limit()
    1073741824
    >>> set_tensor_limit(before)

    Raises
    ------
    ParameterError
        If it is not an integer from 1 to 2^62.
    """
    global _limit
    if isinstance(bytes, bool) or not isinstance(bytes, int) or not 1 <= bytes <= 1 << 62:
        raise ParameterError("set_tensor_limit", "an integer of bytes from 1 to 2^62", repr(bytes))
    _limit = bytes
    set_most_bytes(bytes)


def check_size(shape: Sequence[int], itemsize: int = 4, where: str = "tensor") -> None:
    """Refuse a shape that would take more bytes than one tensor may have.

    >>> check_size((2**40, 2**30), where="doc")
    Traceback (most recent call last):
    kuiper.errors.ShapeError: doc: expected a tensor of at most ..., got (1099511627776, 1073741824), 4096.0 EiB; ...

    Raises
    ------
    ShapeError
        If it is too large.
    """
    needed = bytes_of(shape, itemsize)
    if needed > _limit:
        raise too_large(tuple(shape), needed, where)


def bytes_of(shape: Sequence[int], itemsize: int) -> int:
    """What an array of this shape takes, in Python's integers: NumPy's would overflow.

    >>> bytes_of((2**40, 2**30), 4) == 2**72
    True
    """
    return math.prod(int(size) for size in shape) * itemsize


def too_large(shape: object, needed: int | None, where: str) -> ShapeError:
    """The error for a tensor of this shape, which needs this many bytes (None if that is unknown)."""
    got = f"{shape}" if needed is None else f"{shape}, {amount(needed)}"
    hint = f"kuiper.set_tensor_limit(bytes) or {VARIABLE} allow more"
    return ShapeError(where, f"a tensor of at most {amount(_limit)}", got, hint=hint)


def amount(count: int) -> str:
    """Bytes in the largest unit of which there is one.

    >>> amount(1536), amount(7)
    ('1.5 KiB', '7 bytes')
    """
    power = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{count} {_UNITS[0]}" if power == 0 else f"{count / (1 << 10 * power):.1f} {_UNITS[power]}"


def _limit_at_first() -> int:
    """From the environment, else half of the memory.

    Raises
    ------
    ParameterError
        If the variable is set to something else than an integer of bytes.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _memory() // 2
    if not text.isascii() or not text.isdigit() or len(text) > 19 or not 1 <= int(text) <= 1 << 62:
        raise ParameterError(VARIABLE, "an integer of bytes from 1 to 2^62", repr(text))
    return int(text)


def _memory() -> int:
    """The bytes of memory that this process may use: the machine's, or its container's if those are fewer."""
    sizes = [_UNKNOWN_MEMORY]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return max(min(sizes), 1)


set_tensor_limit(_limit_at_first())
