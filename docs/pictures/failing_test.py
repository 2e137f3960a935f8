"""The report on an exercise with a mistake in it, as the README shows it, in each language that has a README.

python docs/pictures/failing_test.py        writes failing_test.svg and failing_test.zh-CN.svg beside itself

A student's folder is written somewhere else, exercise 1.3 is answered with a mistake from its bug bank, and what pytest
prints becomes a picture. The time that pytest took is left out, so that the same report always gives the same picture.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kuiper.course.bugs import patched, read_bugs
from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import pytest_environment
from kuiper.course.translations import editions
from kuiper.language import ENGLISH, tag, translate

ROOT = Path(__file__).parents[2]
EXERCISE, BUG = "1.3", "clockwise"
COMMAND = "pytest course1_tensor --exercise 1.3"
COLUMNS = 107
STYLES = {
    "expected{place}": "bold",
    "got{place}": "bold",
    "likely: this is what you get when {mistakes}": "bold yellow",
    "next: {exercise} ({minutes} minutes), {place}": "green",
}
"""How the beginnings of lines look, by their messages."""

# The picture without rich's own fonts, which would be fetched from the network.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A failing test</title>
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def report(language: str) -> str:
    """What pytest prints about the exercise with the mistake, without the lines around it."""
    exercise = read_syllabus(ROOT).exercise(EXERCISE)
    bug = next(bug for bug in read_bugs(exercise) if bug.name == BUG)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "kuiper-course"
        start(folder, solutions=False, language=language)
        answer = patched(exercise.solution_file.read_text(encoding="utf-8"), bug, str(exercise.bugs_file))
        (folder / exercise.student_file.relative_to(ROOT)).write_text(answer, encoding="utf-8")
        environment = {**pytest_environment(), "COLUMNS": str(COLUMNS), "PYTHONIOENCODING": "utf-8"}
        environment["KUIPER_LANG"] = language
        command = [sys.executable, "-m", *COMMAND.split(), "--color=no", "-p", "no:cacheprovider"]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    exercises = run.stdout.split(f" {translate('exercises', into=language)} ==", 1)[1].split("\n", 1)[1]
    return re.sub(r"\n{3,}", "\n\n", exercises.rpartition("\n=")[0].strip("\n"))


def picture(text: str, language: str) -> str:
    """The SVG of a terminal that shows the command and this text."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_jupyter=False)
    shown = Text(f"$ {COMMAND}\n\n{text}\n")
    shown.highlight_regex(r"(?m)^\$ .*", "bold")
    for message, style in STYLES.items():
        beginning = translate(message, into=language).partition("{")[0]
        shown.highlight_regex(re.escape(beginning) + ("" if style == "bold" else ".*"), style)
    console.print(shown)
    return console.export_svg(title="A failing test", code_format=SVG, unique_id="report")


def main() -> None:
    for language, file in files().items():
        file.write_text(picture(report(language), language), encoding="utf-8")


def files() -> dict[str, Path]:
    """The picture in each language that has a README."""
    here = Path(__file__)
    endings = {name: ".svg" if name == ENGLISH else f".{tag(name)}.svg" for name in editions(ROOT / "README.md")}
    return {name: here.with_suffix(ending) for name, ending in endings.items()}


if __name__ == "__main__":
    main()
