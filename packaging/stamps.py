"""What compiled files were made from, by content: dates are new in every copy and every clone, and say nothing.

``setup.py`` loads this file by its path, before anything is compiled: it imports nothing of kuiper.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_INCLUDED = re.compile(r'^#include "(kuiper/[^"]+)"', re.MULTILINE)


def with_included(root: Path, files: Iterable[str]) -> list[str]:
    """These files, and the headers of kuiper that headers among them include, and those include."""
    found, waiting = set(), list(files)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            if file.endswith(".h"):
                waiting += _INCLUDED.findall(Path(root, file).read_text(encoding="utf-8"))
    return sorted(found)


class Stamps:
    """A file beside the products: for each, a hash of its sources.

    Parameters
    ----------
    path : the file; one that is missing or broken knows nothing
    root : the folder that sources and products are named from, so that a copy of it has the same names
    salt : what else a product depends on, as a text
    """

    def __init__(self, path: Path, root: Path, salt: str = "") -> None:
        self.path, self.root, self.salt = path, root, salt
        self._digests: dict[str, str] = {}
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            table = {}
        self._table: dict[str, str] = table if isinstance(table, dict) else {}

    def fits(self, product: str, sources: Iterable[str]) -> bool | None:
        """Whether a product is there and was made from these contents; None if nothing is known of any product."""
        if not self._table:
            return None
        return Path(self.root, product).is_file() and self._table.get(self._key(product)) == self._hash(sources)

    def note(self, product: str, sources: Iterable[str]) -> None:
        """Write down that a product has just been made, or is as it was."""
        name, made_of = self._key(product), self._hash(sources)
        if self._table.get(name) == made_of:
            return
        self._table[name] = made_of
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        beside.write_text(json.dumps(self._table, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(beside, self.path)

    def date(self, product: str, sources: Iterable[str]) -> None:
        """Give a product a date that tells whether it is up to date, for a tool that goes by dates."""
        sources = list(sources)
        fits, path = self.fits(product, sources), Path(self.root, product)
        if fits is None or not path.is_file():
            return
        newest = max((os.path.getmtime(Path(self.root, source)) for source in sources), default=0.0)
        when = max(time.time(), newest) if fits else 0.0
        os.utime(path, (when, when))

    def _hash(self, sources: Iterable[str]) -> str:
        lines = sorted(f"{self._name(source)} {self._digest(source)}" for source in sources)
        return hashlib.sha256("\n".join([self.salt, *lines]).encode()).hexdigest()

    def _digest(self, source: str) -> str:
        if source not in self._digests:
            self._digests[source] = hashlib.sha256(Path(self.root, source).read_bytes()).hexdigest()
        return self._digests[source]

    def _key(self, product: str) -> str:
        """The name below the root; of what lies outside, the whole path: last parts are the same in many folders."""
        full, root = Path(self.root, product).resolve(), self.root.resolve()
        return full.relative_to(root).as_posix() if full.is_relative_to(root) else full.as_posix()

    def _name(self, path: str) -> str:
        """The name below the root; of what lies outside, such as Cython's own files, the last part."""
        full = Path(self.root, path).resolve()
        root = self.root.resolve()
        return (
            full.relative_to(root).as_posix() if full.is_relative_to(root) and ".venv" not in full.parts else full.name
        )
