"""The language of the notebook that runs in this process, which its metadata says: ``{"kuiper": {"language": "zh"}}``.

A kernel does not know its notebook. Jupyter's server says its name to kernels that it starts for one
(JPY_SESSION_NAME), VS Code in a variable of the notebook's own.
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from kuiper.bounded_file import read_text
from kuiper.course.errors import CourseError


def notebook_language() -> str:
    """What the notebook says; "" if none runs here, or none that says anything."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return ""
    name = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    return language_in(Path(str(name))) if str(name).endswith(".ipynb") else ""


@lru_cache(maxsize=4)
def language_in(path: Path) -> str:
    """What the file of a notebook says; "" if it says nothing, or cannot be read."""
    try:
        return str(json.loads(read_text(path, CourseError, "a notebook"))["metadata"]["kuiper"]["language"])
    except (CourseError, ValueError, KeyError, TypeError):
        return ""
