"""The classroom's errors, in the form of all of kuiper's: ``<where>: expected <what>, got <value>[; hint]``."""

from __future__ import annotations

from kuiper.errors import KuiperError


class CourseError(KuiperError, ValueError):
    """A manifest, a marker, a bug patch or an exercise number is wrong."""


class BuildError(KuiperError, ImportError):
    """A .pyx cannot be built because this machine lacks something."""


class ExerciseSyntaxError(Exception):
    """A student's file does not compile; the text is ready to be shown: at most ten lines with place and caret."""
