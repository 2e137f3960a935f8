"""Which level of a wheel a CPU runs, with CPUs and wheels that are made up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from kuiper import build_info
from kuiper.machine import levels
from kuiper.machine.levels import Level, LevelFinder, choose_level, folder_name

if TYPE_CHECKING:
    from collections.abc import Set

ROOT = Path(__file__).parents[2]
SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")

WHEEL: dict[str, Level] = {
    "x86-64-v2": {"flags": ["-march=x86-64-v2"], "requires": ["sse4.2"]},
    "x86-64-v3": {"flags": ["-march=x86-64-v3"], "requires": ["sse4.2", "avx2", "fma"]},
    "x86-64-v4": {"flags": ["-march=x86-64-v4"], "requires": ["sse4.2", "avx2", "fma", "avx512f"]},
}
OLD = frozenset({"sse4.2"})
LAPTOP = frozenset({"sse4.2", "avx", "avx2", "fma", "bmi2"})
SERVER = LAPTOP | {"avx512f", "avx512bw"}


@pytest.mark.parametrize(
    ("features", "level"),
    [(OLD, "x86-64-v2"), (OLD | {"avx2"}, "x86-64-v2"), (LAPTOP, "x86-64-v3"), (SERVER, "x86-64-v4")],
)
def test_choose_level_takes_the_best_that_the_cpu_has_all_of(features: Set[str], level: str) -> None:
    assert choose_level(WHEEL, features, "native") == level


def test_choose_level_takes_the_lowest_where_the_cpu_cannot_be_asked() -> None:
    assert choose_level(WHEEL, None, "native") == "x86-64-v2"


@pytest.mark.parametrize("level", WHEEL)
def test_choose_level_takes_what_is_asked_for(level: str) -> None:
    assert choose_level(WHEEL, SERVER, level) == level


def test_choose_level_names_what_the_cpu_lacks() -> None:
    with pytest.raises(ImportError, match=r"^kuiper: expected a CPU with sse4.2, for which .*; rebuild with"):
        choose_level(WHEEL, frozenset(), "native")
    with pytest.raises(ImportError, match=r"expected a CPU with avx512f, for which .* without; unset KUIPER_ARCH$"):
        choose_level(WHEEL, LAPTOP, "x86-64-v4")


def test_choose_level_names_the_levels_that_there_are() -> None:
    named = r"expected KUIPER_ARCH=x86-64-v2 or x86-64-v3 or x86-64-v4, .* got znver9; unset"
    with pytest.raises(ImportError, match=named):
        choose_level(WHEEL, SERVER, "znver9")


def test_level_finder_finds_the_modules_of_its_folder_only(tmp_path: Path) -> None:
    place = tmp_path / "engine" / "kernels" / f"winograd{SUFFIX}"
    place.parent.mkdir(parents=True)
    place.touch()
    finder = LevelFinder(tmp_path)
    spec = finder.find_spec("kuiper.engine.kernels.winograd")
    assert spec is not None
    assert spec.origin == str(place)
    assert finder.find_spec("kuiper.engine.kernels") is None  # a folder there is no package
    assert finder.find_spec("kuiper.engine.kernels.pooling") is None


def test_use_best_level_looks_nowhere_else_for_the_lowest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "build_config", lambda: SimpleNamespace(LEVELS=WHEEL))
    monkeypatch.setattr(levels, "cpu_features", lambda: OLD)
    monkeypatch.setattr(levels, "_running", "")
    monkeypatch.delenv("KUIPER_ARCH", raising=False)
    before = list(sys.meta_path)
    levels.use_best_level()
    assert sys.meta_path == before
    assert levels.running_level() == "x86-64-v2"


# Import kuiper where this build is a wheel's higher level, and where each compiled module then comes from.
IMPORT_A_WHEEL = """
import runpy, sys, types
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
config = types.SimpleNamespace(**runpy.run_path("kuiper/_build_config.py"))
only = next(iter(config.LEVELS.values()))
config.LEVELS = {"low": {**only, "requires": []}, "high-1": only}
sys.modules["kuiper._build_config"] = config
import kuiper.engine.engine, kuiper.expression, kuiper.onnx.source
files = [Path(module.__file__) for name, module in sys.modules.items()
         if name.startswith("kuiper.") and getattr(module, "__file__", None)]
print(kuiper.build_info()["level"])
print(*sorted(file.name.split(".")[0] for file in files
              if file.name.endswith(tuple(EXTENSION_SUFFIXES)) and "_levels" not in file.parts))
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A copy of kuiper in which the compiled modules stand a second time, as a higher level."""
    copy = tmp_path / "kuiper"
    shutil.copytree(ROOT / "kuiper", copy, ignore=shutil.ignore_patterns("__pycache__", "*.bin", "*.c"))
    for file in list(copy.rglob(f"*{SUFFIX}")):
        place = copy / "_levels" / folder_name("high-1") / file.relative_to(copy)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    return tmp_path


def imported(wheel: Path, arch: str = "") -> list[str]:
    command = [sys.executable, "-c", IMPORT_A_WHEEL]
    environment = {**os.environ, "PYTHONPATH": "", "KUIPER_ARCH": arch}
    done = subprocess.run(command, cwd=wheel, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.thorough
def test_all_compiled_modules_of_a_process_are_of_one_level(wheel: Path) -> None:
    level, beside_the_sources = imported(wheel)
    assert level == "high-1"
    assert beside_the_sources.split() == ["_cyutility", "cpuid"]  # what chooses, made for any CPU
    level, beside_the_sources = imported(wheel, arch="low")
    assert level == "low"
    assert {"step", "program", "convolution", "buffer"} <= set(beside_the_sources.split())


CPUINFO = Path("/proc/cpuinfo")


@pytest.mark.skipif(build_info()["cpu_features"] is None or not CPUINFO.exists(), reason="nothing to compare with here")
def test_cpu_features_are_those_that_linux_lists() -> None:
    flags = next(line for line in CPUINFO.read_text().splitlines() if line.startswith("flags")).split()
    asked = {"sse4.2", "avx", "avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"}
    asked.add("avx_vnni")
    assert levels.cpu_features() == {name for name in asked if name.replace(".", "_") in flags}
