"""Whether this system can start a process: in a browser's tab none can be, and all runs in the one that is there."""

from __future__ import annotations

import os
import sys

from kuiper.errors import ExecutionError

VARIABLE = "KUIPER_PROCESSES"
"""With "none" in it, kuiper does without processes elsewhere, too: so this can be tried, and tested, on any machine."""


def has_processes() -> bool:
    """Whether a program can be started beside this one.

    >>> has_processes() or sys.platform == "emscripten" or os.environ[VARIABLE] == "none"
    True
    """
    return sys.platform != "emscripten" and os.environ.get(VARIABLE) != "none"


def need_processes(where: str, why: str) -> None:
    """Say that something cannot be had here, if it cannot; ``why`` is what the processes are for.

    Raises
    ------
    ExecutionError
        If there are no processes.
    """
    if not has_processes():
        got = "none, as in a browser's tab"
        raise ExecutionError(where, f"a system with processes {why}", got, "install kuiper on a computer of your own")
