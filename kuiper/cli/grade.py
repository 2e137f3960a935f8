"""Run the pristine tests of this checkout on submissions, in a sandbox."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kuiper.cli.course import chosen
from kuiper.cli.terminal import fitted, open_console
from kuiper.course.grade import Grade, Report, as_dict, grade_all, gradescope, sums
from kuiper.course.intake import submissions_in
from kuiper.course.manifest import read_syllabus
from kuiper.course.phrases import said
from kuiper.course.places import root_here
from kuiper.course.sandbox import chosen_mode, statement
from kuiper.course.submission import NOT_HANDED_IN
from kuiper.language import _, translate
from kuiper.machine.processes import need_processes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help=_("a submission, or a folder of them"))
    parser.add_argument("--exercise", action="append", default=[], metavar="ID", help=_("only this exercise or course"))
    parser.add_argument("--json", type=Path, metavar="FILE", help=_("write all reports"))
    parser.add_argument(
        "--gradescope", type=Path, metavar="PATH", help=_("results.json, or a folder for several of them")
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help=_("for each exercise of a submission (default: 60)")
    )
    words = _("time what is solved, and give points for speed where the manifest has them; one submission at a time")
    parser.add_argument("--speed", action="store_true", help=words)
    parser.add_argument(
        "--sandbox", metavar="MODE", help=_("bubblewrap, namespaces or limits (default: the best that works)")
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help=_("submissions at once (default: all cores)")
    )


def execute(arguments: argparse.Namespace) -> int:
    need_processes("submissions", "that hold a submission's code apart")
    syllabus = read_syllabus(root_here())
    exercises = chosen(syllabus, arguments.exercise)
    submissions = submissions_in(syllabus, arguments.folder.resolve())
    console = open_console()
    mode = chosen_mode(arguments.sandbox)
    console.print(fitted(statement(mode), console.width), style="dim")
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(_("grading"), total=len(submissions))
        reports = grade_all(
            syllabus,
            exercises,
            submissions,
            arguments.seconds,
            arguments.jobs,
            lambda report: bar.advance(task),
            mode,
            arguments.speed,
        )
    console.print(table_of(reports) if len(reports) > 1 else details(reports[0]))
    for report in reports:
        for words in report.odd:
            console.print(_("look at {submission} {words}").format(submission=report.name, words=words), soft_wrap=True)
    store(reports, arguments.json, arguments.gradescope)
    return 0


def details(report: Report) -> Table:
    """One submission, one line for each exercise that was handed in, and one for the others."""
    title = _("{submission}: {points} of {full} points")
    if report.most_speed:
        title = _("{submission}: {points} of {full} points, {speed} of {most_speed} for speed")
    title = title.format(submission=report.name, **sums(report))
    table = Table(title=title, box=None, title_justify="left")
    for heading in ("", _("exercise"), _("points"), _("tests"), _("verdict"), *_speed_heading(report.most_speed)):
        table.add_column(heading)
    for grade in _handed_in(report):
        counts = f"{grade.points}/{grade.full}", f"{grade.passed}/{grade.tests}"
        words = [grade.id, translate(grade.title, "hints"), *counts, said(grade.verdict)]
        words += [f"{grade.speed}/{grade.most_speed}"] if grade.most_speed else []
        table.add_row(*words, style="green" if grade.points else "red")
    if missing := len(report.grades) - len(_handed_in(report)):
        table.add_row("", _missing(missing), style="dim")
    return table


def table_of(reports: list[Report]) -> Table:
    """Many submissions, one line for each."""
    table, is_timed = Table(box=None), any(report.most_speed for report in reports)
    for heading in (_("submission"), _("points"), *_speed_heading(is_timed), _("solved"), _("not solved")):
        table.add_column(heading)
    for report in reports:
        solved = [grade.id for grade in report.grades if grade.points]
        failed = _("{exercise} ({verdict})")
        wrong = [grade for grade in _handed_in(report) if not grade.points]
        others = [failed.format(exercise=grade.id, verdict=said(grade.verdict)) for grade in wrong]
        missing = len(report.grades) - len(_handed_in(report))
        others += [_missing(missing)] if missing else []
        speed = [f"{report.speed}/{report.most_speed}"] if is_timed else []
        table.add_row(report.name, f"{report.points}/{report.full}", *speed, " ".join(solved), _(", ").join(others))
    return table


def _speed_heading(is_timed: object) -> list[str]:
    return [_("speed")] if is_timed else []


def _missing(count: int) -> str:
    return _("{count} not handed in").format(count=count)


def _handed_in(report: Report) -> list[Grade]:
    return [grade for grade in report.grades if grade.verdict != NOT_HANDED_IN]


def store(reports: list[Report], everything: Path | None, scores: Path | None) -> None:
    """Write the files that were asked for."""
    if everything:
        everything.write_text(json.dumps([as_dict(report) for report in reports], indent=1), encoding="utf-8")
    if scores and len(reports) == 1 and scores.suffix == ".json":
        scores.write_text(json.dumps(gradescope(reports[0]), indent=1), encoding="utf-8")
    elif scores:
        scores.mkdir(parents=True, exist_ok=True)
        for name, report in zip(_different([report.name for report in reports]), reports, strict=True):
            path = scores / f"{name}.json"
            path.write_text(json.dumps(gradescope(report), indent=1), encoding="utf-8")


def _different(names: list[str]) -> list[str]:
    """File names: those of folders, of which two can look alike without the characters that cannot be printed."""
    found: list[str] = []
    for name in names:
        plain = name.replace("\n", "").replace("/", "").lstrip(".") or "submission"
        found.append(plain if plain not in found else f"{plain}-{len(found) + 1}")
    return found
