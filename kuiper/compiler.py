"""Which C compiler builds: the system's, or where there is none the one that pip brings.

PyPI's package ``ziglang`` is a whole C compiler, with headers and libraries for Linux, macOS and Windows: clang, called
as ``zig cc``. It has no OpenMP. ``setup.py`` runs this file by its path, before there is a kuiper that could be
imported; so it imports nothing but the standard library.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INSTALL = "pip install ziglang"
"""The one line that brings a compiler to every system."""


class Compiler(NamedTuple):
    """A C compiler that is there."""

    command: tuple[str, ...]
    name: str
    is_zig: bool


def find_compiler() -> Compiler | None:
    """What the variable CC asks for; else what built this Python, or its like; else zig; None if all are missing."""
    asked = os.environ.get("CC")
    if asked:
        return _on_path(asked)
    if sys.platform == "win32":
        return Compiler(("cl",), "Visual Studio", False) if _has_visual_studio() else _zig()
    for command in (sysconfig.get_config_var("CC") or "cc", "cc", "gcc", "clang"):
        found = _on_path(command)
        if found is not None:
            return found
    return _zig()


def missing() -> tuple[str, str, str]:
    """What an error says where there is no compiler: what was expected, what there is, and the line that helps."""
    asked = os.environ.get("CC")
    if asked:
        return f"the C compiler {shlex.split(asked)[0]}", "none of this name on the PATH", "the variable CC asks for it"
    return "a C compiler", "none", f"this brings one: {INSTALL}"


def prepare(command: Any, compiler: Compiler) -> None:
    """Let a ``build_ext`` command of setuptools, before its options are final, expect this kind of compiler."""
    if compiler.is_zig and sys.platform == "win32":
        command.compiler = command.compiler or "mingw32"
        os.environ["CC"] = " ".join(f'"{Path(word).as_posix()}"' for word in compiler.command)


def use(tool: Any, compiler: Compiler) -> None:
    """Let setuptools' compiler object, as customised for this Python, call this compiler."""
    if compiler.is_zig:
        _use_zig(tool, list(compiler.command))
    elif sys.platform != "win32" and not os.environ.get("CC"):
        for role in ("compiler", "compiler_so", "linker_so", "linker_exe"):
            getattr(tool, role)[0] = compiler.command[0]  # the flags that follow are for all compilers of unix


def zig_flags(flags: Iterable[str], to_link: bool = False) -> list[str]:
    """Flags for gcc as zig wants them: CPUs are spelt with underscores, and OpenMP is not there.

    Without a CPU zig takes the machine's own, gcc one of the oldest; ``-mtune`` would be taken for another ``-mcpu``.
    Zig compiles a library of its own for each CPU that something is linked for: always for the oldest, once.

    >>> zig_flags(["-O3", "-march=x86-64-v3", "-mtune=native", "-fopenmp"])
    ['-O3', '-mcpu=x86_64_v3']
    >>> zig_flags(["-O3", "-march=x86-64-v3"], to_link=True)
    ['-O3', '-mcpu=baseline']
    """
    cpu, kept = "baseline", []
    for flag in flags:
        if flag.startswith(("-march=", "-mcpu=")):
            cpu = flag.split("=", 1)[1].replace("-", "_")
        elif not flag.startswith(("-mtune=", "-fopenmp")):
            kept.append(flag)
    return [*kept, "-mcpu=baseline" if to_link else f"-mcpu={cpu}"]


def _on_path(command: str) -> Compiler | None:
    words = tuple(shlex.split(command))
    path = shutil.which(words[0])
    if path is None or (sys.platform == "darwin" and path.startswith("/usr/bin/") and not _has_xcode()):
        return None
    return Compiler(words, path, False)


def _zig() -> Compiler | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    program = Path(spec.submodule_search_locations[0], "zig.exe" if sys.platform == "win32" else "zig")
    from importlib.metadata import version  # takes its time to import, and few have this compiler

    number = version("ziglang")
    return Compiler((str(program), "cc"), f"zig {number} (clang)", True)


def _has_xcode() -> bool:
    """Every macOS has a /usr/bin/clang: without Xcode's tools all that it does is to ask for them."""
    return subprocess.run(["xcode-select", "-p"], capture_output=True).returncode == 0


def _has_visual_studio() -> bool:
    """Its compiler is not on the PATH: setuptools asks the same program where it is."""
    if shutil.which("cl"):
        return True
    programs = os.environ.get("PROGRAMFILES(X86)") or os.environ.get("PROGRAMFILES", "")
    where = Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    command = [str(where), "-products", "*", "-requiresAny", "-property", "installationPath"]
    command += ["-requires", "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"]
    command += ["-requires", "Microsoft.VisualStudio.Component.VC.Tools.ARM64"]
    return where.is_file() and bool(subprocess.run(command, capture_output=True).stdout.strip())


def linux_commands(compiler: Compiler) -> tuple[list[str], list[str]]:
    """The words that compile C for this Python on Linux, and those that link a module, as setuptools would say them."""
    if compiler.is_zig:
        _find_room_for_zig()
        return _zig_commands(list(compiler.command))
    built_with, links = (shlex.split(sysconfig.get_config_var(name) or "") for name in ("CC", "LDSHARED"))
    link = links[len(built_with) :] if links[: len(built_with)] == built_with else links[1:]
    flags = [word for name in ("CFLAGS", "CCSHARED") for word in shlex.split(sysconfig.get_config_var(name) or "")]
    asked = {name: shlex.split(os.environ.get(name, "")) for name in ("CPPFLAGS", "CFLAGS", "LDFLAGS")}
    own = [*asked["CFLAGS"], *asked["CPPFLAGS"]]
    return [*compiler.command, *flags, *own], [*compiler.command, *(link or ["-shared"]), *asked["LDFLAGS"], *own]


def _zig_commands(command: list[str]) -> tuple[list[str], list[str]]:
    # Of Python's own flags these matter; the rest is for the compiler it was built with. Without optimisation zig would
    # add checks that stop the program at what Cython's C code may do.
    compile_c = [*command, "-fno-sanitize=undefined", "-fwrapv", "-fPIC", "-DNDEBUG"]
    if sys.platform == "darwin":
        return compile_c, [*command, "-shared", "-undefined", "dynamic_lookup"]
    return compile_c, [*command, "-shared"]


def _use_zig(tool: Any, command: list[str]) -> None:
    compile_c, link = _zig_commands(command)
    tool.set_executables(compiler=compile_c, compiler_so=compile_c, linker_so=link, linker_exe=command)
    for method in ("compile", "link_shared_object", "link_executable"):
        setattr(tool, method, functools.partial(_with_zig_flags, getattr(tool, method), method != "compile"))
    _find_room_for_zig()


def _with_zig_flags(act: Callable[..., Any], to_link: bool, *arguments: Any, **options: Any) -> Any:
    options["extra_postargs"] = zig_flags(options.get("extra_postargs") or [], to_link)
    return act(*arguments, **options)


def _find_room_for_zig() -> None:
    """Zig keeps parts of the C library in the user's cache; where that cannot be written, in a temporary folder."""
    if sys.platform == "win32" or os.environ.get("ZIG_GLOBAL_CACHE_DIR"):
        return
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "zig")
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        cache = Path(tempfile.gettempdir(), f"zig-{os.getuid()}")
        cache.mkdir(mode=0o700, exist_ok=True)
        if cache.stat().st_uid != os.getuid():  # somebody else could put code of theirs there
            cache = Path(tempfile.mkdtemp(prefix="zig-"))
        os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(cache)
