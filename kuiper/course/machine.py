"""The machine that a lecture's times were measured on, in a few words."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

from kuiper.build_info import build_info

_CPU_FILE = Path("/proc/cpuinfo")


def this_machine(cpu_file: Path = _CPU_FILE) -> str:
    """The processor, the cores that this process may use, and what kind of CPU the kernels are built for.

    Parameters
    ----------
    cpu_file : the file in which Linux describes its processors; without it, what Python knows of the processor

    >>> from kuiper import build_info
    >>> this_machine().endswith(f"kernels for {build_info()['level']}")
    True
    """
    build = build_info()
    cores = "1 core" if build["cores"] == 1 else f"{build['cores']} cores"
    return f"{cpu_name(cpu_file)}, {cores}, kernels for {build['level']}"


def cpu_name(cpu_file: Path = _CPU_FILE) -> str:
    """What the CPU calls itself, or what Python knows of it."""
    if cpu_file.is_file():
        for line in cpu_file.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()
