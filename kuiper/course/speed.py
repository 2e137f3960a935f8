"""How fast a compiled exercise is beside the reference: said after its last green test, and never a reason to fail.

The test file of such an exercise has a probe ``speed(impl)``: it makes arrays of a size that tells something, gives a
call to ``best_seconds``, and returns the seconds together with how much was done and what is counted. Where it is known
what limits the loop, the probe returns a fourth value, and the line compares with that limit, too: ``"of the peak"``
stands for the multiply-adds of a core, ``"of the bandwidth"`` for the bytes that a core reads from memory.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.course.errors import CourseError
from kuiper.course.peak import multiply_adds, reads
from kuiper.course.places import state_folder
from kuiper.course.progress import digest
from kuiper.course.state_file import as_table, read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.course.classroom import Classroom
    from kuiper.course.manifest import Exercise

OF_THE_PEAK, OF_THE_BANDWIDTH = LIMITS = "of the peak", "of the bandwidth"
SECONDS = 0.2
CLOSE = 0.7  # of the reference's speed: then there is no yellow line to look for


class Rate(NamedTuple):
    """How much is done in a second, what is counted, and which of LIMITS it is compared with; "" for none."""

    per_second: float
    unit: str
    limit: str = ""


def best_seconds(call: Callable[[], Any]) -> float:
    """The shortest of the calls that fit into a fifth of a second, at least one."""
    best, end = float("inf"), time.perf_counter() + SECONDS
    while True:
        begin = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - begin)
        if now >= end:
            return best


def peak_per_second(root: Path) -> float:
    """The most operations in a second, on one core that only multiplies and adds; ``root`` is that of the courses."""
    call, operations = multiply_adds(root)
    return operations / best_seconds(call)


def bytes_per_second(root: Path) -> float:
    """The most bytes in a second that one core reads from memory; ``root`` is that of the courses."""
    call, size = reads(root)
    return size / best_seconds(call)


def speed_line(classroom: Classroom, exercise: Exercise, probe: Callable[..., Any]) -> str:
    """Your speed and the reference's, in one line; "" where they cannot be measured.

    What was measured for this text of the student's file is kept, and not measured again.
    """
    path = state_folder(exercise.course.parent) / "speed.json"
    kept = as_table(read_state(path))
    text = digest(exercise)
    entry = kept.get(exercise.id)
    if isinstance(entry, list) and len(entry) == 2 and entry[0] == text and isinstance(entry[1], str):
        return entry[1]
    yours, line = _rate(classroom, exercise, probe, reference=False), ""
    if yours:
        reference = _rate(classroom, exercise, probe, reference=True)
        line = worded(exercise, yours, reference, _most(exercise.course.parent, yours.limit))
    write_state(path, {**kept, exercise.id: [text, line]})
    return line


def worded(exercise: Exercise, yours: Rate, reference: Rate | None, most: float | None = None) -> str:
    """The line for two speeds per second; the second is None where there is no reference.

    Parameters
    ----------
    most : the most that a core can do, or read, in a second, where that is the limit

    >>> from types import SimpleNamespace
    >>> gemm = SimpleNamespace(id="3.8", label="3.8 gemm")
    >>> print(worded(gemm, Rate(2.1e9, "FLOP"), Rate(30e9, "FLOP")).replace("; ", ";\\n"))
    3.8 gemm: yours 2.1 GFLOP/s, reference 30 GFLOP/s;
    the lines that still run Python: kuiper annotate 3.8 (if no loop has one, each sum waits for the sum before it)
    >>> worded(gemm, Rate(80e9, "FLOP", "of the peak"), Rate(90e9, "FLOP"), most=118e9)
    '3.8 gemm: yours 80 GFLOP/s, reference 90 GFLOP/s; the peak of a core is 118 GFLOP/s, and yours reaches 68% of it'
    """
    words = f"{exercise.label}: yours {_per_second(yours)}"
    if reference is not None:
        words += f", reference {_per_second(reference)}"
    if most is not None:
        what = "the peak of a core is" if yours.limit == OF_THE_PEAK else "from memory a core reads"
        share = yours.per_second / most
        words += f"; {what} {_per_second(Rate(most, yours.unit))}, and yours reaches {share:.0%} of it"
    if reference is not None and yours.per_second < CLOSE * reference.per_second:
        words += f"; the lines that still run Python: kuiper annotate {exercise.id}"
        words += " (if no loop has one, each sum waits for the sum before it)"
    return words


def _per_second(speed: Rate) -> str:
    rate, unit = speed.per_second, speed.unit
    prefixes = ((1e9, "G", "billion "), (1e6, "M", "million "), (1e3, "k", "thousand "), (1.0, "", ""))
    factor, prefix, name = next((entry for entry in prefixes if rate >= entry[0]), prefixes[-1])
    scaled = f"{rate / factor:.2g}" if rate < 100 * factor else f"{rate / factor:.0f}"
    return f"{scaled} {prefix}{unit}/s" if unit.isupper() else f"{scaled} {name}{unit} per second"


def _most(root: Path, limit: str) -> float | None:
    if limit == OF_THE_PEAK:
        return peak_per_second(root)
    return bytes_per_second(root) if limit == OF_THE_BANDWIDTH else None


def _rate(classroom: Classroom, exercise: Exercise, probe: Callable[..., Any], reference: bool) -> Rate | None:
    """What the probe measures; None if the file is not there, or the call fails."""
    from dataclasses import replace

    selection = replace(classroom.selection_for(exercise), mode="fast")
    if reference:
        if not exercise.solution_file.is_file():
            return None
        selection = selection.with_path(exercise, exercise.solution_file)
    try:
        seen = classroom.implementation(exercise, selection).observe_probe(probe, (), {})
    except CourseError:
        return None
    match seen.value:
        case (float(seconds), int(work), str(unit), *rest) if seconds > 0:
            return Rate(work / seconds, unit, next((limit for limit in LIMITS if rest == [limit]), ""))
    return None
