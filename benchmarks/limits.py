"""What the machine can do at best, measured: multiply-adds per second, and bytes per second from its caches and memory.

The loops are in ``limits_loops.pyx``, compiled when first needed: with kuiper's compiler flags, but for this CPU, since
the peers, too, use all that it has, or for AVX2, if kuiper is built for no more; or, to tell what kuiper's kernels can
reach, exactly as this copy was built.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import shutil
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

import kuiper
from benchmarks.errors import INSTALL, BenchmarkError
from benchmarks.machine import cache_sizes, has_more_than, memory_bytes
from benchmarks.places import CACHE
from kuiper.compiler import find_compiler, missing, prepare, use

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

SOURCE = Path(__file__).with_name("limits_loops.pyx")
TRIALS = 20
SECONDS = 0.01  # of a trial: long for a clock, short for a scheduler


def peak_gflops(threads: int, of_build: bool = False) -> float:
    """GFLOP/s of multiply-adds that touch no memory, a multiply-add counted as two: of the machine, or of the build."""
    loops = compiled_loops(of_build)
    results = np.empty(threads, np.float32)

    def run(steps: int) -> None:
        loops.multiply_adds(steps, results, 0.5, 1.0)

    flops_per_step: int = loops.FLOPS_PER_STEP
    return fastest_rate(run) * threads * flops_per_step / 1e9


def read_gb_per_second(size: int, threads: int, of_build: bool = False) -> float:
    """GB/s (of 10^9 bytes) at which all threads together read, each over and over its own ``size`` bytes."""
    loops = compiled_loops(of_build)
    data = np.ones((threads, max(size // 4, 1)), np.float32)
    results = np.empty(threads, np.float32)

    def run(passes: int) -> None:
        loops.read(data, passes, results)

    return fastest_rate(run) * data.nbytes / 1e9


def copy_gb_per_second(size: int, threads: int, of_build: bool = False) -> float:
    """GB/s read and written, as one sum, where each thread copies one half of its ``size`` bytes to the other."""
    loops = compiled_loops(of_build)
    data = np.ones((threads, max(size // 4, 2)), np.float32)

    def run(passes: int) -> None:
        loops.copy(data, passes)

    return fastest_rate(run) * data.nbytes / 1e9


def cache_read_gb_per_second(threads: int) -> float:
    """From the L2 cache: half of it, so that it stays there."""
    return read_gb_per_second(cache_sizes().get("L2", 2**19) // 2, threads)


def memory_read_gb_per_second(threads: int) -> float:
    """From main memory."""
    return read_gb_per_second(beyond_caches() // threads, threads)


def beyond_caches() -> int:
    """Bytes that no cache holds: twice the last one, or 256 MiB where it is not known; at most 1/8 of the memory."""
    last_cache = max(cache_sizes().values(), default=0)
    total = max(2 * last_cache, 2**28)
    return min(total, memory_bytes() // 8) if memory_bytes() else total


@dataclass(frozen=True)
class Level:
    """A cache, or the memory: how many bytes it holds, and GB/s read from it, and read and written in a copy."""

    name: str
    size: float
    read: float
    copy: float

    def seconds(self, read: int, written: int) -> float:
        """What it takes at best: each byte that is written is copied, as it were, the others are only read."""
        copied = min(read, written)
        return (2 * copied / self.copy + (max(read, written) - copied) / self.read) / 1e9


def levels(threads: int) -> list[Level]:
    """The second-level cache and what lies behind it, measured with the vectors of this build on half of each."""
    sizes = {name: size for name, size in cache_sizes().items() if name != "L1"}
    found = [
        Level(name, size, *_rates(size // 2 // (threads if name != "L2" else 1), threads))
        for name, size in sizes.items()
    ]
    return [*found, Level("memory", float("inf"), *_rates(beyond_caches() // threads, threads))]


def _rates(size: int, threads: int) -> tuple[float, float]:
    return read_gb_per_second(size, threads, of_build=True), copy_gb_per_second(size, threads, of_build=True)


def fastest_rate(run: Callable[[int], None]) -> float:
    """Repetitions per second of ``run(repetitions)`` in the best of many trials."""
    repetitions = 1
    while shortest(run, repetitions, trials=5) < SECONDS:  # of several, lest one interruption end the search
        repetitions *= 2
    return repetitions / shortest(run, repetitions, TRIALS)


def shortest(run: Callable[[int], None], repetitions: int, trials: int) -> float:
    """Seconds of the fastest of some calls."""
    seconds = float("inf")
    for _ in range(trials):
        started = perf_counter()
        run(repetitions)
        seconds = min(seconds, perf_counter() - started)
    return seconds


@functools.cache
def compiled_loops(of_build: bool) -> ModuleType:
    """``limits_loops.pyx`` as a module, compiled unless this text has been compiled before."""
    refuse_debug_build()
    info = kuiper.build_info()
    flags = info["flags"].split()
    if not of_build:
        flags = flags_for("x86-64-v3" if has_more_than(info) else "native", flags)
    digest = hashlib.sha256(SOURCE.read_bytes() + repr(flags).encode()).hexdigest()[:16]
    binary = CACHE / f"limits-{digest}" / f"{SOURCE.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not binary.exists():
        build(binary, flags)
    loader = importlib.machinery.ExtensionFileLoader(SOURCE.stem, str(binary))
    spec = importlib.util.spec_from_file_location(SOURCE.stem, binary, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def refuse_debug_build() -> None:
    """Raise BenchmarkError for a kuiper that checks every index: it is slow, and so are its compiler flags."""
    if kuiper.build_info()["debug"]:
        raise BenchmarkError("benchmarks", "a release build of kuiper", "one with bounds checks (KUIPER_DEBUG=1)")


def flags_for(level: str, flags: list[str]) -> list[str]:
    """The same flags for another CPU.

    >>> flags_for("native", ["-O3", "-march=x86-64-v3", "-fopenmp"])
    ['-O3', '-march=native', '-fopenmp']
    """
    machine = ("-march=", "-mcpu=")
    return [f"{flag.split('=')[0]}={level}" if flag.startswith(machine) else flag for flag in flags]


def build(binary: Path, flags: list[str]) -> None:
    """Compile the loops.

    Raises
    ------
    BenchmarkError
        If Cython, setuptools or a C compiler is missing.
    """
    try:
        from Cython.Build import cythonize
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
    except ModuleNotFoundError as error:
        raise BenchmarkError("limits", "Cython and setuptools", f"no module {error.name}", hint=INSTALL) from error
    found = find_compiler()
    if found is None:
        expected, got, hint = missing()
        raise BenchmarkError("limits", expected, got, hint=hint)
    compiler = found

    class BuildExt(build_ext):  # type: ignore[misc]
        def build_extensions(self) -> None:
            use(self.compiler, compiler)
            super().build_extensions()

    with tempfile.TemporaryDirectory() as scratch:
        source = shutil.copy(SOURCE, scratch)
        link = [flag for flag in flags if flag == "-fopenmp"]
        extension = Extension(SOURCE.stem, [source], extra_compile_args=flags, extra_link_args=link)
        directives = {"language_level": 3, "boundscheck": False, "wraparound": False}
        modules = cythonize([extension], compiler_directives=directives, quiet=True)
        command = BuildExt(Distribution({"name": SOURCE.stem, "ext_modules": modules}))
        prepare(command, compiler)
        command.build_lib, command.build_temp = scratch, scratch
        try:
            command.ensure_finalized()
            command.run()
        except Exception as error:  # each platform's compiler class has errors of its own
            raise BenchmarkError(
                "limits", f"a C compiler for {SOURCE.name}", error, hint="see: kuiper doctor"
            ) from error
        binary.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(Path(scratch, binary.name), binary)
