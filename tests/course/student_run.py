"""pytest as a student starts it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from kuiper.course.places import python_environment
from kuiper.course.pytest_command import LEFT_OUT

if TYPE_CHECKING:
    from kuiper.course.manifest import Syllabus


def student_runs(syllabus: Syllabus, *words: str, cwd: str = ".") -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", *LEFT_OUT, "--import-mode=importlib", *words]
    folder = syllabus.root / cwd
    done = subprocess.run(command, cwd=folder, env=python_environment(), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
