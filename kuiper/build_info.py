"""How this copy of kuiper was built, and what it runs on."""

from __future__ import annotations

import platform
import sys
from typing import Any

import numpy as np

from kuiper.machine import this_machine
from kuiper.machine.levels import all_levels, build_config, cpu_features, running_level
from kuiper.threads import get_num_threads


def build_info() -> dict[str, Any]:
    """Compiler, flags, levels, vector extensions, threads and versions, as one flat dictionary.

    ``levels`` are those that this copy was built for, ``level`` is the one that runs, ``flags`` and ``requires`` belong
    to it. ``gil`` is False on a free-threaded Python, as long as no package has turned its lock on.

    >>> sorted(build_info())[:4]
    ['arch', 'compiler', 'cores', 'cpu_features']
    """
    config, features = build_config(), cpu_features()
    level = all_levels()[running_level()]
    return {
        "compiler": config.COMPILER,
        "flags": " ".join(level["flags"]),
        "arch": config.ARCH,
        "level": running_level(),
        "levels": list(all_levels()),
        "requires": list(level["requires"]),
        "cpu_features": None if features is None else sorted(features),
        "debug": config.DEBUG,
        "openmp": config.OPENMP,
        "threads": get_num_threads(),
        "cores": this_machine().cores,
        "cython": config.CYTHON,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
        "machine": platform.machine(),
    }
