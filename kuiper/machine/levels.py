"""Which build of the compiled modules runs on this CPU: decided once, before any of them is imported.

A build from source has one level, for the machine that built it or for what KUIPER_ARCH said. A wheel has several:

    kuiper/engine/step.so                            the lowest level, beside the sources
    kuiper/_levels/x86_64_v3/engine/step.so          the same module for CPUs with AVX2
    kuiper/_levels/x86_64_v4/engine/step.so          and for those with AVX-512

The wheel for browsers has two, wasm32-simd128 and wasm32-relaxed-simd.

The best one that the CPU can run is taken; the variable KUIPER_ARCH asks for one by name. All compiled modules of a
process that know vectors are of one level: they share the number of floats in a vector. The few that know none lie
beside the sources only (``SAME_AT_ALL_LEVELS`` in ``setup.py``).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from kuiper.machine import webassembly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from importlib.machinery import ModuleSpec
    from types import ModuleType

REBUILD = "rebuild with: pip install --force-reinstall --no-deps . (in a checkout: pip install -e .)"


class Level(TypedDict):
    """How the modules of one level were compiled; written by setup.py."""

    flags: list[str]
    requires: list[str]  # what the CPU must have, by the names of ``kuiper.machine.cpuid.features``


class LevelFinder:
    """Finds the compiled modules of one level, before Python looks beside the sources.

    Parameters
    ----------
    folder : laid out like the package ``kuiper``, with nothing but compiled modules in it
    """

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, Path] = {}
        for suffix in EXTENSION_SUFFIXES:
            for file in folder.rglob(f"*{suffix}"):
                # A suffix may end in another (.cpython-311-x86_64-linux-gnu.so, .so); the longest comes first.
                parts = file.relative_to(folder).parent.parts
                self.files.setdefault(".".join(["kuiper", *parts, file.name.split(".")[0]]), file)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks every entry of ``sys.meta_path`` when a module is imported for the first time."""
        file = self.files.get(name)
        return None if file is None else importlib.util.spec_from_file_location(name, file)


def use_best_level() -> None:
    """Choose the level of this process and see to it that its modules are found.

    Raises
    ------
    ImportError
        If this CPU, or this copy of kuiper, cannot run what is asked for: better one line than SIGILL.
    """
    global _running
    levels = all_levels()
    _running = choose_level(levels, cpu_features(), os.environ.get("KUIPER_ARCH") or "native")
    if _running != next(iter(levels)):
        sys.meta_path.insert(0, LevelFinder(Path(__file__).parents[1] / "_levels" / folder_name(_running)))


def choose_level(levels: Mapping[str, Level], features: Set[str] | None, wanted: str) -> str:
    """The level to run: the one that ``wanted`` names, or with "native" the last one that the CPU has all of.

    Parameters
    ----------
    levels : from the lowest to the highest
    features : what the CPU has; None where that cannot be asked: then the lowest level is taken

    >>> levels = {"x86-64-v2": {"requires": ["sse4.2"], "flags": []}, "x86-64-v3": {"requires": ["avx2"], "flags": []}}
    >>> choose_level(levels, {"sse4.2", "avx2"}, "native")
    'x86-64-v3'
    """
    if wanted != "native":
        if wanted not in levels:
            built = " or ".join(levels)
            hint = f"unset KUIPER_ARCH, or build for {wanted} (docs/use/install.md)"
            raise ImportError(f"kuiper: expected KUIPER_ARCH={built}, for which it was built, got {wanted}; {hint}")
        levels = {wanted: levels[wanted]}
    if features is None:
        return next(iter(levels))
    runnable = [name for name, level in levels.items() if features >= set(level["requires"])]
    if not runnable:
        lowest = next(iter(levels.values()))
        missing = ", ".join(name for name in lowest["requires"] if name not in features)
        hint = REBUILD if wanted == "native" else "unset KUIPER_ARCH"
        raise ImportError(f"kuiper: expected a CPU with {missing}, for which it was built, got one without; {hint}")
    return runnable[-1]


def running_level() -> str:
    """The level whose modules this process uses."""
    return _running


def all_levels() -> dict[str, Level]:
    """The levels in this copy of kuiper, from the lowest to the highest."""
    levels: dict[str, Level] = build_config().LEVELS
    return levels


def cpu_features() -> Set[str] | None:
    """The vector extensions of this CPU, or None where they cannot be asked for."""
    if sys.platform == "emscripten":
        return webassembly.features()
    features: Set[str] | None = _compiled("kuiper.machine.cpuid").features()
    return features


def splits_avx512() -> bool:
    """Whether this CPU executes a vector of AVX-512 in two halves, so that it does half as many in a cycle."""
    splits: bool = _compiled("kuiper.machine.cpuid").splits_avx512()
    return splits


def build_config() -> ModuleType:
    """The note that setup.py leaves: how this copy was built."""
    return _compiled("kuiper._build_config")


def folder_name(level: str) -> str:
    """A level's name as that of a package.

    >>> folder_name("x86-64-v3")
    'x86_64_v3'
    """
    return level.replace("-", "_")


def _compiled(name: str) -> ModuleType:
    """Import a product of the build, with the way to build it in the error."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"kuiper: expected the compiled module {name}, got no such file; {REBUILD}") from error


_running = ""
