"""The machine that a lecture's times were measured on, in a few words."""

from __future__ import annotations

from kuiper import machine


def this_machine() -> str:
    """The processor, the cores that this process may use, and what kind of CPU the kernels are built for.

    >>> from kuiper import build_info
    >>> this_machine().endswith(f"kernels for {build_info()['level']}")
    True
    """
    this = machine.this_machine()
    cores = "1 core" if this.cores == 1 else f"{this.cores} cores"
    return f"{this.name}, {cores}, kernels for {this.level}"
