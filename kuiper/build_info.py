"""How this copy of kuiper was built, and whether this machine can run it."""

from __future__ import annotations

import importlib
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.threads import available_cores, get_num_threads

if TYPE_CHECKING:
    from types import ModuleType

REBUILD = "rebuild with: pip install --force-reinstall --no-deps . (in a checkout: pip install -e .)"


def build_info() -> dict[str, Any]:
    """Compiler, flags, vector extensions, threads and versions, as one flat dictionary.

    >>> sorted(build_info())[:4]
    ['arch', 'compiler', 'cores', 'cpu_features']
    """
    config, cpu = _build_config(), _cpu()
    features = cpu.features()
    return {
        "compiler": config.COMPILER,
        "flags": " ".join(config.FLAGS),
        "arch": config.ARCH,
        "requires": list(config.REQUIRES),
        "cpu_features": None if features is None else sorted(features),
        "debug": config.DEBUG,
        "openmp": config.OPENMP,
        "threads": get_num_threads(),
        "cores": available_cores(),
        "cython": config.CYTHON,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def check_cpu() -> None:
    """Raise ImportError if the kernels use instructions that this CPU lacks: better one line than SIGILL."""
    features = _cpu().features()
    missing = [] if features is None else [name for name in _build_config().REQUIRES if name not in features]
    if missing:
        needed = ", ".join(missing)
        raise ImportError(f"kuiper: expected a CPU with {needed}, for which it was built, got one without; {REBUILD}")


def _build_config() -> ModuleType:
    return _compiled("kuiper._build_config")


def _cpu() -> ModuleType:
    return _compiled("kuiper.cpu")


def _compiled(name: str) -> ModuleType:
    """Import a product of the build, with the way to build it in the error."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"kuiper: expected the compiled module {name}, got no such file; {REBUILD}") from error
