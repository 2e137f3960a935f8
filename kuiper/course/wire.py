"""Plain values as one line of JSON: what may cross between a test and the process that runs a student's code.

Numbers, strings, bytes, None, lists, tuples, sets, dicts, arrays; whatever turns into an array (``kuiper.Tensor``)
arrives as one, a NamedTuple as a tuple, a dataclass as a dict, an Enum as its name. Nothing that is read can run code,
so the grader may read what a hostile submission writes.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
import re
from typing import Any

import numpy as np

from kuiper.course.errors import CourseError

KINDS = "biufc"
DTYPE = re.compile(f"[<>|]?[{KINDS}][0-9]{{1,2}}")
DEEPEST = 60
MAX_PARTS = 200_000  # of an answer: each costs far more memory than the characters that it is written with
MAX_AXES = 32
LONGEST_EMPTY = 10_000  # along an axis of an array without numbers
MAX_GAPS = 16  # how many times as much memory as the numbers themselves need


def dumps(value: object) -> str:
    """One line of text.

    >>> dumps({"size": (2, 3)})
    '{"dict": [["size", {"tuple": [2, 3]}]]}'

    Raises
    ------
    CourseError
        If the value is not plain.
    """
    try:
        return json.dumps(_encode(value, 0, [10 * MAX_PARTS]))
    except CourseError:
        raise
    except Exception as error:  # what a student's object does when it is looked at
        raise CourseError("value", "a plain value", f"{type_name(value)}: {words_of(error)[:200]}") from None


def type_name(value: object) -> str:
    """The name of its type, also where that is a student's own and answers otherwise when it is asked."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    """The name that a class was made with."""
    name: str = type.__dict__["__name__"].__get__(kind)
    return name


def words_of(error: BaseException) -> str:
    """What an exception says, even if it is a student's own that cannot say anything."""
    try:
        return str(error)
    except Exception:
        return f"(its __str__ raises, too: {type_name(error)})"


def loads(line: str) -> Any:
    """The value of a line.

    Raises
    ------
    CourseError
        If the line is not one that ``dumps`` writes.
    """
    try:
        return _decode(json.loads(line))
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        raise CourseError("answer", "a plain value", f"{type(error).__name__}: {str(error)[:200]}") from None


def loads_untrusted(line: str) -> Any:
    """The value of a line that hostile code may have written, which must not cost more memory than its length tells.

    Raises
    ------
    CourseError
        If the line has too many parts, or is not one that ``dumps`` writes.
    """
    parts = sum(map(line.count, ",[{"))
    if parts > MAX_PARTS:
        raise CourseError("answer", f"at most {MAX_PARTS} values", f"about {parts}")
    return loads(line)


def plain(value: object) -> Any:
    """The value as it would arrive."""
    return loads(dumps(value))


def _encode(value: Any, depth: int, left: list[int]) -> Any:
    """``left`` has how many more parts a value may have: a list may hold the same one twice, and that one too ..."""
    if depth > DEEPEST:
        raise CourseError("value", f"at most {DEEPEST} levels of nesting", "more")
    left[0] -= 1
    if left[0] < 0:
        raise CourseError("value", f"at most {10 * MAX_PARTS} parts", "more")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {"scalar": _array(np.asarray(value))}
    if isinstance(value, np.ndarray):
        return {"array": _array(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [_encode(item, depth + 1, left) for item in value]
    if isinstance(value, (tuple, set, frozenset)):
        tag = "tuple" if isinstance(value, tuple) else "set"
        return {tag: [_encode(item, depth + 1, left) for item in value]}
    if isinstance(value, dict):
        return {
            "dict": [[_encode(key, depth + 1, left), _encode(item, depth + 1, left)] for key, item in value.items()]
        }
    if isinstance(value, (bool, int, float, str)):  # a subclass: only its value crosses
        return next(kind(value) for kind in (int, float, str) if isinstance(value, kind))
    if hasattr(value, "__array__"):
        return {"array": _array(np.asarray(value))}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode({item.name: getattr(value, item.name) for item in dataclasses.fields(value)}, depth, left)
    raise CourseError("value", "a plain value (numbers, strings, arrays, lists, dicts ...)", type_name(value))


def _array(array: np.ndarray) -> list[Any]:
    if array.dtype.kind not in KINDS:
        raise CourseError("value", "an array of numbers", f"dtype {array.dtype}")
    order = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "gaps"
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, list(array.shape), order, data]


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag in ("array", "scalar"):
        array = _decode_array(*content)
        return array if tag == "array" else array[()]
    if tag == "bytes":
        return base64.b64decode(content)
    if tag == "dict":
        return {_decode(key): _decode(item) for key, item in content}
    return {"tuple": tuple, "set": set}[tag](_decode(item) for item in content)


def _decode_array(dtype: str, shape: list[int], order: str, data: str) -> np.ndarray:
    if not DTYPE.fullmatch(dtype):
        raise ValueError(f"dtype {dtype[:20]!r}")
    kind, raw = np.dtype(dtype), base64.b64decode(data)
    if not all(type(length) is int and length >= 0 for length in shape) or len(shape) > MAX_AXES:
        raise ValueError("a shape that no array has")
    if math.prod(shape) * kind.itemsize != len(raw) or (not raw and max(shape) > LONGEST_EMPTY):
        raise ValueError(f"{len(raw)} bytes for shape {shape}")
    array: np.ndarray = np.frombuffer(raw, kind).reshape(shape)
    if order == "gaps" and shape:  # not these gaps, but gaps: anyone who assumes contiguous memory is found out
        few = 2 ** len(shape) <= MAX_GAPS
        steps = [2 if few or axis == len(shape) - 1 else 1 for axis in range(len(shape))]
        wide = np.zeros([step * length for step, length in zip(steps, shape, strict=True)], kind)
        view = wide[tuple(slice(None, None, step) for step in steps)]
        view[...] = array
        return view
    in_order: np.ndarray = array.copy(order="F" if order == "F" else "C")
    return in_order
