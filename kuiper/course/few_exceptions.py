"""Cython with few exceptions that it knows beforehand: it starts in half of the time.

In each process Cython declares some 70 exceptions, each with all its properties, before it reads a line. That takes as
long as to compile the C of an exercise. An exception that is not declared is looked up by its name when the code runs,
as any other name of Python's: it is raised and caught alike.

As ``ascii_names``, this is for processes that do nothing else: the workers.
"""

from __future__ import annotations

import importlib
import sys

KEPT = frozenset(
    {"BaseException", "Exception", "IndexError", "MemoryError", "TypeError", "ValueError", "ZeroDivisionError"}
)
"""What Cython's own code asks for, and what exercises raise most."""


def use() -> None:
    """Let Cython declare these only, unless it has declared all already."""
    if "Cython.Compiler.Builtin" not in sys.modules:
        types = importlib.import_module("Cython.Compiler.PyrexTypes")
        known = getattr(types, "KNOWN_EXCEPTION_NAMES", None)
        if isinstance(known, frozenset):
            vars(types)["KNOWN_EXCEPTION_NAMES"] = known & KEPT
