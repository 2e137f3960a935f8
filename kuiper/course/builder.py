"""From a .pyx to a module: compiled when its text changes, kept under a name that is a hash of all that went in.

The safe build checks every index, of memoryviews and of local C arrays, and is for tests; the fast one is for the race.
Modules are never reloaded: another text has another hash, so it is another module, and a stale one cannot be met.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kuiper.course import ascii_names, local_arrays
from kuiper.course.c_modules import SUFFIX, RefusedError, compile_c, find_tool, missing
from kuiper.course.compile_errors import shown, translate
from kuiper.course.errors import BuildError, ExerciseSyntaxError
from kuiper.course.places import python_environment
from kuiper.course.state_file import keep_text
from kuiper.machine.levels import build_config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from kuiper import compiler

Mode = Literal["safe", "fast"]

MOST_BUILDS = 30  # of one file in one mode
KUIPERS_UTILITY = "kuiper._cyutility"
DIRECTIVES = {"language_level": 3, "wraparound": False, "embedsignature": True, "freethreading_compatible": True}
CHECKS = ("boundscheck", "initializedcheck")
BARE = {"binding": False, "embedsignature": False}
CPU_FLAGS = ("-march=", "-mcpu=", "-msimd128", "-mrelaxed-simd", "-DKUIPER_")
TROUBLE = re.compile("out of memory|cannot allocate|no space left|killed|internal compiler error", re.IGNORECASE)
NO_CHECK = re.compile(r"(?:unrecogni|unsupported|unknown)[^\n]*sanitize|ubsan_handle", re.IGNORECASE)
_PACKAGES = Path(__file__).parents[2]  # where Cython finds kuiper's .pxd files, however kuiper was installed
_SIMD = _PACKAGES / "kuiper" / "simd"  # what exercises may cimport


def load_pyx(path: Path, cache: Path, mode: Mode = "safe", bare: bool = False) -> ModuleType:
    """The module that a .pyx makes, compiled if this text has not been compiled before.

    A ``bare`` one, which nobody looks into, answers alike and is compiled sooner: its functions have no signatures, and
    an index outside of a local C array is told without the line.

    Raises
    ------
    ExerciseSyntaxError
        If it does not compile.
    BuildError
        If Cython or a C compiler is missing.
    """
    name = module_name(path, mode, bare)
    if name in sys.modules:
        return sys.modules[name]
    if _utility_name() not in sys.modules:
        _load_utility(cache)
    binary = cache / f"{name}{SUFFIX}"
    if not binary.exists():
        _build_once(path, name, binary, mode, bare)
        _leave_room(cache, name.removesuffix(name.rpartition("_")[2]))
    with suppress(OSError):
        os.utime(binary)
    return _load_binary(name, binary)


def _leave_room(cache: Path, kind: str) -> None:
    """Remove builds of a file that were not used for longest: each time that it is saved, there is one more."""
    uses = {}
    for path in cache.glob(f"{kind}*"):
        with suppress(OSError):  # another process may have removed it
            uses[path] = path.stat().st_mtime
    for path in sorted(uses, key=uses.__getitem__)[:-MOST_BUILDS]:
        with suppress(OSError):  # Windows keeps one that is loaded
            path.unlink()


def is_compiled(path: Path, cache: Path, mode: Mode = "safe") -> bool:
    """Whether ``load_pyx`` has seen this text before."""
    name = module_name(path, mode)
    return (cache / f"{name}{SUFFIX}").exists() or _refusal_file(cache / name, path).exists()


def module_name(path: Path, mode: Mode, bare: bool = False) -> str:
    """``im2col_safe_`` and the hash of the text, the files beside it, the tools and the flags."""
    digest = hashlib.sha256(path.read_bytes())
    headers = [file for folder in (path.parent, _SIMD) for suffix in ("*.pxd", "*.h") for file in folder.glob(suffix)]
    for neighbour in sorted(headers):
        digest.update(neighbour.name.encode() + neighbour.read_bytes())
    tools = (_cython_version(), _utility_name(), find_tool(), SUFFIX)
    checks = (local_arrays.C_CODE, local_arrays.OLD_NUMBERS)
    digest.update(repr((path.name, compile_flags(mode), _directives(mode, bare), *tools, *checks)).encode())
    return f"{path.stem}_{mode}_{digest.hexdigest()[:16]}"


def compile_flags(mode: Mode) -> list[str]:
    """Quick to compile for tests; for the race what the engine's own kernels were compiled with.

    Both are for the same CPU: a tile that is made for its registers has one size in tests and in the race. Both give
    the same bits: a product and a sum become one operation only where the source says ``fma``.
    """
    if sys.platform == "win32":
        return ["/Od", "/fp:precise"] if mode == "safe" else ["/O2", "/fp:precise", "/openmp"]
    try:
        import kuiper
    except ImportError:
        kuiper_flags = ["-O3", "-g0", "-ffp-contract=off"]
    else:
        kuiper_flags = kuiper.build_info()["flags"].split()
    if mode == "fast":
        return [*kuiper_flags, "-w"]
    cpu = [flag for flag in kuiper_flags if flag.startswith(CPU_FLAGS)]
    return ["-O0", "-g0", "-w", "-ffp-contract=off", *cpu]


def annotate(path: Path, folder: Path) -> Path:
    """Cython's HTML view of a .pyx: the yellower a line, the more Python it still needs."""
    _require_tools()
    from Cython.Compiler.Main import CompilationOptions, compile_single

    options = CompilationOptions(
        output_file=str(folder / f"{path.stem}.c"),
        annotate="default",
        compiler_directives=_directives("fast"),
        include_path=[str(path.parent), str(_PACKAGES)],
    )
    with _messages() as messages:
        result = compile_single(str(path), options, path.stem)
    if result.num_errors:
        raise ExerciseSyntaxError(translate(messages.getvalue(), path))
    return folder / f"{path.stem}.html"


def _build_once(path: Path, name: str, binary: Path, mode: Mode, bare: bool) -> None:
    """Build, or raise what was raised when this text was refused before: each test asks for the module again."""
    refusal = _refusal_file(binary.parent / name, path)
    if refusal.exists():
        raise ExerciseSyntaxError(refusal.read_text(encoding="utf-8"))
    try:
        _build(path, name, binary, mode, bare)
    except ExerciseSyntaxError as error:
        if ascii_names.are_used() and not path.read_bytes().isascii():
            _build_apart(path, binary.parent, mode, bare)
            if binary.exists():
                return
            error = ExerciseSyntaxError(refusal.read_text(encoding="utf-8")) if refusal.exists() else error
        if not TROUBLE.search(str(error)):  # that would be the machine's trouble, not the text's
            keep_text(refusal, str(error))
        raise error from None


def _build_apart(path: Path, cache: Path, mode: Mode, bare: bool) -> None:
    """Try again in a process whose Cython knows all letters; it leaves the module in the cache, or its refusal."""
    code = f"from pathlib import Path; from kuiper.course.builder import load_pyx; load_pyx(Path({str(path)!r}), "
    code += f"Path({str(cache)!r}), {mode!r}, {bare!r})"
    words = [sys.executable, "-c", code]
    subprocess.run(words, env=python_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _refusal_file(stem: Path, path: Path) -> Path:
    """Where the words of a refusal are kept; they name the file as it is seen from the working directory."""
    place = hashlib.sha256(shown(path).encode()).hexdigest()[:8]
    return stem.with_name(f"{stem.name}.{place}.refused")


def _build(path: Path, name: str, binary: Path, mode: Mode, bare: bool = False) -> None:
    tool = _require_tools()
    from Cython.Compiler.Main import CompilationOptions, compile_single

    flags = compile_flags(mode)
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
        c_file = Path(folder, f"{name}.c")
        options = CompilationOptions(
            output_file=str(c_file),
            compiler_directives=_directives(mode, bare),
            shared_utility_qualified_name=_utility_name(),
            include_path=[str(path.parent), str(_PACKAGES)],
            emit_linenums=_checks_arrays(mode) and not bare,
        )
        with _messages() as messages:
            result = compile_single(str(path), options, name)
        if result.num_errors:
            raise ExerciseSyntaxError(translate(messages.getvalue(), path))
        try:
            compile_c(c_file, name, binary, tool, flags, check_arrays=_checks_arrays(mode))
        except RefusedError as error:
            if not (_checks_arrays(mode) and NO_CHECK.search(str(error))):
                raise ExerciseSyntaxError(translate(str(error), path)) from None
            try:  # this compiler has no such check: then without
                compile_c(c_file, name, binary, tool, flags)
            except RefusedError as again:
                raise ExerciseSyntaxError(translate(str(again), path)) from None


def _checks_arrays(mode: Mode) -> bool:
    """Whether the compiler is asked to check indices of local C arrays, too; Visual Studio cannot."""
    return mode == "safe" and sys.platform != "win32"


def utility(cache: Path) -> Path | None:
    """The module that all of Cython's modules here share: without it each would compile its own memoryviews.

    None where the one of kuiper's own modules serves: it takes longer to compile than ten exercises.
    """
    name = _utility_name()
    if name == KUIPERS_UTILITY:
        return None
    binary = cache / f"{name}{SUFFIX}"
    if not binary.exists():
        tool = _require_tools()
        from Cython.Build.SharedModule import generate_shared_module
        from Cython.Compiler.Main import CompilationOptions

        with tempfile.TemporaryDirectory(dir=cache) as folder:
            c_file = Path(folder, f"{name}.c")
            generate_shared_module(CompilationOptions(shared_c_file_path=str(c_file)))
            try:
                compile_c(c_file, name, binary, tool, compile_flags("safe"))
            except RefusedError as error:
                raise ExerciseSyntaxError(translate(str(error), c_file)) from None
    return binary


def _load_utility(cache: Path) -> None:
    binary = utility(cache)
    if binary is None:
        importlib.import_module(KUIPERS_UTILITY)
    else:
        _load_binary(_utility_name(), binary)


def _load_binary(name: str, binary: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, str(binary))
    spec = importlib.util.spec_from_file_location(name, binary, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    local_arrays.guard(module)
    return module


def _directives(mode: Mode, bare: bool = False) -> dict[str, object]:
    return {**DIRECTIVES, **dict.fromkeys(CHECKS, mode == "safe"), **(BARE if bare else {})}


def _utility_name() -> str:
    """Named by version: utility and users must come from the same Cython. Kuiper's own serves where it does."""
    if _cython_version() == build_config().CYTHON:
        return KUIPERS_UTILITY
    return f"kuiper_exercise_utility_{_cython_version().replace('.', '_')}"


def _cython_version() -> str:
    try:
        import Cython
    except ImportError:
        raise BuildError("exercise", "Cython", "none", hint="pip install cython setuptools") from None
    version: str = Cython.__version__
    return version


def _require_tools() -> compiler.Compiler:
    """One line that says what to install, rather than a traceback out of setuptools."""
    _cython_version()
    found = find_tool()
    if found is None:
        expected, got, hint = missing()
        raise BuildError("exercise", expected, got, hint=hint)
    return found


@contextmanager
def _messages() -> Iterator[io.StringIO]:
    """What Cython prints."""
    text = io.StringIO()
    with redirect_stderr(text), redirect_stdout(text):
        yield text
