"""A call of a test, as Python that can be pasted: ``kuiper check 2.7 --call``."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.implementation import Function, Implementation
from kuiper.language import _

if TYPE_CHECKING:
    from kuiper.course.testing import Call

MAX_NUMBERS = 5000
NAMES = "xyzuvw"


def call_script(call: Call, exercise_id: str) -> list[str]:
    """Lines that load the student's file, make the arguments, and print what the same call returns.

    A test's own function, which gets the module, stands there in full.
    """
    function, args = call.function, [value for value in call.args if not isinstance(value, Implementation)]
    arrays: dict[str, np.ndarray] = {}
    words = [_argument(value, arrays) for value in args]
    words += [f"{name}={_argument(value, arrays)}" for name, value in call.kwargs.items()]
    lines = ["import numpy as np", "from kuiper.course import load_exercise", f"mine = load_exercise({exercise_id!r})"]
    if isinstance(function, Function):
        name = f"mine.{function.name}"
    else:
        name, words = function.__name__, ["mine", *words]
        lines += ["", *textwrap.dedent(inspect.getsource(function)).rstrip().splitlines(), ""]
    lines += [f"{letter} = {_array(value)}" for letter, value in arrays.items()]
    return [*lines, f"print({name}({', '.join(words)}))", *(f"print({letter})" for letter in arrays)]


def _argument(value: Any, arrays: dict[str, np.ndarray]) -> str:
    """The argument in a call; an array by a name of its own, for the function may fill it."""
    if isinstance(value, np.ndarray) and len(arrays) < len(NAMES):
        letter = NAMES[len(arrays)]
        arrays[letter] = value
        return letter
    return _literal(value)


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.type.__name__}({_literal(value.item())})"
    if isinstance(value, float) and value - value != 0:  # neither infinities nor NaN have a name in Python
        return f"float('{value}')"
    if type(value) is list:
        return f"[{', '.join(map(_literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return f"{{{', '.join(f'{_literal(key)}: {_literal(item)}' for key, item in value.items())}}}"
    return repr(value)


def _array(array: np.ndarray) -> str:
    """All numbers of an array; of a large one the shape, with numbers that are counted."""
    kind = f"np.{array.dtype.type.__name__}"
    if array.size > 1 and (array == array.flat[0]).all():
        return f"np.full({array.shape}, {_literal(array.flat[0].item())}, {kind})"
    if array.size > MAX_NUMBERS:
        note = _("# the test has other numbers")
        return f"np.arange({array.size}).reshape({array.shape}).astype({kind})  {note}"
    text = f"np.array({_literal(array.tolist())}, {kind})"
    return text if array.size else f"{text}.reshape({array.shape})"
