"""Print the numbers of the exercises in Cython, for ``kuiper course gates``."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from kuiper.course.manifest import read_syllabus  # noqa: E402

exercises = [exercise for exercise in read_syllabus(ROOT) if exercise.is_cython]
print(*(exercise.id for exercise in exercises))
