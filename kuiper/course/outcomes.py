"""How each test of a run ended, as lines of JSON that are written at once: who is stopped later has lost nothing."""

from __future__ import annotations

import json
import os
from typing import IO, Any


class OutcomeTable:
    """A file of outcomes, and of which exercise has begun; "" for none, "-" for standard output.

    Standard output then belongs to the outcomes alone: what else is printed may hold words of a submission.
    """

    def __init__(self, name: str | None) -> None:
        self._begun = ""
        self._file: IO[str] | None = None
        if name == "-":
            self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 1)
        elif name:
            self._file = os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8")

    def begin(self, id_: str) -> None:
        """The next outcomes are those of this exercise."""
        if id_ and id_ != self._begun:
            self._begun = id_
            self.write({"begun": id_})

    def measure(self, id_: str) -> None:
        """All tests have run, and the speed of this exercise is measured next."""
        self.write({"measured next": id_})

    def write(self, entry: dict[str, Any]) -> None:
        """One line."""
        if self._file:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
            self._file = None
