"""Where the live page's Python comes from, and what its service worker keeps.

Large files get addresses that change with their content, ``live/runtime/HASH/...``: a browser keeps them for ever.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
DISTRIBUTION = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
COMPILED = ("numpy", "pillow")  # what is compiled, and comes from Pyodide's distribution or from the site
DRAWING = (
    "matplotlib",
)  # comes from Pyodide's distribution only: a site of its own shows the pictures that are stored


def digest(paths: Iterable[Path]) -> str:
    """A short hash of files and their names."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


class Runtime:
    """What ``live/runtime`` is made of."""

    def __init__(self, live: Path, modules: Path) -> None:
        self.live, self.modules = live, modules
        self.files: list[str] = []  # addresses, as seen from the page
        self.prefixes: list[str] = []

    def add(self, paths: Iterable[Path]) -> str:
        """Copy files to a folder with the name of their content; its address."""
        paths = list(paths)
        address = self._copied(paths)
        self.files += [f"{address}{path.name}" for path in paths]
        return address

    def add_apart(self, path: Path) -> str:
        """Copy a file that not every reader needs; its own address."""
        return f"{self._copied([path])}{path.name}"

    def _copied(self, paths: list[Path]) -> str:
        address = f"runtime/{digest(paths)}/"
        (self.live / address).mkdir(parents=True, exist_ok=True)
        for path in paths:
            shutil.copyfile(path, self.live / address / path.name)
        self.prefixes.append(address)
        return address

    def add_wheels(self, wheels: Iterable[Path]) -> list[str]:
        """Copy wheels; the address of each."""
        return [f"{self.add([wheel])}{wheel.name}" for wheel in wheels]

    def pyodide_here(self) -> str:
        """Pyodide from the site itself."""
        return self.add(self.modules / "pyodide" / name for name in PYODIDE)

    def pyodide_there(self) -> str:
        """Pyodide from its own distribution, with what it has compiled."""
        lock = json.loads((self.modules / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
        version = json.loads((self.modules / "pyodide" / "package.json").read_text(encoding="utf-8"))["version"]
        base = DISTRIBUTION.format(version=version)
        self.files += [base + name for name in PYODIDE]
        self.files += [base + lock["packages"][name]["file_name"] for name in needed(lock, (*COMPILED, *DRAWING))]
        self.prefixes.append(base)
        return base

    def kept(self, shell: list[str], rest: list[str], version: str) -> dict[str, Any]:
        """What ``service_worker.js`` gets for its list."""
        return {"version": version, "shell": shell, "rest": [*rest, *self.files], "runtime": self.prefixes}


def needed(lock: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Packages of Pyodide's distribution with those that they depend on, each once."""
    found: list[str] = []
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting += lock["packages"][name]["depends"]
    return found


def pure_wheels(requirements: Path, folder: Path) -> list[Path]:
    """The wheels that a list names, fetched once into a folder."""
    wanted = digest([requirements])
    here = folder / wanted
    if not here.is_dir():
        fresh = folder / f"{wanted}.part"
        shutil.rmtree(fresh, ignore_errors=True)
        options = [
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "--only-binary=:all:",
            "--python-version=3.14",
            "--platform=any",
        ]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(fresh), "-r", str(requirements)]
        subprocess.run(command, check=True)
        fresh.rename(here)
    return sorted(here.glob("*.whl"))
