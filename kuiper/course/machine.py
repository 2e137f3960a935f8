"""The machine that a lecture's times were measured on, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.build_info import build_info
from kuiper.cpu_name import CPU_FILE, cpu_name

if TYPE_CHECKING:
    from pathlib import Path


def this_machine(cpu_file: Path = CPU_FILE) -> str:
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
