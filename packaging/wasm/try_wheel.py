"""Try the wheel for browsers in node: ``make wasm-test`` and a step of CI.

    python packaging/wasm/try_wheel.py FOLDER               import, doctor, a photo, a text: half a minute
    python packaging/wasm/try_wheel.py FOLDER --tests ...   the tests of the checkout; the words are pytest's

FOLDER is what build.py has filled. Where NumPy and Pillow cannot be had (compiled.py), one line says that nothing was
tried.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from compiled import compiled_wheels
from toolchain import SOURCES, Toolchain, ToolError, node, partial, run

from build import LEVELS, ROOM, ROOT

HERE = Path(__file__).resolve().parent
WHEELS = ROOT / "live/wheels.txt"
TESTS = ("tests/engine", "tests/layers", "tests/tensor", "tests/expression", "tests/graph")
MINUTES = 40  # after which a run of tests has hung


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the wheel and the models are")
    parser.add_argument("--level", choices=LEVELS, action="append", help="default: all")
    parser.add_argument(
        "--tests", nargs="*", metavar="PATH", help="run these tests; no path: of the kernels and around"
    )
    arguments = parser.parse_args()
    try:
        tools = Toolchain(ROOM / "tools")
    except ToolError as error:
        sys.exit(f"packaging/wasm: {error}")
    try:
        compiled = compiled_wheels(tools)
    except OSError as error:
        print(f"{'=' * 80}\nNOT TRIED: the wheel for browsers. {error}\n{'=' * 80}", flush=True)
        return
    wheels = [compiled, pure_wheels(), arguments.folder]  # the last one of a name is taken
    levels = arguments.level or list(LEVELS)
    if arguments.tests is None:
        statuses = [start(tools, wheels, level, HERE / "smoke.py", level) for level in levels]
    else:
        paths = arguments.tests or TESTS
        words = [f"{path}" for path in paths]
        statuses = [start(tools, wheels, level, HERE / "suite.py", *pytest_words(), *words) for level in levels]
    sys.exit(max(statuses))


def pytest_words() -> list[str]:
    """What every run of pytest is told."""
    # hypothesis warns of its own generators where objects are freed in another order.
    quiet = ["-q", "-rfE", "--tb=short", "-W", "ignore:It looks like"]
    return ["/packaging/left_out.json", *quiet, "-m", "not torch", "-o", "addopts="]


def start(tools: Toolchain, wheels: list[Path], level: str, script: Path, *words: str) -> int:
    """Run a script on a level; the status."""
    print(f"== {level}: {script.name}", flush=True)
    command = [*command_of(wheels, level, script), *words]
    try:
        done = subprocess.run(command, env=environment_of(tools), timeout=MINUTES * 60, check=False)
    except subprocess.TimeoutExpired:
        print(f"packaging/wasm: expected an end within {MINUTES} minutes, got none")
        return 1
    return done.returncode


def command_of(wheels: list[Path], level: str, script: Path) -> list[str]:
    """The words that run a script in node, on a level, with all wheels of some folders; kuiper's is in the last."""
    command = [*node(), str(HERE / "python.mjs")]
    for folder in wheels:
        command += ["--wheels", str(folder)]
    for folder, place in {wheels[-1] / "models": "/models", ROOT: "/checkout", HERE: "/packaging"}.items():
        command += ["--mount", f"{folder}={place}"]
    variables = {"KUIPER_ARCH": level, "KUIPER_MODELS": "/models", "KUIPER_STRICT": "1", "COLUMNS": "100"}
    for name, value in variables.items():
        command += ["--set", f"{name}={value}"]
    return [*command, "--run", str(script)]


def environment_of(tools: Toolchain) -> dict[str, str]:
    """The variables that these words need."""
    return {**os.environ, "KUIPER_PYODIDE": str(tools.runtime)}


def pure_wheels() -> Path:
    """The folder with what kuiper and its tests need beside these, from PyPI: what the page has, too."""
    folder = ROOM / f"pure-{hashlib.sha256(WHEELS.read_bytes()).hexdigest()[:12]}"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        pip += ["--require-hashes", "--only-binary=:all:", "--platform", "any", "--python-version", SOURCES["python"]]
        run([*pip, "-d", str(partial(folder)), "-r", str(WHEELS)])
        partial(folder).rename(folder)
    return folder


if __name__ == "__main__":
    main()
