"""Do what the README tells a newcomer, and keep what is printed: clone, ``make demo``, let a language model write.

    python -m benchmarks demo -o benchmarks/results/demo/NAME.json

What is committed is cloned, so the time is that of a build from nothing, with the packages that pip fetches.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.errors import BenchmarkError
from benchmarks.machine import describe
from benchmarks.places import DEMO_RESULTS, ROOT
from benchmarks.results_file import results_in, write_results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FORMAT = 1
PROMPT = "The moon"
WORDS = ("generate", PROMPT, "--seed", "1", "--max-tokens", "132")
PHOTO = "kuiper/models/assets/cat.jpg"
OF_THIS_ENVIRONMENT = ("PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Demo:
    """``seconds`` is the time of ``make demo`` in a fresh clone; ``load``, how many processes wanted a core before it.

    The others are what was printed, line by line.
    """

    date: str
    machine: dict[str, Any]
    load: float
    seconds: float
    classified: list[str]
    written: list[str]

    @classmethod
    def read(cls, path: Path) -> Demo:
        """The record in a JSON file.

        Raises
        ------
        BenchmarkError
            If the file is not one that ``execute`` wrote.
        """
        with results_in(path, FORMAT, "the JSON of a demo") as content:
            return cls(**content)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    default = DEMO_RESULTS / "server.json"
    parser.add_argument("-o", "--output", type=Path, default=default, metavar="FILE", help=f"default: {default}")


def execute(arguments: argparse.Namespace) -> int:
    demo = measure()
    write_results(arguments.output, {"format": FORMAT, **asdict(demo)})
    print(f"make demo took {demo.seconds:.0f} s; wrote {arguments.output}")
    return 0


def measure() -> Demo:
    """The record of a run in a clone that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "kuiper"
        run(["git", "clone", "--quiet", str(ROOT), str(clone)], Path(folder))
        load, _, _ = os.getloadavg()
        started = time.perf_counter()
        printed = run(["make", "demo"], clone)
        seconds = time.perf_counter() - started
        kuiper = next(clone.glob(".venv/*/kuiper*"))
        written = run([str(kuiper), *WORDS], clone)
    return Demo(time.strftime("%Y-%m-%d"), describe(), round(load, 1), round(seconds, 1), answer(printed), written)


def run(command: Sequence[str], folder: Path) -> list[str]:
    """What a command prints, its errors behind it, without what this process's environment would change.

    Raises
    ------
    BenchmarkError
        If it fails.
    """
    environment = {name: value for name, value in os.environ.items() if name not in OF_THIS_ENVIRONMENT}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = [line.rstrip() for printed in (done.stdout, done.stderr) for line in printed.strip("\n").splitlines()]
    if done.returncode:
        raise BenchmarkError(" ".join(command), "exit code 0", f"{done.returncode}: {' '.join(lines[-3:])}")
    return lines


def answer(printed: Sequence[str]) -> list[str]:
    """The lines on the photo: the one that names it, and those that are indented below it.

    >>> answer(["built", "kuiper/models/assets/cat.jpg  9 ms", "  cat  99%", "", "a warning"])
    ['kuiper/models/assets/cat.jpg  9 ms', '  cat  99%']

    Raises
    ------
    BenchmarkError
        If no line names it.
    """
    start = next((i for i, line in enumerate(printed) if line.startswith(PHOTO)), None)
    if start is None:
        raise BenchmarkError("make demo", f"a line that begins with {PHOTO}", json.dumps(list(printed[-3:])))
    below = printed[start + 1 :]
    end = next((i for i, line in enumerate(below) if not line.startswith("  ")), len(below))
    return [printed[start], *below[:end]]
