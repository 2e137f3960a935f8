"""The compiled part of kuiper: every .pyx below ``kuiper/``, and the flags it is compiled with.

    KUIPER_ARCH=x86-64-v3              the -march value (default: native, the machine that builds)
    KUIPER_DEBUG=1                     bounds checks on, optimisation off
    KUIPER_SANITIZE=address,undefined  the compiler's own checks of every access (gcc and clang; see "make sanitize")
    KUIPER_NO_VECTORS=1                no vector types, as with compilers that have none

Each of these builds has a folder of its own below ``build/``, so that going from one to another compiles nothing twice;
the one that was built last lies beside the sources. The flags that were really used are written to
``kuiper/_build_config.py`` and shown by ``kuiper doctor``.
"""

from __future__ import annotations

import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError

ROOT = Path(__file__).parent
DEBUG = os.environ.get("KUIPER_DEBUG", "0") not in ("", "0")
ARCH = os.environ.get("KUIPER_ARCH", "native")
SANITIZE = os.environ.get("KUIPER_SANITIZE", "")
NO_VECTORS = os.environ.get("KUIPER_NO_VECTORS", "0") not in ("", "0")
KINDS = {"debug": DEBUG, "sanitize": SANITIZE, "no-vectors": NO_VECTORS, ARCH: ARCH != "native"}
BUILD_FOLDER = "/".join(["build", *(kind for kind, wanted in KINDS.items() if wanted)])
MOST_COMPILERS = 8  # at the same time; each takes some hundred megabytes
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

# -march=native also allows what the CPU cannot be asked for by these names. A level is made of nothing else, or of what
# every CPU has that has these.
LEVELS = {
    "x86-64-v4": ("__AVX512F__", "__AVX512BW__", "__AVX512DQ__", "__AVX512VL__", "__BMI2__", "__FMA__"),
    "x86-64-v3": ("__AVX2__", "__BMI2__", "__FMA__"),
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
        candidates = msvc_flags() if msvc else unix_flags(self.machine_flags())
        compile_flags = [flag for flag in candidates if self.accepts([flag])]
        if SANITIZE and not any(flag.startswith("-fsanitize") for flag in compile_flags):
            raise CompileError(f"KUIPER_SANITIZE: expected checks that the compiler knows, got {SANITIZE}")
        openmp_compile, openmp_link = self.openmp_flags(msvc)
        for extension in self.extensions:
            portable = extension.name in PORTABLE
            extension.depends.append("setup.py")  # other flags, another build
            own_flags = [flag for flag in compile_flags if not (portable and is_machine_flag(flag))]
            extension.extra_compile_args = own_flags + openmp_compile
            extension.extra_link_args = openmp_link + [flag for flag in compile_flags if flag.startswith("-fsanitize")]
        self.write_config(compile_flags + openmp_compile, bool(openmp_compile))
        super().build_extensions()

    def machine_flags(self) -> list[str]:
        """Which instructions to use: by default the highest level that the machine which builds has."""
        if platform.machine() in ("arm64", "aarch64"):
            return [f"-mcpu={ARCH}"]
        if ARCH == "native":
            for level, macros in LEVELS.items():
                has_all = all(self.defines(macro, ["-march=native"]) for macro in macros)
                if has_all and self.accepts([f"-march={level}"]):
                    return [f"-march={level}", "-mtune=native"]
        return [f"-march={ARCH}"]

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
        self.force = True  # copy what was asked for, even over a younger build of another kind
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


class BuildPy(build_py):
    """A wheel carries the courses too: a checkout has them beside the package, see kuiper/course/material.py."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            pack = runpy.run_path(str(ROOT / "kuiper/course/material.py"))["pack"]
            pack(ROOT, Path(self.build_lib, "kuiper/course/material"))


def unix_flags(machine: list[str]) -> list[str]:
    """For gcc and clang. -ffast-math is not among them: it turns sigmoid(-100) into NaN."""
    optimise = ["-O1"] if DEBUG or SANITIZE else ["-O3", "-mprefer-vector-width=512"]
    sanitize = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"] if SANITIZE else []
    symbols = "-g1" if SANITIZE else "-g0"  # reports give lines
    macros = ["-DKUIPER_NO_VECTORS"] if NO_VECTORS else []
    own = [*optimise, *machine, *sanitize, symbols, *macros]
    return [*own, "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]


def msvc_flags() -> list[str]:
    """MSVC has no -march=native; AVX2 is its widest safe choice on machines sold since 2015."""
    return ["/Od"] if DEBUG else ["/O2", "/fp:precise", "/arch:AVX2"]


def is_machine_flag(flag: str) -> bool:
    """Whether a flag lets the compiler use instructions that not every CPU has."""
    return flag.startswith(("-march", "-mcpu", "-mtune", "-mprefer", "/arch"))


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
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
    options={
        "build": {"build_base": BUILD_FOLDER},
        "build_ext": {"parallel": min(os.cpu_count() or 1, MOST_COMPILERS)},
    },
)
