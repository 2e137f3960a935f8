"""NumPy and Pillow for Pyodide: ``compiled.py`` prints the folder that has them.

kuiper needs both, and no registry has them for this platform. They are taken from the folder KUIPER_WASM_WHEELS, else
from Pyodide's own distribution, with the hashes that npm's package has.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import urllib.request
from pathlib import Path

from toolchain import SOURCES, Toolchain, ToolError

from build import ROOM

DISTRIBUTION = f"https://cdn.jsdelivr.net/pyodide/v{SOURCES['pyodide']}/full"
COMPILED = ("numpy", "pillow")


def main() -> None:
    try:
        print(compiled_wheels(Toolchain(ROOM / "tools")).resolve())
    except (ToolError, OSError) as error:
        sys.exit(f"packaging/wasm: {error}")


def compiled_wheels(tools: Toolchain) -> Path:
    """The folder with NumPy and Pillow.

    Raises
    ------
    OSError
        If they cannot be had.
    """
    given = os.environ.get("KUIPER_WASM_WHEELS")
    if given:
        missing = [name for name in COMPILED if not list(Path(given).glob(f"{name}-*{SOURCES['platform']}.whl"))]
        if missing:
            sys.exit(f"KUIPER_WASM_WHEELS: expected wheels of {', '.join(missing)} in the folder, got none in {given}")
        return Path(given)
    folder = ROOM / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    lock = json.loads((tools.runtime / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    for name in COMPILED:
        file, expected = lock[name]["file_name"], lock[name]["sha256"]
        if not (folder / file).exists():
            try:
                with urllib.request.urlopen(f"{DISTRIBUTION}/{file}", timeout=20) as answer:
                    data = answer.read()
            except OSError as error:
                hint = "KUIPER_WASM_WHEELS names a folder that has them"
                raise OSError(f"expected NumPy and Pillow from {DISTRIBUTION}, got {error}; {hint}") from error
            if hashlib.sha256(data).hexdigest() != expected:
                sys.exit(f"{DISTRIBUTION}/{file}: expected SHA-256 {expected}, got another file")
            (folder / file).write_bytes(data)
    return folder


if __name__ == "__main__":
    main()
