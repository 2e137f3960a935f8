"""Copies of packages that ask the CPU nothing themselves: their questions go to ``avx2_answers``.

A runtime that has no switch chooses its kernels by what the instruction ``cpuid`` says. In a copy of its package each
of these instructions is replaced by another one of two bytes, which no CPU has. Where the process comes to it, the
system sends a signal, and the handler writes the registers that a CPU with AVX2 alone would have written. Nothing else
in the libraries changes, and nothing of it happens while a network runs.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.avx2_answers import CPUID, QUESTION
from benchmarks.errors import BenchmarkError
from benchmarks.kept_files import keep
from benchmarks.machine import has_more_than

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FREE = "leave the peers free with --isa native"
COPIES = "avx2"
"""The folder of a cache for copies of runtimes."""


class Section(NamedTuple):
    """A part of a library with instructions: its address in memory, its size, and where it lies in the file."""

    address: int
    size: int
    offset: int


def add_isa(parser: argparse.ArgumentParser) -> None:
    """The option that keeps peers to AVX2."""
    parser.add_argument(
        "--isa",
        choices=("avx2", "native"),
        help="avx2 keeps all peers to AVX2 (default: if kuiper is built for no more)",
    )


def keeps_to_avx2(isa: str | None, build: dict[str, Any]) -> bool:
    """Whether the peers are kept to AVX2: by the option, or else because this build of kuiper is."""
    return isa == "avx2" or (isa is None and has_more_than(build))


def narrowed(packages: Sequence[str], folder: Path) -> Path:
    """The folder to import copies of some packages from, which load each other; they are made if ``folder`` lacks them.

    Raises
    ------
    BenchmarkError
        On other systems, without the disassembler of binutils, or if no library of the packages asks the CPU anything.
    """
    if (system := f"{platform.system()} {platform.machine()}") != "Linux x86_64":
        raise BenchmarkError("--isa avx2", "Linux x86_64", system, hint=FREE)
    copy = folder / "-".join(packages)
    origin = {package: version(package) for package in packages}
    keep(copy / "origin.json", origin, lambda: write_copies(packages, copy))
    return copy


def write_copies(packages: Sequence[str], copy: Path) -> None:
    """The packages with all of their libraries, changed; those that a wheel keeps beside it (``package.libs``), too."""
    for package in packages:
        found = importlib.util.find_spec(package)
        assert found is not None
        assert found.origin is not None
        original = Path(found.origin).parent
        for source in (original, original.with_name(f"{original.name}.libs")):
            shutil.rmtree(copy / source.name, ignore_errors=True)
            if source.exists():
                shutil.copytree(source, copy / source.name)
    questions = sum(replace_questions(path) for path in sorted(copy.rglob("*.so*")))
    if not questions:
        asked = f"a library in {' and '.join(packages)} that asks the CPU what it has"
        raise BenchmarkError("--isa avx2", asked, "none")


def replace_questions(library: Path) -> int:
    """Replace each ``cpuid`` in a shared library; how many there were.

    The bytes alone do not tell: they occur within longer instructions, too. So the whole library is disassembled.
    """
    sections = sections_of(library)
    data = bytearray(library.read_bytes())
    instructions = disassembler("-d", "--no-show-raw-insn", library)
    addresses = re.findall(r"^ *([0-9a-f]+):\s+cpuid\s*$", instructions, re.MULTILINE)
    for address in (int(digits, 16) for digits in addresses):
        section = next(part for part in sections if part.address <= address < part.address + part.size)
        at = section.offset + address - section.address
        assert data[at : at + len(CPUID)] == CPUID
        data[at : at + len(CPUID)] = QUESTION
    if addresses:
        library.write_bytes(data)
    return len(addresses)


def sections_of(library: Path) -> list[Section]:
    """The sections of a library that have instructions."""
    row = re.compile(r"\s*\d+ \S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s.*CODE")
    found = (row.match(line) for line in disassembler("-h", "-w", library).splitlines())
    return [Section(int(match[2], 16), int(match[1], 16), int(match[3], 16)) for match in found if match]


def disassembler(*arguments: str | Path) -> str:
    """What ``objdump`` prints."""
    try:
        return subprocess.run(["objdump", *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise BenchmarkError("--isa avx2", "the program objdump", "none", hint=f"install binutils, or {FREE}") from None
    except subprocess.CalledProcessError as error:
        raise BenchmarkError("--isa avx2", f"an answer of objdump {arguments[-1]}", error.stderr.strip()) from None
