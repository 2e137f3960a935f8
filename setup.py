"""The compiled part of kuiper: every .pyx below ``kuiper/``, and the flags it is compiled with.

    KUIPER_ARCH=x86-64-v3              the -march value (default: native, the machine that builds)
    KUIPER_TUNE=znver3                 the -mtune value (default: native where KUIPER_ARCH is)
    KUIPER_LEVELS="x86-64-v2 ..."      for a wheel: every module once for each of these, from the lowest to the highest;
                                       ``kuiper/machine/levels.py`` chooses among them when kuiper is imported
    KUIPER_DEBUG=1                     bounds checks on, optimisation off
    KUIPER_SANITIZE=address,undefined  the compiler's own checks of every access (gcc and clang; see "make sanitize")
    KUIPER_NO_VECTORS=1                no vector types, as with compilers that have none
    KUIPER_LANES=16                    vectors of 16 floats (or 8, or 4) with no instructions of their own, for tests
    KUIPER_EMULATE=avx512              SIMDe's functions in place of AVX-512's instructions, for tests (libsimde-dev)

Each of these builds has a folder of its own below ``build/``, so that going from one to another compiles nothing twice;
the one that was built last lies beside the sources. The flags that were really used are written to
``kuiper/_build_config.py`` and shown by ``kuiper doctor``.

All cores compile in ``pip install``, ``pip install -e`` and ``setup.py build_ext --inplace``. What is there already
is not compiled again: by its content, the compiler and its flags (``packaging/stamps.py``), whatever the dates of a
copy say.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from Cython import __version__ as cython_version
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError
from setuptools.modified import newer_group

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent
DEBUG = os.environ.get("KUIPER_DEBUG", "0") not in ("", "0")
ARCH = os.environ.get("KUIPER_ARCH", "native")
TUNE = os.environ.get("KUIPER_TUNE", "")
SANITIZE = os.environ.get("KUIPER_SANITIZE", "")
NO_VECTORS = os.environ.get("KUIPER_NO_VECTORS", "0") not in ("", "0")
LANES = os.environ.get("KUIPER_LANES", "")
EMULATE = os.environ.get("KUIPER_EMULATE", "")
WHEEL_LEVELS = os.environ.get("KUIPER_LEVELS", "").split()


# By its path: before it is compiled, kuiper cannot be imported.
def loaded(path: Path) -> ModuleType:
    """A module of this checkout."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compilers = loaded(ROOT / "kuiper" / "compiler.py")
stamps = loaded(ROOT / "packaging" / "stamps.py")
COMPILER = compilers.find_compiler()
ZIG = COMPILER is not None and COMPILER.is_zig

KINDS = {
    "zig": ZIG,
    "debug": DEBUG,
    "sanitize": SANITIZE,
    "no-vectors": NO_VECTORS,
    "levels": WHEEL_LEVELS,
    ARCH: ARCH != "native",
    f"tune-{TUNE}": TUNE,
    f"lanes-{LANES}": LANES,
    f"emulate-{EMULATE}": EMULATE,
}
BUILD_FOLDER = "/".join(["build", *(kind for kind, wanted in KINDS.items() if wanted)])
COMPILERS = min(os.cpu_count() or 1, 8)  # at the same time; each takes some hundred megabytes
WITH_PIP = "setuptools.build_meta" in sys.modules
TOLD = 8  # times, how far a build behind pip is
SHARED_UTILITY = "kuiper._cyutility"
BUILD_CONFIG = "kuiper/_build_config.py"

# These must load on any CPU: they are what chooses a level, or reports that there is none.
PORTABLE = (SHARED_UTILITY, "kuiper.machine.cpuid")

# A wheel has these once, at its lowest level: no loop in them gains anything from wider vectors.
SAME_AT_ALL_LEVELS = (
    "kuiper.allocator",
    "kuiper.engine.clock",
    "kuiper.engine.kernels.positions",
    "kuiper.engine.program",
    "kuiper.engine.step",
    "kuiper.models.tasks.nms",
    "kuiper.tensor.buffer",
)

# The one module that calls NumPy in C. What NumPy 2 compiles for this API also runs with NumPy 1.
NUMPY_USER = "kuiper.allocator"
NUMPY_API = [("NPY_TARGET_VERSION", "NPY_1_23_API_VERSION"), ("NPY_NO_DEPRECATED_API", "NPY_1_23_API_VERSION")]

# gcc and clang optimise most modules at -O2, with vectors: -O3 makes no kernel faster but these two, and takes a fifth
# more time to compile. What runs once for a model or for a call needs no more than -O1.
UNROLLED = ("kuiper.engine.kernels.convolution", "kuiper.engine.kernels.winograd")
ONCE = (
    SHARED_UTILITY,
    "kuiper.allocator",
    "kuiper.engine.clock",
    "kuiper.engine.functions",
    "kuiper.engine.kernels.chain",
    "kuiper.engine.kernels.panel_rows",
    "kuiper.engine.kernels.positions",
    "kuiper.engine.program",
    "kuiper.engine.step",
    "kuiper.machine.build",
    "kuiper.machine.cpuid",
    "kuiper.tensor.buffer",
)

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
NATIVE_LEVELS = {
    "x86-64-v4": ("__AVX512F__", "__AVX512BW__", "__AVX512DQ__", "__AVX512VL__", "__BMI2__", "__FMA__"),
    "x86-64-v3": ("__AVX2__", "__BMI2__", "__FMA__"),
}

# What a wheel may be built for, from the lowest to the highest.
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")

# MSVC has no -march=native; AVX2 is its widest safe choice on machines sold since 2015.
MSVC_LEVELS = {"x86-64-v2": [], "x86-64-v4": ["/arch:AVX512"]}

# What nearly all modules begin with: reading it takes gcc a third of a second, and a twentieth once it is compiled.
PRECOMPILED = """#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include "kuiper/simd/vector.h"
"""
PRECOMPILED_FOR = 8  # modules: for fewer it takes longer than it saves

# Cython's short cuts past Python's interface make a page of code of each conversion to a C number, and of what is done
# about an error. Each field of a step's numbers is such a conversion, done once, when the step is made.
CYTHON_MACROS = ("-DCYTHON_USE_PYLONG_INTERNALS=0", "-DCYTHON_FAST_THREAD_STATE=0")

# What the steps' modules begin with, which call Python when a step is made and never again.
STEPS = "kuiper.engine.kernels."
REFERENCES = "kuiper/references.h"

# Tables for unwinding, which C without exceptions has no use for, and stubs for calls that Python binds when it loads a
# module: together a twelfth of a module in a wheel.
SMALL = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-plt")

STRIP = "-Wl,--strip-all"  # names of symbols, which nobody reads, are a tenth of a module

# Directives stand here and nowhere else: a "# cython:" line in a .pyx would override the debug build.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
    "auto_pickle": False,  # steps hold pointers
}


class BuildExt(build_ext):
    """Ask the compiler which flags it takes, compile with those on all cores, and write them down."""

    def finalize_options(self) -> None:
        """Where products lie is the same for every command: an editable install finds what ``--inplace`` has built.

        setuptools gives an editable install folders of its own, which it then deletes.
        """
        if COMPILER is None:
            expected, got, hint = compilers.missing()
            raise SetupError(f"kuiper: expected {expected}, got {got}; {hint}")
        compilers.prepare(self, COMPILER)
        super().finalize_options()
        if self.inplace:
            if WHEEL_LEVELS:
                raise SetupError("KUIPER_LEVELS: expected a wheel to be built, got a build beside the sources")
            build = self.distribution.get_command_class("build")(self.distribution)
            build.build_base = BUILD_FOLDER
            build.ensure_finalized()
            self.build_lib, self.build_temp = build.build_platlib, build.build_temp

    def build_extensions(self) -> None:
        compilers.use(self.compiler, COMPILER)
        for extension in self.extensions:
            extension.depends += ["setup.py", REFERENCES]  # other flags, another build
        self.stamps = stamps.Stamps(ROOT / BUILD_FOLDER / "stamps.json", ROOT, salt=compiles_with(self.compiler))
        self.unknown: list[Extension] = []
        waiting = [extension for extension in self.extensions if self.is_stale(extension)]
        for extension in self.unknown:
            self.note(extension)
        if waiting or not Path(self.build_lib, BUILD_CONFIG).exists():
            self.choose_flags()
            self.compile_all(waiting)

    def choose_flags(self) -> None:
        """Give every module the flags of its level."""
        msvc = self.compiler.compiler_type == "msvc"
        openmp_compile, openmp_link = self.openmp_flags(msvc)
        own_flags = self.accepted(msvc_flags() if msvc else unix_flags())
        if SANITIZE and not any(flag.startswith("-fsanitize") for flag in own_flags):
            raise SetupError(f"KUIPER_SANITIZE: expected checks that the compiler knows, got {SANITIZE}")
        link_flags = openmp_link + [flag for flag in own_flags if flag.startswith("-fsanitize")]
        if not (DEBUG or SANITIZE) and self.accepts([], (STRIP,)):
            link_flags.append(STRIP)
        levels = {level: self.machine_flags(level, msvc) for level in WHEEL_LEVELS or [self.only_level(msvc)]}
        levels = {level: [*own_flags, *machine, *openmp_compile] for level, machine in levels.items()}
        lowest = next(iter(levels))
        more = set() if msvc else {flag for extension in self.extensions for flag in optimisation(extension.name)}
        more = set(self.accepted(sorted(more)))  # clang has no cost model to choose
        for extension in self.extensions:
            extension.extra_compile_args = levels[higher_level(extension.name) or lowest]
            if extension.name in PORTABLE:
                extension.extra_compile_args = own_flags + openmp_compile
            own = [flag for flag in optimisation(extension.name) if flag in more]
            if base_name(extension.name).startswith(STEPS) and not msvc:
                own += ["-include", REFERENCES]
            extension.extra_compile_args = [*extension.extra_compile_args, *own]
            extension.extra_link_args = link_flags
        self.write_config(levels, bool(openmp_compile))

    def compile_all(self, waiting: list[Extension]) -> None:
        """On all cores; the largest first, so that none is idle in the end."""
        waiting.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))
        progress = Progress("compiled", len(waiting))
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COMPILERS) as pool:
            self.precompile(waiting, Path(folder))
            names = {pool.submit(self.compile_one, extension): extension for extension in waiting}
            try:
                for done in as_completed(names):
                    done.result()
                    self.note(names[done])
                    progress.step(names[done].name)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                progress.end()

    def precompile(self, waiting: list[Extension], folder: Path) -> None:
        """Let modules with the same flags begin with one header that gcc has compiled. It lives as long as this build.

        gcc takes such a header at any level of optimisation, and reads its text where it cannot take it.
        """
        if not self.defines("__GNUC__", []) or self.defines("__clang__", []):
            return
        groups: dict[tuple[str, ...], list[Extension]] = {}
        for extension in waiting:
            flags = tuple(flag for flag in extension.extra_compile_args if not flag.startswith("-O"))
            groups.setdefault(flags, []).append(extension)
        for index, group in enumerate(groups.values()):
            if len(group) < PRECOMPILED_FOR or group[0].name in PORTABLE:
                continue
            header = folder / f"{index}.h"
            header.write_text(PRECOMPILED, encoding="utf-8")
            paths = [f"-I{path}" for path in (*self.include_dirs, *group[0].include_dirs)]
            command = [*self.compiler.compiler_so, *paths, *group[0].extra_compile_args, "-x", "c-header"]
            made = subprocess.run([*command, str(header), "-o", f"{header}.gch"], capture_output=True, check=False)
            if made.returncode == 0:
                for extension in group:
                    extension.extra_compile_args = ["-include", str(header), *extension.extra_compile_args]

    def is_stale(self, extension: Extension) -> bool:
        """Whether a module was made of something else. A build from before there were stamps is believed its dates."""
        product, sources = self.get_ext_fullpath(extension.name), [*extension.sources, *extension.depends]
        fits = self.stamps.fits(product, sources)
        if self.force or fits is False or (fits is None and newer_group(sources, product, "newer")):
            return True
        if fits is None:
            self.unknown.append(extension)
        return False

    def note(self, extension: Extension) -> None:
        """A module is there now."""
        self.stamps.note(self.get_ext_fullpath(extension.name), [*extension.sources, *extension.depends])

    def compile_one(self, extension: Extension) -> None:
        """Each level has a folder of its own for objects: they are made from the same C files."""
        command = copy.copy(self)
        command.force = True  # setuptools goes by dates
        command.build_temp = os.path.join(self.build_temp, higher_level(extension.name))
        command.build_extension(extension)

    def only_level(self, msvc: bool) -> str:
        """The level of a build that has one: if possible a name whose instructions the CPU can be asked for."""
        if ARCH == "native" and not msvc:
            for level, macros in NATIVE_LEVELS.items():
                has_all = all(self.defines(macro, ["-march=native"]) for macro in macros)
                if has_all and self.accepts([f"-march={level}"]):
                    return level
        return ARCH

    def machine_flags(self, level: str, msvc: bool) -> list[str]:
        """Which instructions a level may use."""
        if msvc:
            return MSVC_LEVELS.get(level, ["/arch:AVX2"])
        option = "-mcpu" if self.defines("__aarch64__", []) else "-march"
        flags = [f"{option}={level}"]
        if level != "native" and not self.accepts(flags):
            raise SetupError(f"KUIPER_ARCH, KUIPER_LEVELS: expected names that {option} knows, got {level}")
        if TUNE and not self.accepts([*flags, f"-mtune={TUNE}"]):
            raise SetupError(f"KUIPER_TUNE: expected a name that -mtune knows, got {TUNE}")
        if TUNE or (ARCH == "native" and not WHEEL_LEVELS):
            flags.append(f"-mtune={TUNE or 'native'}")
        flags.append("-mprefer-vector-width=512")
        return self.accepted(flags)

    def accepted(self, flags: list[str]) -> list[str]:
        """Those of some flags that the compiler knows: mostly all, and then one question is enough."""
        return flags if self.accepts(flags) else [flag for flag in flags if self.accepts([flag])]

    def accepts(
        self, compile_flags: list[str], link_flags: tuple[str, ...] = (), source: str = "", links: bool = True
    ) -> bool:
        """Whether a small program compiles, and ``links``, with these flags."""
        source = source or "int main(void) { return 0; }"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "probe.c")
            path.write_text(source, encoding="utf-8")
            stderr = os.dup(2)
            with open(os.devnull, "wb") as devnull:
                os.dup2(devnull.fileno(), 2)  # the compiler writes to the file descriptor, not to sys.stderr
            try:
                objects = self.compiler.compile([str(path)], output_dir=folder, extra_postargs=compile_flags)
                if links:
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
        return self.accepts(compile_flags, source=source, links=False)

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
        write_messages(ROOT)

    def write_config(self, levels: dict[str, list[str]], openmp: bool) -> None:
        described = {
            level: {"flags": flags, "requires": [name for macro, name in MACROS.items() if self.defines(macro, flags)]}
            for level, flags in levels.items()
        }
        path = Path(self.build_lib, BUILD_CONFIG)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(build_note(compiler_version(self.compiler), ARCH, described, openmp), encoding="utf-8")


def build_note(compiler: str, arch: str, levels: dict[str, dict[str, list[str]]], openmp: bool) -> str:
    """The text of ``kuiper/_build_config.py``."""
    config = {"compiler": compiler, "arch": arch, "levels": levels, "debug": DEBUG, "openmp": openmp}
    config["cython"] = cython_version
    body = "".join(f"{key.upper()} = {value!r}\n" for key, value in config.items())
    return f'"""Written by setup.py: how this copy of kuiper was built."""\n\n{body}'


def announce(line: str) -> None:
    """Tell who waits for pip, which keeps what a build prints to itself: its terminal, if there is one."""
    if not WITH_PIP or sys.stderr.isatty():
        return
    with (
        contextlib.suppress(OSError),
        open("CON" if os.name == "nt" else "/dev/tty", "w", encoding="utf-8") as terminal,
    ):
        terminal.write(f"\n  kuiper: {line}\n")


class Progress:
    """What is being done and how far it is: one line that is rewritten on a terminal, plain lines elsewhere."""

    def __init__(self, work: str, total: int) -> None:
        self.work, self.total, self.done = work, total, 0
        self.rewrites = sys.stderr.isatty()

    def step(self, name: str) -> None:
        """One more is done."""
        self.done += 1
        if self.done * TOLD // self.total > (self.done - 1) * TOLD // self.total:
            announce(f"{self.work} {self.done} of {self.total} modules")
        line = f"{self.work} {self.done} of {self.total}: {name}"
        width = shutil.get_terminal_size().columns - 1
        print(
            f"\r{line[:width]:{width}}" if self.rewrites else line,
            end="" if self.rewrites else "\n",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        """Leave the terminal's line to others."""
        if self.rewrites and self.done:
            print(f"\r{'':{shutil.get_terminal_size().columns - 1}}\r", end="", file=sys.stderr, flush=True)


class BuildPy(build_py):
    """A wheel carries the courses too: a checkout has them beside the package, see kuiper/course/material.py.

    And whatever is built gets its messages in other languages.
    """

    def run(self) -> None:
        super().run()
        write_messages(ROOT if self.editable_mode else Path(self.build_lib))
        if not self.editable_mode:
            pack = runpy.run_path(str(ROOT / "kuiper/course/material.py"))["pack"]
            pack(ROOT, Path(self.build_lib, "kuiper/course/material"))


def write_messages(target: Path) -> None:
    """What gettext reads, made of the catalogues; ``target`` holds the package kuiper."""
    loaded(ROOT / "packaging" / "catalogues.py").compile_all(target / "kuiper" / "locale")


def unix_flags() -> list[str]:
    """For gcc and clang. -ffast-math is not among them: it turns sigmoid(-100) into NaN.

    A product and a sum become one operation, rounded once, where the source says ``fma``, and nowhere else: otherwise
    bits would depend on the compiler, and on what it tunes for.
    """
    optimise = "-O1" if DEBUG or SANITIZE else "-O3"
    sanitize = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"] if SANITIZE else []
    symbols = "-g1" if SANITIZE else "-g0"  # reports give lines
    small = [] if DEBUG or SANITIZE else SMALL
    own = [optimise, *sanitize, *small, symbols, *macros(), *CYTHON_MACROS]
    return [*own, "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]


def macros() -> list[str]:
    """What tells the sources of vectors that the machine does not have."""
    if EMULATE not in ("", "avx512"):
        raise SetupError(f"KUIPER_EMULATE: expected avx512, got {EMULATE}")
    if EMULATE:
        return ["-DKUIPER_EMULATES_AVX512", "-Wno-psabi"]
    return ["-DKUIPER_NO_VECTORS"] if NO_VECTORS else [f"-DKUIPER_LANES={LANES}"] if LANES else []


def optimisation(module: str) -> tuple[str, ...]:
    """Flags for gcc and clang that come after ``unix_flags`` for a module."""
    name = base_name(module)
    # gcc misplaces vectors that no register holds (LANES, EMULATE) where it calls a function with them; at -O3 it calls
    # none.
    if DEBUG or SANITIZE or LANES or EMULATE or name in UNROLLED:
        return ()
    return ("-O1",) if name in ONCE else ("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic")


def msvc_flags() -> list[str]:
    return ["/Od" if DEBUG else "/O2", "/fp:precise"]


def compiler_version(compiler: object) -> str:
    """The first line of ``gcc --version``, or the compiler's kind."""
    if ZIG:
        return COMPILER.name
    command = getattr(compiler, "compiler", None)
    if not command:
        return str(getattr(compiler, "compiler_type", "unknown"))
    try:
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return json.dumps(command)
    return answer.stdout.partition("\n")[0] or json.dumps(command)


def compiles_with(compiler: object) -> str:
    """What a module depends on beside its sources: which compiler it is, and the flags of CC, CFLAGS and Python."""
    flags = [word for role in ("compiler_so", "linker_so") for word in getattr(compiler, role, [])[1:]]
    return " ".join([compiler_version(compiler), *flags])


def extensions() -> list[Extension]:
    """One extension for each .pyx, and the module that holds what Cython's modules share."""
    found = []
    for path in sorted((ROOT / "kuiper").rglob("*.pyx")):
        relative = path.relative_to(ROOT)
        name = ".".join(relative.with_suffix("").parts)
        extension = Extension(name, [relative.as_posix()], include_dirs=["."])  # headers of kuiper/
        if name == NUMPY_USER:
            extension.include_dirs.append(numpy.get_include())
            extension.define_macros = NUMPY_API
        found.append(extension)
    shared = Extension(SHARED_UTILITY, ["kuiper/_cyutility.c"])
    return [shared, *found]


def at_higher_levels(modules: list[Extension]) -> list[Extension]:
    """The same modules once more for each higher level of a wheel, where ``kuiper/machine/levels.py`` looks."""
    return [
        Extension(
            module.name.replace("kuiper.", prefix, 1),
            list(module.sources),
            depends=list(module.depends),
            include_dirs=["."],
        )
        for prefix in level_prefixes()
        for module in modules
        if module.name not in (*PORTABLE, *SAME_AT_ALL_LEVELS)
    ]


def level_prefixes() -> dict[str, str]:
    """What the names of the modules of each higher level begin with."""
    return {f"kuiper._levels.{level.replace('-', '_')}.": level for level in WHEEL_LEVELS[1:]}


def base_name(module: str) -> str:
    """The name of a module beside the sources, for one of any level."""
    return f"kuiper.{module.removeprefix(next((p for p in level_prefixes() if module.startswith(p)), 'kuiper.'))}"


def higher_level(name: str) -> str:
    """The level of a module that lies in one of those folders; nothing for those beside the sources."""
    return next((level for prefix, level in level_prefixes().items() if name.startswith(prefix)), "")


def check_numpy() -> None:
    """Stop where the compiled module could not be imported beside a later NumPy."""
    if int(numpy.__version__.partition(".")[0]) < 2:
        sys.exit(f"numpy: expected 2.0 or later to build kuiper, got {numpy.__version__}; to run it, 1.24 is enough")


def check_levels() -> None:
    """Stop with a line for the user if KUIPER_LEVELS cannot be meant."""
    if WHEEL_LEVELS and [level for level in LEVELS if level in WHEEL_LEVELS] != WHEEL_LEVELS:
        sys.exit(f"KUIPER_LEVELS: expected some of {' '.join(LEVELS)} in this order, got {' '.join(WHEEL_LEVELS)}")
    if WHEEL_LEVELS and ARCH != "native":
        sys.exit(f"KUIPER_LEVELS: expected KUIPER_ARCH to be unset, got {ARCH}")


def to_c(modules: list[Extension]) -> list[Extension]:
    """The same modules, made from C, which Cython has written by now.

    Cython goes by dates, so C files get dates that are right: new where they were made of what is there, else old.
    """
    folder = "build/cython-debug" if DEBUG else "build/cython"
    notes = stamps.Stamps(ROOT / folder / "stamps.json", ROOT, salt=f"{cython_version} {DIRECTIVES}")
    tree = create_dependency_tree(quiet=True)
    made_of = {
        f"{folder}/{source.removesuffix('.pyx')}.c": sorted(tree.all_dependencies(source))
        for module in modules
        for source in module.sources
        if source.endswith(".pyx")
    }
    for product, sources in made_of.items():
        notes.date(product, sources)
    announce(f"Cython makes C of what is new among {len(made_of)} modules")
    found = cythonize(
        modules,
        nthreads=COMPILERS,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED_UTILITY,
        build_dir=folder,
        quiet=True,
    )
    for product, sources in made_of.items():
        notes.note(product, sources)
    for module in found:  # Cython sees the headers that a .pxd names, but not what these include
        module.depends = stamps.with_included(ROOT, module.depends)
    return found


if __name__ == "__main__":  # Cython's processes import this file too where they cannot be forked
    check_levels()
    check_numpy()
    modules = to_c(extensions())
    # pip asks here what it must install for the build. Anyone who calls setup.py is told what to install instead.
    setup(
        setup_requires=["ziglang"] if WITH_PIP and COMPILER is None and not os.environ.get("CC") else [],
        ext_modules=[*modules, *at_higher_levels(modules)],
        cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
        options={"build": {"build_base": BUILD_FOLDER}},
    )
