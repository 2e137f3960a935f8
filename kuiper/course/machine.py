"""The machine that a lecture's times were measured on, in a few words."""

from __future__ import annotations

import re

from kuiper import machine
from kuiper.language import _

SAID = re.compile(r"(?P<name>.+), (?P<cores>\d+) cores?, kernels for (?P<level>\S+)")


def this_machine() -> str:
    """The processor, the cores that this process may use, and what kind of CPU the kernels are built for.

    >>> from kuiper import build_info
    >>> this_machine().endswith(f"kernels for {build_info()['level']}")
    True
    """
    this = machine.this_machine()
    cores = "1 core" if this.cores == 1 else f"{this.cores} cores"
    return f"{this.name}, {cores}, kernels for {this.level}"


def machine_words(name: str) -> str:
    """What ``this_machine`` has said of a machine, in the reader's language; it is stored in English.

    >>> machine_words("EPYC, 1 core, kernels for x86-64-v3"), machine_words("desk")
    ('EPYC, 1 core, kernels for x86-64-v3', 'desk')
    """
    found = SAID.fullmatch(name)
    if not found:
        return name
    one, several = _("{name}, 1 core, kernels for {level}"), _("{name}, {cores} cores, kernels for {level}")
    return (one if found["cores"] == "1" else several).format(**found.groupdict())
