"""What the CPU of this machine calls itself, and its numbers: servers often hide the name of their model."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

CPU_FILE = Path("/proc/cpuinfo")


def cpu_name(cpu_file: Path = CPU_FILE) -> str:
    """What the CPU calls itself, or what Python knows of it.

    Parameters
    ----------
    cpu_file : the file in which Linux describes its processors

    >>> isinstance(cpu_name(), str)
    True
    """
    if found := _fields(cpu_file).get("model name"):
        return found
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()


def cpu_model(cpu_file: Path = CPU_FILE) -> str:
    """The numbers of the CPU's family and model, as ``family 25, model 17``; empty where the system does not tell.

    Parameters
    ----------
    cpu_file : the file in which Linux describes its processors
    """
    found = _fields(cpu_file)
    names = {"cpu family": "family", "model": "model"}
    return ", ".join(f"{word} {found[name]}" for name, word in names.items() if name in found)


def _fields(cpu_file: Path) -> dict[str, str]:
    """What the file says of the first processor; nothing if there is no such file."""
    if not cpu_file.is_file():
        return {}
    first = cpu_file.read_text(encoding="utf-8", errors="replace").strip().partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
