"""A student's way with an installed kuiper: start, red tests, a solved exercise of each course, update.

And the beginning of this way in a Chinese terminal, in which all that a student reads is Chinese.

    python .ci/student.py PYTHON [--without-compiler] [--lectures]

PYTHON is an interpreter that has kuiper[course], in an environment of its own. Nothing of this checkout is used.
``--without-compiler`` hides C compilers (ziglang must not be installed): then .pyx exercises must say in one line what
to install, and all else must work. ``--lectures`` also runs every lecture, which needs kuiper[notebooks] and nbclient.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Run by the installed Python: of each course the first exercise that needs no compiler at all, and one that does.
CHOICE = """
import json
from pathlib import Path
from kuiper.course.hints import solution_text
from kuiper.course.manifest import read_syllabus
syllabus = read_syllabus(Path("."))
chains = {ex.id: [*syllabus.needed_by(ex), ex] for ex in syllabus}
def chain(suits):
    return next(([[ex.id, f"{ex.course.name}/exercises/{ex.file}", solution_text(ex)] for ex in parts]
                 for parts in chains.values() if suits(parts)), None)
plain = [chain(lambda parts: parts[-1] in course.exercises and not any(ex.is_cython for ex in parts))
         for course in syllabus.courses]
compiled = chain(lambda parts: len(parts) == 1 and parts[-1].is_cython)
print(json.dumps([plain, compiled]))
"""
LECTURE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300, resources={"metadata": {"path": "notebooks"}}).execute()
"""


class Student:
    """Somebody in a folder, with an interpreter and what it brings."""

    def __init__(self, python: Path, home: Path, without_compiler: bool, locale: str = "C.UTF-8") -> None:
        self.python, self.folder = python, home
        dropped = ("PYTHONPATH", "CC", "CXX", "KUIPER_", "PYTEST_", "VIRTUAL_ENV", "LC_")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        self.environment |= {"HOME": str(home), "KUIPER_CACHE": str(home / "cache"), "PYTHONIOENCODING": "utf-8"}
        self.environment |= {"COLUMNS": "200", "NO_COLOR": "1", "LANG": locale}
        if without_compiler:
            (home / "empty").mkdir()
            self.environment["PATH"] = str(home / "empty")

    def runs(self, *words: str, code: int = 0, shows: str = "") -> str:
        """Run the interpreter; the exit code and a part of the output must be these."""
        command = [str(self.python), *words]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, encoding="utf-8", check=False
        )
        said = done.stdout + done.stderr
        what = " ".join(words[1:] if words[0] == "-m" else words[2:]) or "the choice of exercises"
        if done.returncode != code or shows not in said or "Traceback" in said:
            sys.exit(f"{what}: expected exit code {code} and {shows!r}, got {done.returncode} and\n{said}")
        print(f"ok  {what}")
        return said

    def kuiper(self, *words: str, code: int = 0, shows: str = "") -> str:
        return self.runs("-m", "kuiper", *words, code=code, shows=shows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", type=Path)
    parser.add_argument("--without-compiler", action="store_true")
    parser.add_argument("--lectures", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # Not resolved: an environment's interpreter is often a link to the system's.
        student = Student(arguments.python.absolute(), Path(home).resolve(), arguments.without_compiler)
        begin(student)
        plain, compiled = json.loads(student.runs("-c", CHOICE))
        solve(student, plain)
        solve_compiled(student, compiled, arguments.without_compiler)
        bring_up_to_date(student, plain)
        if arguments.lectures:
            for path in sorted((student.folder / "notebooks").glob("*.ipynb")):
                student.runs("-c", LECTURE, path.relative_to(student.folder).as_posix())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        begin_in_chinese(Student(arguments.python.absolute(), Path(home).resolve(), False, "zh_CN.UTF-8"))
    print("a student can work")


def begin(student: Student) -> None:
    """From nothing to red tests."""
    student.kuiper("progress", code=1, shows="kuiper course start")
    student.kuiper("course", "start", "my course")
    student.kuiper("course", "start", "my course", code=1, shows="kuiper course update")
    student.folder /= "my course"
    student.kuiper("progress", shows="next: 1.1")
    student.kuiper("hint", "1.1", shows="hint 1 of")
    student.runs("-m", "pytest", "-q", "course1_tensor", code=1, shows="1.1 ")
    shown = [path for name in ("solutions", "bugs", "bug-bank") for path in student.folder.rglob(name)]
    if shown:
        sys.exit(f"expected a folder without solutions, got {shown}")


def begin_in_chinese(student: Student) -> None:
    """From nothing to a mistake that the report names."""
    student.kuiper("course", "start", "课程", shows="接下来：")
    student.folder /= "课程"
    student.kuiper("progress", shows="下一个：1.1")
    student.kuiper("hint", "1.1", shows="提示")
    exercise = student.folder / "course1_tensor" / "exercises" / "offsets_and_strides.py"
    for path, words in ((exercise, "练习 1.1"), (student.folder / "notebooks" / "01_tensors.ipynb", "张量")):
        if words not in path.read_text(encoding="utf-8"):
            sys.exit(f"{path.name}: expected {words}, got none")
    text = exercise.read_text(encoding="utf-8")
    exercise.write_text(re.sub(r"raise NotImplementedError\(.*\)", "return ()", text), encoding="utf-8")
    student.runs("-m", "pytest", "-q", "course1_tensor", "--exercise", "1.1", code=1, shows="个测试通过了")


def solve(student: Student, chains: list[list[list[str]]]) -> None:
    """An exercise of each course, with what it stands on."""
    if len(chains) < 5 or None in chains:
        sys.exit(f"expected an exercise of each course that needs no compiler, got {chains}")
    for parts in chains:
        for id_, file, text in parts:
            (student.folder / file).write_text(text, encoding="utf-8")
            student.kuiper("check", id_, shows="solved")
    student.kuiper("solution", "--yes", "1.2", shows="def ")
    student.kuiper("race", "expressions", shows="kuiper, operator by operator")


def solve_compiled(student: Student, chain: list[list[str]], without_compiler: bool) -> None:
    ((id_, file, text),) = chain
    (student.folder / file).write_text(text, encoding="utf-8")
    if not without_compiler:
        student.kuiper("check", id_, shows="solved")
        return
    said = student.kuiper("check", id_, code=1, shows="; ")
    lines = {line.strip() for line in said.splitlines() if "compiler" in line}
    if len(lines) != 1 or "install" not in lines.pop():
        sys.exit(f"expected one line that says what to install, got\n{said}")


def bring_up_to_date(student: Student, chains: list[list[list[str]]]) -> None:
    """As if an older version had written the folder: one test was another one then, one file was not there."""
    old, missing = "course1_tensor/test_padding.py", "notebooks/01_tensors.ipynb"
    (student.folder / old).write_text("# older\n", encoding="utf-8", newline="\n")
    record_file = student.folder / ".kuiper-course.json"
    record = json.loads(record_file.read_text(encoding="utf-8"))
    record["files"][old] = hashlib.sha256(b"# older\n").hexdigest()[:16]
    del record["files"][missing]
    record_file.write_text(json.dumps(record), encoding="utf-8")
    (student.folder / missing).unlink()
    said = student.kuiper("course", "update", shows=f"updated  {old}")
    for id_, file, text in [part for parts in chains for part in parts]:
        if f"kept     {file}" not in said or (student.folder / file).read_text(encoding="utf-8") != text:
            sys.exit(f"{id_}: expected the student's file, kept, got\n{said}")
    if f"added    {missing}" not in said or not (student.folder / missing).is_file():
        sys.exit(f"expected {missing} to be added, got\n{said}")
    student.kuiper("check", "1.1", shows="solved")


if __name__ == "__main__":
    main()
