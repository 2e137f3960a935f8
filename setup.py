"""The compiled part of kuiper: every .pyx below ``kuiper/``, and the flags it is compiled with.

    KUIPER_ARCH=x86-64-v3    the -march value (default: native, the machine that builds)
    KUIPER_DEBUG=1           bounds checks on, optimisation off

The flags that were really used are written to ``kuiper/_build_config.py`` and shown by ``kuiper doctor``.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
DEBUG = os.environ.get("KUIPER_DEBUG", "0") not in ("", "0")
ARCH = os.environ.get("KUIPER_ARCH", "native")
SHARED_UTILITY = "kuiper._cyutility"
BUILD_CONFIG = "kuiper/_build_config.py"

# These must load on any CPU: they are what reports that the rest cannot run on it.
PORTABLE = (SHARED_UTILITY, "kuiper.cpu")

# What the compiler defines when it may use a vector extension, and how the CPU is asked for it.
MACROS = {
    "__SSE4_2__": "sse4.2",
    "__AVX__": "avx",
    "__AVX2__": "avx2",
    "__FMA__": "fma",
    "__BMI2__": "bmi2",
    "__AVX512F__": "avx512f",
    "__AVX512BW__": "avx512bw",
    "__AVX512DQ__": "avx512dq",
    "__AVX512VL__": "avx512vl",
}

# Directives stand here and nowhere else: a "# cython:" line in a .pyx would override the debug build.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}


class BuildExt(build_ext):
    """Ask the compiler which flags it takes, compile with those, and write them down."""

    def build_extensions(self) -> None:
        msvc = self.compiler.compiler_type == "msvc"
        candidates = msvc_flags() if msvc else unix_flags()
        compile_flags = [flag for flag in candidates if self.accepts([flag])]
        openmp_compile, openmp_link = self.openmp_flags(msvc)
        for extension in self.extensions:
            portable = extension.name in PORTABLE
            own_flags = [flag for flag in compile_flags if not (portable and is_machine_flag(flag))]
            extension.extra_compile_args = own_flags + openmp_compile
            extension.extra_link_args = openmp_link
        self.write_config(compile_flags + openmp_compile, bool(openmp_compile))
        super().build_extensions()

    def accepts(self, compile_flags: list[str], link_flags: tuple[str, ...] = (), source: str = "") -> bool:
        """Whether a small program compiles and links with these flags."""
        source = source or "int main(void) { return 0; }"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "probe.c")
            path.write_text(source)
            stderr = os.dup(2)
            with open(os.devnull, "w") as devnull:
                os.dup2(devnull.fileno(), 2)  # the compiler writes to the file descriptor, not to sys.stderr
            try:
                objects = self.compiler.compile([str(path)], output_dir=folder, extra_postargs=compile_flags)
                self.compiler.link_executable(
                    objects, "probe", output_dir=folder, extra_postargs=[*compile_flags, *link_flags]
                )
            except Exception:
                return False
            finally:
                os.dup2(stderr, 2)
                os.close(stderr)
        return True

    def defines(self, macro: str, compile_flags: list[str]) -> bool:
        """Whether the compiler defines a macro under these flags."""
        source = f"#ifndef {macro}\n#error\n#endif\nint main(void) {{ return 0; }}"
        return self.accepts(compile_flags, source=source)

    def openmp_flags(self, msvc: bool) -> tuple[list[str], list[str]]:
        """Compile and link flags for OpenMP; none where the compiler lacks it (``prange`` is then a plain loop)."""
        source = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }"
        choices = [(["/openmp"], [])] if msvc else [(["-fopenmp"], ["-fopenmp"])]
        if sys.platform == "darwin":
            prefix = Path(os.environ.get("LIBOMP_PREFIX", "/opt/homebrew/opt/libomp"))
            include, library = f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}"
            choices.append((["-Xpreprocessor", "-fopenmp", include], [library, "-lomp"]))
        for compile_flags, link_flags in choices:
            if self.accepts(compile_flags, tuple(link_flags), source):
                return compile_flags, link_flags
        return [], []

    def copy_extensions_to_source(self) -> None:
        """An in-place or editable build keeps its products, this note among them, beside the sources."""
        super().copy_extensions_to_source()
        shutil.copyfile(Path(self.build_lib, BUILD_CONFIG), ROOT / BUILD_CONFIG)

    def write_config(self, flags: list[str], openmp: bool) -> None:
        config = {
            "compiler": compiler_version(self.compiler),
            "flags": flags,
            "arch": ARCH,
            "debug": DEBUG,
            "openmp": openmp,
            "requires": [name for macro, name in MACROS.items() if self.defines(macro, flags)],
            "cython": cython_version,
        }
        path = Path(self.build_lib, BUILD_CONFIG)
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f"{key.upper()} = {value!r}\n" for key, value in config.items())
        path.write_text(f'"""Written by setup.py: how this copy of kuiper was built."""\n\n{body}')


def unix_flags() -> list[str]:
    """For gcc and clang. -ffast-math is not among them: it turns sigmoid(-100) into NaN."""
    machine = [f"-march={ARCH}"]
    if platform.machine() in ("arm64", "aarch64"):
        machine = [f"-mcpu={ARCH}"]
    optimise = ["-O1"] if DEBUG else ["-O3", "-mprefer-vector-width=512"]
    return [*optimise, *machine, "-g0", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]


def msvc_flags() -> list[str]:
    """MSVC has no -march=native; AVX2 is its widest safe choice on machines sold since 2015."""
    return ["/Od"] if DEBUG else ["/O2", "/fp:precise", "/arch:AVX2"]


def is_machine_flag(flag: str) -> bool:
    """Whether a flag lets the compiler use instructions that not every CPU has."""
    return flag.startswith(("-march", "-mcpu", "-mprefer", "/arch"))


def compiler_version(compiler: object) -> str:
    """The first line of ``gcc --version``, or the compiler's kind."""
    command = getattr(compiler, "compiler", None)
    if not command:
        return str(getattr(compiler, "compiler_type", "unknown"))
    try:
        answer = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return json.dumps(command)
    return answer.stdout.splitlines()[0]


def extensions() -> list[Extension]:
    """One extension for each .pyx, and the module that holds what Cython's modules share."""
    found = []
    for path in sorted((ROOT / "kuiper").rglob("*.pyx")):
        relative = path.relative_to(ROOT)
        name = ".".join(relative.with_suffix("").parts)
        found.append(Extension(name, [relative.as_posix()]))
    shared = Extension(SHARED_UTILITY, ["kuiper/_cyutility.c"])
    return [shared, *found]


setup(
    ext_modules=cythonize(
        extensions(),
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED_UTILITY,
        build_dir="build/cython-debug" if DEBUG else "build/cython",  # cythonize looks at dates, not at directives
        quiet=True,
    ),
    cmdclass={"build_ext": BuildExt},
)
