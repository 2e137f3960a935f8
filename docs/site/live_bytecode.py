"""Bytecode for the modules that a tab imports: compiling them there would take seconds of each start."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "import kuiper.tab.requests, numpy, rich.table, sys; print(*sys.modules)"
# Of these, what a start imports; of other packages, which come when they are needed, all but what is seldom used.
AT_THE_START = ("kuiper", "numpy", "pillow", "rich")
SELDOM = re.compile(
    r"(^|/)tests?/|^Cython/(Build/Tests|Debugger|Tests)/|^pygments/(lexers|styles|formatters)/(?!_|python|terminal|default)"
)
WITH_SOURCES = "kuiper"  # lectures and errors show them; a first visit is not to fetch those of NumPy twice


def with_bytecode(wheels: list[Path], folder: Path, script: Path) -> list[Path]:
    """Copies of wheels in a folder, with bytecode of the modules that are imported; made once for each wheel.

    ``script`` is live/precompile.mjs, beside whose ``node_modules`` the Python of the page is.
    """
    words = [sys.executable, "-c", SESSION]
    imported = set(subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout.split())
    made = []
    for wheel in wheels:
        asked = json.dumps({"wheel": str(wheel), **bytecode_of(wheel, imported)})
        name = hashlib.sha256(wheel.read_bytes() + asked.encode() + script.read_bytes()).hexdigest()[:12]
        place = folder / name / wheel.name
        if not place.exists():
            part = place.with_suffix(".part")
            part.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["node", str(script), str(part)], input=asked, check=True, encoding="utf-8")
            part.rename(place)
        made.append(place)
    return made


def bytecode_of(wheel: Path, imported: set[str]) -> dict[str, Any]:
    """The files of a wheel that are compiled, and whether it keeps them: what ``live/precompile.mjs`` is told."""
    package = wheel.name.split("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        files = [name for name in archive.namelist() if name.endswith(".py") and not SELDOM.search(name)]
    if package in AT_THE_START:
        modules = {name: name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files}
        files = [name for name in files if modules[name] in imported]
    return {"files": files, "keep": package == WITH_SOURCES or package not in AT_THE_START}
