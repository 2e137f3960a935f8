"""One call of a student's function, and all that a test may want to know of it."""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import re
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.compile_errors import shown
from kuiper.course.errors import BuildError, CourseError, ExerciseSyntaxError
from kuiper.course.local_arrays import OUTSIDE, ArrayIndexError
from kuiper.course.phrases import recognised, said
from kuiper.course.wire import class_name, plain, type_name, words_of
from kuiper.language import _, noop

MAX_PRINTED = 20_000
NO_ANSWER_WITHIN = noop("no answer within {seconds} seconds")
DIED_OF_MEMORY = noop("the process that ran your code died (segmentation fault: memory was touched that is not yours)")
DIED = noop("the process that ran your code died ({signal})")
ENDED_IN_CALL = noop("the process that ran your code ended in the middle of the call (exit code {code})")
UNREAD = noop("the answer could not be read ({error})")
OWN_MESSAGES = (
    NO_ANSWER_WITHIN,
    DIED_OF_MEMORY,
    DIED,
    ENDED_IN_CALL,
    UNREAD,
    *OUTSIDE,
    noop("there is no function {name} in your file"),
)
"""What kuiper's own errors say in English, wherever they are raised: known mistakes are compared by it."""
OF_REFERENCE = re.compile(r"(?:^|[/\\])solutions[/\\]")
UNCHANGING = (bool, int, float, complex, str, bytes, type(None), np.generic)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Beginning(io.StringIO):
    """A file that keeps what is written first, and lets the rest go."""

    def write(self, text: str) -> int:
        room = MAX_PRINTED - self.tell()
        if room > 0:
            more = _("... (more was printed)")
            super().write(text if len(text) <= room else f"{text[:room]} {more}\n")
        return len(text)


@dataclass(frozen=True)
class Raised:
    """An exception: its class and that class's bases by name, what it says, and the student's line that raised it."""

    type: str
    bases: tuple[str, ...]
    message: str
    place: str = ""
    trace: str = ""

    def __str__(self) -> str:
        return _("{error}   at {place}").format(error=self.words, place=self.place) if self.place else self.words

    @property
    def words(self) -> str:
        """Its type and message; what kuiper itself says is in the student's language."""
        return f"{self.type}: {said(recognised(self.message, OWN_MESSAGES))}"

    @property
    def is_on_purpose(self) -> bool:
        """Whether the student's line that raised it is a ``raise`` or an ``assert``: the words are the student's own.

        Where a reference stands for an exercise that this one needs, its line is not the student's.
        """
        return (
            re.search(r":\d+: (?:raise|assert)\b", self.place) is not None and OF_REFERENCE.search(self.place) is None
        )

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """What a test may know of an exception."""
        kinds = tuple(class_name(kind) for kind in type(error).__mro__)
        try:
            trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        except Exception:  # a student's own exception, which cannot be looked at
            trace = ""
        return cls(type_name(error), kinds, words_of(error), _place(error), trace)


@dataclass
class Observation:
    """What a call returned or raised, the arguments it changed (by position or name), and what it printed."""

    value: Any = None
    raised: Raised | None = None
    changed: dict[int | str, Any] = field(default_factory=dict)
    printed: str = ""


def observe(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
    """Call a function on copies of the arguments."""
    seen, given = _call(function, args, kwargs)
    seen.changed = changes(args, kwargs, given)
    return _made_plain(seen)


def observe_all(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
    """The same, but ``changed`` has all arguments as they are then: beside a student's code nothing is compared."""
    seen, given = _call(function, args, kwargs)
    seen.changed = {key: value for key, value in given.items() if not isinstance(value, UNCHANGING)}
    return _made_plain(seen)


def _call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Observation, dict[int | str, Any]]:
    """What was seen, and the copies of the arguments that were given."""
    given: dict[int | str, Any] = {key: copied(value) for key, value in _named(args, kwargs).items()}
    positional = [given[i] for i in range(len(args))]
    seen = Observation()
    with _unraisable() as swallowed, _printed() as text:
        try:
            seen.value = function(*positional, **{key: given[key] for key in kwargs})
        except (Exception, SystemExit) as error:
            seen.raised = Raised.of(error)
    if swallowed and seen.raised is None:
        seen.raised = Raised.of(swallowed[0])
    seen.printed = text.getvalue()
    return seen, given


def _made_plain(seen: Observation) -> Observation:
    try:
        seen.value, seen.changed = plain((seen.value, seen.changed))
    except CourseError as error:
        seen.value, seen.changed, seen.raised = None, {}, seen.raised or Raised.of(error)
    return seen


def _named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int | str, Any]:
    return dict([*enumerate(args), *kwargs.items()])


def changes(args: tuple[Any, ...], kwargs: dict[str, Any], afterwards: dict[int | str, Any]) -> dict[int | str, Any]:
    """The arguments that are not what they were."""
    pairs = ((key, value) for key, value in _named(args, kwargs).items() if key in afterwards)
    return {key: afterwards[key] for key, value in pairs if not _same(value, afterwards[key])}


def copied(value: Any) -> Any:
    """A copy that shares no memory; arrays keep their order, and gaps if they have some."""
    try:
        return plain(value)
    except CourseError:
        return copy.copy(value) if isinstance(value, (list, dict, set)) else value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return not isinstance(a, (str, bytes, int, float, set)) or a == b or a != a


@contextlib.contextmanager
def _unraisable() -> Iterator[list[BaseException]]:
    """Errors in ``noexcept`` functions, which Cython can only print: here they count."""
    found: list[BaseException] = []
    before = sys.unraisablehook

    def keep(unraisable: Any) -> None:
        found.append(unraisable.exc_value or RuntimeError(str(unraisable.err_msg)))

    sys.unraisablehook = keep
    try:
        yield found
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def _printed() -> Iterator[io.StringIO]:
    text = Beginning()
    with contextlib.redirect_stdout(text):
        yield text


def _place(error: BaseException) -> str:
    """The innermost line that belongs to an exercise."""
    if isinstance(error, (ExerciseSyntaxError, BuildError)):
        return ""
    if isinstance(error, ArrayIndexError):
        return error.place
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.suffix == ".pyx" or {"exercises", "solutions", "skeletons", "bug-bank"} & set(path.parts):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
            place = f"{shown(path)}:{frame.lineno}"
            return f"{place}: {line}" if line else place
    return ""
