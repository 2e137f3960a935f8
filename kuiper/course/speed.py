"""How fast a compiled exercise is beside the reference: said after its last green test, and never a reason to fail.

The test file of such an exercise has a probe ``speed(impl)``: it makes arrays of a size that tells something, gives a
call to ``best_seconds``, and returns the seconds together with how much was done and what is counted. Where it is known
what limits the loop, the probe returns a fourth value, and the line compares with that limit, too: ``"of the peak"``
stands for the multiply-adds of a core, ``"of the bandwidth"`` for the bytes that a core reads from memory.

Where the manifest has ratios as ``speed``, each of them that your speed reaches, as a part of the reference's on the
same machine, is a point for speed. Both are timed in turns, several times, and the best of each counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.course.errors import CourseError
from kuiper.course.machine import machine_words, this_machine
from kuiper.course.peak import multiply_adds, reads
from kuiper.course.places import state_folder
from kuiper.course.progress import digest
from kuiper.course.quiet import watch_the_cores
from kuiper.course.state_file import as_table, read_state, write_state
from kuiper.language import ENGLISH, _, language, noop, translate
from kuiper.machine.stopwatch import best_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kuiper.course.classroom import Classroom
    from kuiper.course.manifest import Exercise
    from kuiper.course.progress import Progress

OF_THE_PEAK, OF_THE_BANDWIDTH = LIMITS = "of the peak", "of the bandwidth"
ROUNDS, MAX_ROUNDS = 3, 6  # for points: on a machine that is quiet, and on a busy one
COUNTED = (noop("numbers"), noop("pixels"), noop("comparisons"), noop("pairs of boxes"), noop("products"))
"""What the probes of the courses count, besides FLOP."""
RATES = (
    (1e9, "G", noop("{rate} billion {unit} per second")),
    (1e6, "M", noop("{rate} million {unit} per second")),
    (1e3, "k", noop("{rate} thousand {unit} per second")),
    (1.0, "", noop("{rate} {unit} per second")),
)
CLOSE = 0.7  # of the reference's speed: then there is no yellow line to look for


class Rate(NamedTuple):
    """How much is done in a second, what is counted, and which of LIMITS it is compared with; "" for none."""

    per_second: float
    unit: str
    limit: str = ""


class Measured(NamedTuple):
    """Both speeds, the best of several; ``busy`` says how others had the cores meanwhile, or ""."""

    yours: Rate
    reference: Rate | None
    busy: str = ""

    @property
    def ratio(self) -> float:
        """Your speed as a part of the reference's; 0 where there is none."""
        return self.yours.per_second / self.reference.per_second if self.reference else 0.0


def reached(ratios: Sequence[float], ratio: float) -> int:
    """How many points for speed a ratio is worth, where ``ratios`` are worth one each.

    >>> [reached((0.1, 0.5, 0.9), ratio) for ratio in (0.05, 0.5, 2.0)]
    [0, 2, 3]
    """
    return sum(ratio >= least for least in ratios)


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

    What was measured for this text of the student's file on this machine is kept, and not measured again, unless the
    machine was too busy to judge; the best ratio stays.
    """
    root, machine = exercise.course.parent, this_machine()
    of_text = _kept(exercise)
    before = of_text.get(machine)
    if before is not None and not before["busy"] and before.get("language", ENGLISH) == language():
        return str(before["line"])
    best = before["ratio"] if before is not None else 0.0
    measured, line, ratio, busy = measure(classroom, exercise, probe), "", best, ""
    if measured:
        ratio = max(best, measured.ratio)
        busy = measured.busy if reached(exercise.speed, ratio) < len(exercise.speed) else ""
        line = worded(exercise, measured.yours, measured.reference, _most(root, measured.yours.limit))
        if exercise.speed and measured.reference:
            line += _("; ") + points_words(exercise.speed, ratio, busy)
    on = {**of_text, machine: {"line": line, "ratio": ratio, "busy": busy, "language": language()}}
    table = as_table(read_state(_file(root)))
    write_state(_file(root), {**table, exercise.id: {"text": digest(exercise), "on": on}})
    return line


def measure(classroom: Classroom, exercise: Exercise, probe: Callable[..., Any]) -> Measured | None:
    """Time both in turns until all points are reached, or no more are to be expected; None if yours fails.

    Without ratios in the manifest, each is timed once.
    """
    busy = watch_the_cores(classroom.seconds_without_core)
    yours: list[Rate] = []
    reference: list[Rate] = []
    while True:
        for rates, is_reference in ((yours, False), (reference, True)):
            rate = _rate(classroom, exercise, probe, is_reference)
            rates += [rate] if rate else []
        if not yours:
            return None
        measured = Measured(max(yours), max(reference, default=None), busy())
        enough = len(yours) >= (MAX_ROUNDS if measured.busy else ROUNDS)
        if not reference or enough or reached(exercise.speed, measured.ratio) == len(exercise.speed):
            return measured


def kept_ratio(exercise: Exercise) -> tuple[float, str]:
    """The best ratio that was measured for the student's file as it is now, and on which machine; 0 and "" if none."""
    best = max(_kept(exercise).items(), key=lambda entry: entry[1]["ratio"], default=None)
    return (float(best[1]["ratio"]), best[0]) if best is not None else (0.0, "")


def points(exercise: Exercise, progress: Progress) -> int:
    """The points for speed of the student's file as it is now: none unless it is solved."""
    return reached(exercise.speed, kept_ratio(exercise)[0]) if progress.status(exercise) == "solved" else 0


def all_points(exercises: Sequence[Exercise], progress: Progress) -> str:
    """One line for ``kuiper progress``, with the machines; "" while there are no points for speed."""
    full = {exercise.id: len(exercise.speed) for exercise in exercises if exercise.speed}
    have = {
        exercise.id: (count, kept_ratio(exercise)[1])
        for exercise in exercises
        if exercise.speed and (count := points(exercise, progress))
    }
    return sum_words(_("points for speed"), have, full)


def sum_words(what: str, have: Mapping[str, tuple[int, str]], full: Mapping[str, int]) -> str:
    """The points of several, each with the machine that they were reached on, of those that each can give; "" for none.

    >>> sum_words("points for speed", {"3.8": (2, "desk")}, {"3.4": 3, "3.8": 3})
    'points for speed: 2 of 6 (3.8: 2 of 3), on desk'
    """
    if not have:
        return ""
    of_one = _("{name}: {count} of {full}")
    each = _(", ").join(of_one.format(name=name, count=count, full=full[name]) for name, (count, on) in have.items())
    machines = _("; ").join(dict.fromkeys(machine_words(machine) for count, machine in have.values()))
    words = _("{points}: {count} of {full} ({each}), on {machines}")
    count = sum(count for count, on in have.values())
    return words.format(points=what, count=count, full=sum(full.values()), each=each, machines=machines)


def points_words(ratios: Sequence[float], ratio: float, busy: str = "") -> str:
    """How many points a ratio has, and what is missing for the next one.

    >>> points_words((0.1, 0.5, 0.9), 0.6)
    'points for speed: 2 of 3 (the next at 0.9 of the reference, yours reaches 0.6)'
    """
    count, full = reached(ratios, ratio), len(ratios)
    if count == full:
        return _("points for speed: {count} of {full}").format(count=count, full=full)
    words = _("points for speed: {count} of {full} (the next at {next} of the reference, yours reaches {ratio})")
    doubt = _(
        "points for speed: {count} of {full} (the next at {next} of the reference, yours reaches {ratio}; "
        "the machine was too busy to judge: {busy}; run it again)"
    )
    numbers = {"next": f"{ratios[count]:.2g}", "ratio": f"{ratio:.2g}"}
    return (doubt if busy else words).format(count=count, full=full, busy=busy, **numbers)


def _file(root: Path) -> Path:
    return state_folder(root) / "speed.json"


def _kept(exercise: Exercise) -> dict[str, dict[str, Any]]:
    """What has been measured for the student's file as it is now, by machine, as far as it is what is written here."""
    entry = as_table(read_state(_file(exercise.course.parent))).get(exercise.id)
    if not isinstance(entry, dict) or entry.get("text") != digest(exercise):
        return {}
    kinds = {"line": str, "ratio": float, "busy": str}
    return {
        machine: measured
        for machine, measured in as_table(entry.get("on")).items()
        if isinstance(measured, dict)
        and measured.keys() - {"language"} == kinds.keys()
        and all(isinstance(measured[key], kind) for key, kind in kinds.items())
    }


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
    names, own = {"exercise": exercise.label}, _per_second(yours)
    if reference is None:
        words = [_("{exercise}: yours {rate}").format(rate=own, **names)]
    else:
        both = _("{exercise}: yours {rate}, reference {reference}")
        words = [both.format(rate=own, reference=_per_second(reference), **names)]
    if most is not None:
        of_peak = _("the peak of a core is {most}, and yours reaches {share} of it")
        of_memory = _("from memory a core reads {most}, and yours reaches {share} of it")
        numbers = {"most": _per_second(Rate(most, yours.unit)), "share": f"{yours.per_second / most:.0%}"}
        words.append((of_peak if yours.limit == OF_THE_PEAK else of_memory).format(**numbers))
    if reference is not None and yours.per_second < CLOSE * reference.per_second:
        slow = _(
            "the lines that still run Python: {command} (if no loop has one, each sum waits for the sum before it)"
        )
        words.append(slow.format(command=f"kuiper annotate {exercise.id}"))
    return _("; ").join(words)


def _per_second(speed: Rate) -> str:
    rate, unit = speed.per_second, speed.unit
    factor, prefix, words = next((entry for entry in RATES if rate >= entry[0]), RATES[-1])
    scaled = f"{rate / factor:.2g}" if rate < 100 * factor else f"{rate / factor:.0f}"
    if unit.isupper():
        return f"{scaled} {prefix}{unit}/s"
    return translate(words).format(rate=scaled, unit=translate(unit))


def _most(root: Path, limit: str) -> float | None:
    if limit == OF_THE_PEAK:
        return peak_per_second(root)
    return bytes_per_second(root) if limit == OF_THE_BANDWIDTH else None


def _rate(classroom: Classroom, exercise: Exercise, probe: Callable[..., Any], reference: bool) -> Rate | None:
    """What the probe measures; None if the file is not there, or the call fails."""
    from dataclasses import replace

    selection = replace(classroom.selection_for(exercise), mode="fast")
    if reference:
        path = classroom.reference_file(exercise)
        if path is None:
            return None
        selection = selection.with_path(exercise, path)
    try:
        seen = classroom.implementation(exercise, selection).observe_probe(probe, (), {})
    except CourseError:
        return None
    match seen.value:
        case (float(seconds), int(work), str(unit), *rest) if seconds > 0:
            return Rate(work / seconds, unit, next((limit for limit in LIMITS if rest == [limit]), ""))
    return None
