"""A scanner for Cython that knows names of ASCII letters only: it is made in a moment.

Cython makes its scanner anew in each process. It lists all characters that names may have in any script, some 130,000,
for each of its states, and that takes longer than to translate an exercise. Comments and texts may have any characters
with either scanner. Where a text with others than ASCII is refused, ``builder`` asks a process that knows all of them.

A process has one scanner, so this is for those that do nothing else: the workers.
"""

from __future__ import annotations

import importlib
import sys

NAMES = {
    "unicode_start_ch_any": "_",
    "unicode_start_ch_range": "AZaz",
    "unicode_continuation_ch_any": "",
    "unicode_continuation_ch_range": "09",
}
"""What Cython.Compiler.Lexicon has lists for: single characters, and first and last of a range by turns."""

_used = False


def use() -> None:
    """Let Cython's scanner in this process be the small one, unless Cython has made its own already."""
    global _used
    if "Cython.Compiler.Scanning" not in sys.modules:
        lexicon = importlib.import_module("Cython.Compiler.Lexicon")
        if all(isinstance(getattr(lexicon, name, None), str) for name in NAMES):
            vars(lexicon).update(NAMES)
            _used = True


def are_used() -> bool:
    """Whether names of other letters are refused in this process."""
    return _used
