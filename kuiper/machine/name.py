"""What the CPU of this machine calls itself."""

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
    if cpu_file.is_file():
        for line in cpu_file.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()
