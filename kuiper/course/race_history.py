"""What earlier races have shown: the shortest time, and the points for speed.

A manifest has the rising ratios of races as ``speed`` of its ``afterwards``. Each of them that your time reaches, as a
part of the reference's in the same race, is a point: where every layer is yours, and all outputs agree.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

from kuiper.course.ladder import OF_THE_REFERENCE, own_time
from kuiper.course.places import state_folder
from kuiper.course.speed import reached, sum_words
from kuiper.course.state_file import read_state, write_state
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kuiper.course.manifest import Syllabus
    from kuiper.course.race import Result


def remember(root: Path, result: Result) -> list[dict[str, Any]]:
    """Append a result to the history; all of it, the newest last."""
    entries = [*history(root), {"time": time.strftime("%Y-%m-%dT%H:%M:%S"), **asdict(result)}]
    write_state(_file(root), entries)
    return entries


def history(root: Path) -> list[dict[str, Any]]:
    """All races, the newest last."""
    before = read_state(_file(root))
    return [entry for entry in before if _is_entry(entry)] if isinstance(before, list) else []


def best_before(entries: Sequence[Mapping[str, Any]], model: str, machine: str) -> float | None:
    """The shortest time of the student's in races of a model on a machine whose answers were right; None if none was.

    >>> right = {"model": "m", "yours": ["1.1"], "ladder": {"your layers": 4.0}, "divergence": None, "failures": []}
    >>> wrong = {**right, "ladder": {"your layers": 2.0}, "divergence": {"operator": "conv"}}
    >>> other = {**right, "ladder": {"your layers": 1.0}, "machine": "server"}
    >>> best_before([right, wrong, other], "m", ""), best_before([wrong], "m", "")
    (4.0, None)
    """
    counted = [
        entry
        for entry in entries
        if _is_right(entry) and (entry["model"], entry.get("machine", "")) == (model, machine)
    ]
    return min((own_time(entry["ladder"]) for entry in counted), default=None)


def ratio_of(ladder: Mapping[str, Any]) -> float:
    """Your speed as a part of the reference's in one race; 0 where the reference has not run in it.

    >>> ratio_of({"your layers": 4.0, "the reference's layers": 2.0, "kuiper": 0.3})
    0.5
    """
    times = [
        (ladder[yours], ladder[other]) for yours, other in OF_THE_REFERENCE.items() if {yours, other} <= ladder.keys()
    ]
    return max((other / yours for yours, other in times if yours > 0), default=0.0)


def points_for_races(syllabus: Syllabus, entries: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, str]]:
    """The points for speed of each race that has some to give, and the machine of the best one."""
    found = {}
    for model, ratios in syllabus.race_ratios().items():
        of_model = [entry for entry in entries if entry["model"] == model and _is_right(entry)]
        best = max(of_model, key=lambda entry: ratio_of(entry["ladder"]), default=None)
        if best is not None and (count := reached(ratios, ratio_of(best["ladder"]))):
            found[model] = (count, str(best.get("machine", "")))
    return found


def all_race_points(syllabus: Syllabus) -> str:
    """One line for ``kuiper progress``, with the machines; "" while there are no points."""
    full = {model: len(ratios) for model, ratios in syllabus.race_ratios().items()}
    return sum_words(_("points for speed in races"), points_for_races(syllabus, history(syllabus.root)), full)


def _is_right(entry: Mapping[str, Any]) -> bool:
    return bool(entry["yours"]) and not (entry.get("divergence") or entry.get("failures"))


def _file(root: Path) -> Path:
    return state_folder(root) / "race.json"


def _is_entry(entry: Any) -> bool:
    """Whether an entry of the file has what later races are compared with."""
    if not isinstance(entry, dict) or not {"model", "yours", "ladder"} <= entry.keys():
        return False
    times = entry["ladder"]
    if not isinstance(times, dict) or not all(
        isinstance(each, (int, float)) and 0 <= each < inf for each in times.values()
    ):
        return False
    return not entry["yours"] or not _is_right(entry) or own_time(times) is not None
