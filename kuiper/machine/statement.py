"""Another machine in a few words, ``l2=256K cores=4 vnni=no``: what is different from the one that there is."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kuiper.errors import ParameterError
from kuiper.machine.machine import CHOICES, RANGES, VNNI, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_EXAMPLE = "l2=256K cores=4 vnni=no"


def stated(machine: Machine, text: str, where: str = "machine") -> Machine:
    """The machine with what the text says in the place of what it has.

    Parameters
    ----------
    machine : the one that there is
    text : words ``key=value`` with spaces between them; the keys are those of ``facts_of``
    where : what the text is called in errors

    Returns
    -------
    Another machine, or the same if the text says nothing.

    Raises
    ------
    ParameterError
        If a key is unknown or comes twice, if a value is none that a machine can have, or if ``machine`` lacks an
        instruction that the text wants.

    Examples
    --------
    >>> from kuiper.machine import REPRODUCIBLE, facts_of, stated
    >>> facts_of(stated(REPRODUCIBLE, "l2=256K cores=1 clock=3.2G"))
    'lanes=8 registers=16 l1=32K l2=256K l3=0 cores=1 clock=3.2G vnni=no'
    """
    words: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or key not in _READERS:
            raise ParameterError(where, f"some of {', '.join(_READERS)}, as in {_EXAMPLE}", word)
        if key in words:
            raise ParameterError(where, f"{key} once", text)
        words[key] = value
    changes = {_FIELDS.get(key, key): _READERS[key](machine, key, value, where) for key, value in words.items()}
    lanes = changes.get("lanes", machine.lanes)
    if changes.get("splits_avx512") and lanes != 16:
        raise ParameterError(
            where, "avx512=full where a vector has less than 16 lanes", f"avx512=halves, lanes={lanes}"
        )
    if lanes != 16:
        changes["splits_avx512"] = False
    return replace(machine, **changes)


def facts_of(machine: Machine) -> str:
    """The numbers of a machine as ``stated`` takes them, in the order of its fields.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> facts_of(REPRODUCIBLE)
    'lanes=8 registers=16 l1=32K l2=1M l3=0 cores=8 vnni=no'
    """
    sizes = [f"{key}={_size(getattr(machine, key))}" for key in ("l1", "l2", "l3")]
    words = [f"lanes={machine.lanes}", f"registers={machine.registers}", *sizes, f"cores={machine.cores}"]
    if machine.clock is not None:
        words.append(f"clock={machine.clock / 1e9:.9g}G")
    words.append(f"vnni={'yes' if machine.vnni else 'no'}")
    if machine.lanes == 16:
        words.append(f"avx512={'halves' if machine.splits_avx512 else 'full'}")
    return " ".join(words)


def described(machine: Machine, width: int = 80) -> list[str]:
    """A machine in lines of up to ``width`` letters: its name and level, then its facts, a little to the right.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> described(REPRODUCIBLE)[0]
    'any machine, reproducibly'
    """
    names = [name for name in (machine.name, machine.level) if name]
    return [", ".join(names), *textwrap.wrap(facts_of(machine), width, initial_indent="  ", subsequent_indent="  ")]


def _size(count: int) -> str:
    """Bytes in the largest unit that leaves an integer."""
    unit = max((unit for unit in _UNITS if count % _UNITS[unit] == 0), key=lambda unit: _UNITS[unit]) if count else ""
    return f"{count // _UNITS[unit]}{unit}"


def _read_size(machine: Machine, key: str, value: str, where: str) -> int:
    found = re.fullmatch(r"([0-9]{1,12})([KMG]?)", value)
    size = int(found[1]) * _UNITS[found[2]] if found else -1
    least, most = RANGES[key]
    if not least <= size <= most:
        raise ParameterError(where, f"{key} from {_size(least)} to {_size(most)}, such as {key}=512K", f"{key}={value}")
    return size


def _read_count(machine: Machine, key: str, value: str, where: str) -> int:
    least, most = RANGES[key]
    count = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else -1
    if not least <= count <= most:
        raise ParameterError(where, f"{key} from {least} to {most}", f"{key}={value}")
    return count


def _read_choice(machine: Machine, key: str, value: str, where: str) -> int:
    choices = {str(choice): choice for choice in CHOICES[key]}
    return choices[_one_of(key, value, where, choices)]


def _read_clock(machine: Machine, key: str, value: str, where: str) -> int:
    found = re.fullmatch(r"([0-9]{1,3}([.][0-9]{1,9})?)G", value)
    hertz = round(float(found[1]) * 1e9) if found else 0
    if not 10**8 <= hertz <= 10**11:
        raise ParameterError(where, f"{key} from 0.1G to 100G, such as {key}=3.2G", f"{key}={value}")
    return hertz


def _read_vnni(machine: Machine, key: str, value: str, where: str) -> frozenset[str]:
    if _one_of(key, value, where, ("yes", "no")) == "no":
        return machine.features - VNNI
    if not machine.vnni:
        raise ParameterError(where, "vnni=no: this CPU has no such instruction, or this build none for it", "vnni=yes")
    return machine.features


def _read_halves(machine: Machine, key: str, value: str, where: str) -> bool:
    return _one_of(key, value, where, ("full", "halves")) == "halves"


def _one_of(key: str, value: str, where: str, choices: Any) -> str:
    if value not in choices:
        raise ParameterError(where, f"{key} to be one of {', '.join(choices)}", f"{key}={value}")
    return value


_READERS: dict[str, Callable[[Machine, str, str, str], Any]] = {
    "lanes": _read_choice,
    "registers": _read_choice,
    "l1": _read_size,
    "l2": _read_size,
    "l3": _read_size,
    "cores": _read_count,
    "clock": _read_clock,
    "vnni": _read_vnni,
    "avx512": _read_halves,
}
_FIELDS = {"vnni": "features", "avx512": "splits_avx512"}
