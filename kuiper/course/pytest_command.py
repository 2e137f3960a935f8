"""The pytest that kuiper starts itself, to check an exercise, for the gates and for a grade."""

from __future__ import annotations

import sys

NOT_NEEDED = ("cacheprovider", "hypothesispytest", "anyio")
"""Plugins that are left out, installed or not.

The first would write beside the courses, where not everybody may write. The other two come with packages that are there
for something else, and take up to a quarter of the time in which pytest starts: hypothesis runs property tests without
its plugin, which would import it for its last lines also where no test uses it.
"""

LEFT_OUT = tuple(word for name in NOT_NEEDED for word in ("-p", f"no:{name}"))
"""The words that tell pytest so."""


def pytest_command(*words: str, alone: bool = False) -> list[str]:
    """The command of a quiet pytest with the classroom's plugin, and the words that follow it.

    With ``alone``, Python does not look for packages in the folder of the user who runs it.
    """
    python = [sys.executable, "-s"] if alone else [sys.executable]
    return [*python, "-m", "pytest", *pytest_words(*words)]


def pytest_words(*words: str) -> list[str]:
    """What follows ``pytest`` there."""
    return ["-q", "-p", "kuiper.course.pytest_plugin", *LEFT_OUT, *words]
