"""The classroom's errors, in the form of all of kuiper's: ``<where>: expected <what>, got <value>[; hint]``."""

from __future__ import annotations

from kuiper.course.phrases import Phrase, phrase, recognised, said
from kuiper.errors import KuiperError, shortened
from kuiper.language import noop
from kuiper.printable import printable

_FORM = noop("{where}: expected {expected}, got {got}")
_WITH_HINT = noop("{where}: expected {expected}, got {got}; {hint}")
LACKING = (
    *(noop("exercise"), noop("none"), noop("a C compiler"), noop("the C compiler {name}")),
    *(noop("none of this name on the PATH"), noop("the variable CC asks for it")),
    *(noop("this brings one: {command}"), noop("the page loads one")),
)
"""Parts of what a BuildError says; see kuiper/compiler.py, which has no language."""


class CourseError(KuiperError, ValueError):
    """A manifest, a marker, a bug patch or an exercise number is wrong."""


class CommandError(CourseError):
    """One of a command that students use every day: it is said in their language, as far as its parts are phrases.

    >>> from kuiper.course.phrases import phrase
    >>> str(CommandError("3.5 conv2d", phrase("a .pyx exercise"), "conv2d.py"))
    '3.5 conv2d: expected a .pyx exercise, got conv2d.py'
    """

    def __str__(self) -> str:
        parts = {"where": self.where, "expected": self.expected, "got": self.got, "hint": self.hint}
        fields = {name: part if isinstance(part, Phrase) else shortened(str(part)) for name, part in parts.items()}
        return printable(said(phrase(_WITH_HINT if self.hint else _FORM, **fields)), keep="\n")


class ToldError(CourseError):
    """One that another process of kuiper's has ended with; ``got`` is its text.

    >>> str(ToldError("race", "a result", "x.param: expected a file, got nothing there"))
    'x.param: expected a file, got nothing there'
    """

    def __str__(self) -> str:
        return printable(shortened(str(self.got)), keep="\n")


class BuildError(KuiperError, ImportError):
    """A .pyx cannot be built because this machine lacks something."""

    def __str__(self) -> str:
        return build_words(super().__str__())


def build_words(text: str) -> str:
    """What a BuildError says, here or in English out of another process, in the reader's language.

    >>> build_words("exercise: expected Cython, got none; pip install cython")
    'exercise: expected Cython, got none; pip install cython'
    """
    found = recognised(text, [_WITH_HINT, _FORM])
    if not isinstance(found, Phrase):
        return text
    return said(phrase(found.template, **{name: recognised(part, LACKING) for name, part in found.fields.items()}))


class ExerciseSyntaxError(Exception):
    """A student's file does not compile; the text is ready to be shown: at most ten lines with place and caret."""
