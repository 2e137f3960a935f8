"""pytest as a student starts it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from kuiper.course.places import python_environment
from kuiper.course.pytest_command import LEFT_OUT

if TYPE_CHECKING:
    from kuiper.course.manifest import Syllabus


def student_runs(syllabus: Syllabus, *words: str, cwd: str = ".", width: int = 400) -> tuple[int, str]:
    """On a terminal so wide that no sentence is folded, unless the test asks for another."""
    command = [sys.executable, "-m", "pytest", *LEFT_OUT, "--import-mode=importlib", *words]
    folder = syllabus.root / cwd
    environment = {**python_environment(), "COLUMNS": str(width)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
