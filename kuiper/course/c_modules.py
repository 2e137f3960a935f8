"""From a C file to a module that Python can load, by the compiler that ``kuiper.compiler`` has found.

Where no program can be started, as in a browser's tab, a function that was handed to ``use`` is the compiler.
On Linux the compiler is called as it is. Elsewhere setuptools calls it, since it knows where Visual Studio and the SDKs
of macOS are. To import setuptools takes as long as to compile a short exercise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper import compiler
from kuiper.course import local_arrays
from kuiper.course.precompiled import precompiled
from kuiper.machine.processes import has_processes

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")
_PACKAGES = Path(__file__).parents[2]  # where kuiper's headers are, however it was installed


Call = Callable[[Mapping[str, str], Sequence[str], str], "bytes | str"]
"""From the texts of files by name, the flags and the module's name to the module, or to the compiler's complaint.

Of the files those that end in .c are compiled; the others are headers, by the names by which they are included.
"""

_used: list[tuple[compiler.Compiler, Call]] = []


def use(name: str, call: Call) -> None:
    """Let a function compile from now on; ``name`` is the compiler's, with its version."""
    _used[:] = [(compiler.Compiler((), name, False), call)]


def find_tool() -> compiler.Compiler | None:
    """What compiles here; None if nothing can."""
    if _used:
        return _used[0][0]
    return compiler.find_compiler() if has_processes() else None


def missing() -> tuple[str, str, str]:
    """What an error says then: what was expected, what there is, and what helps."""
    return compiler.missing() if has_processes() else ("a C compiler", "none", "the page loads one")


class RefusedError(Exception):
    """The C compiler says no; its words are the argument."""


def compile_c(
    c_file: Path, name: str, binary: Path, tool: compiler.Compiler, flags: Sequence[str], check_arrays: bool = False
) -> None:
    """Compile a C file, as ``name``, into ``binary``, which appears whole or not at all.

    With ``check_arrays`` the compiler checks indices of local C arrays, too, and fills variables that are not set where
    it can. For that, some code of ``local_arrays`` is put behind that of the file.

    Raises
    ------
    RefusedError
        If the compiler does not take it.
    """
    flags = list(flags)
    if check_arrays:
        flags += local_arrays.FLAGS_OF_CLANG if tool.command == () else [local_arrays.FLAG]
        text = c_file.read_text(encoding="utf-8")
        if local_arrays.C_CODE not in text:  # a second file would read all of Python's headers again
            c_file.write_text(local_arrays.with_checked_stores(text) + local_arrays.C_CODE, encoding="utf-8")
    made = c_file.parent / f"{name}{SUFFIX}"
    if tool.command == ():
        _call_used(c_file, name, made, flags, check_arrays)
    elif sys.platform == "linux":
        _call(tool, c_file, made, binary.parent, flags, check_arrays)
    else:
        _call_by_setuptools(tool, c_file, name, flags, check_arrays)
    os.replace(made, binary)  # atomic: two processes may build the same text at once


def _call_used(c_file: Path, name: str, made: Path, flags: list[str], check_arrays: bool) -> None:
    headers = [*(_PACKAGES / "kuiper" / "simd").glob("*.h"), *c_file.parent.glob("*.h")]
    files = {_included_as(path): path.read_text(encoding="utf-8") for path in headers}
    files[f"{name}.c"] = c_file.read_text(encoding="utf-8")
    answer = _used[0][1](files, [*flags, local_arrays.OLD_NUMBERS] if check_arrays else flags, name)
    if isinstance(answer, str):
        raise RefusedError(answer)
    made.write_bytes(answer)


def _included_as(header: Path) -> str:
    """The name by which C code includes a header: kuiper's own by their package."""
    return header.relative_to(_PACKAGES).as_posix() if header.is_relative_to(_PACKAGES) else header.name


def _call(tool: compiler.Compiler, c_file: Path, made: Path, cache: Path, flags: list[str], check_arrays: bool) -> None:
    compile_words, link_words = compiler.linux_commands(tool)
    if check_arrays and local_arrays.fills_variables(tuple(compile_words)):
        flags = [*flags, local_arrays.OLD_NUMBERS]
    includes = dict.fromkeys([str(_PACKAGES), *(sysconfig.get_path(name) for name in ("include", "platinclude"))])
    own, link = flags, _for_linker(flags)
    if tool.is_zig:
        own, link = compiler.zig_flags(flags), compiler.zig_flags(link, to_link=True)
    object_file = made.with_suffix(".o")
    command = [*compile_words, *(f"-I{path}" for path in includes), *own]
    begin = precompiled(c_file, cache, command) if check_arrays else []  # the race compiles seldom
    for words in (
        [*command, *begin, "-c", str(c_file), "-o", str(object_file)],
        [*link_words, str(object_file), "-o", str(made), *link],
    ):
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            raise RefusedError(done.stdout.decode("utf-8", "replace") or f"{words[0]}: exit code {done.returncode}")


def _call_by_setuptools(tool: compiler.Compiler, c_file: Path, name: str, flags: list[str], check_arrays: bool) -> None:
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    folder, link = c_file.parent, _for_linker(flags)
    extension = Extension(
        name, [str(c_file)], include_dirs=[str(_PACKAGES)], extra_compile_args=flags, extra_link_args=link
    )

    class BuildExt(build_ext):  # type: ignore[misc]
        def build_extensions(self) -> None:
            compiler.use(self.compiler, tool)
            if check_arrays and local_arrays.fills_variables(tuple(self.compiler.compiler_so)):
                extension.extra_compile_args.append(local_arrays.OLD_NUMBERS)
            super().build_extensions()

    command = BuildExt(Distribution({"name": name, "ext_modules": [extension]}))
    compiler.prepare(command, tool)
    command.build_lib, command.build_temp = str(folder), str(folder)
    with _output_to_file(folder / "compiler.txt"):
        try:
            command.ensure_finalized()
            command.run()
        except Exception as error:  # each platform's compiler class has errors of its own
            text = (folder / "compiler.txt").read_text(encoding="utf-8", errors="replace")
            raise RefusedError(text or str(error)) from None


def _for_linker(flags: Sequence[str]) -> list[str]:
    return [flag for flag in flags if "openmp" in flag and flag.startswith("-f")]


@contextmanager
def _output_to_file(path: Path) -> Iterator[None]:
    """The C compiler writes to the file descriptors, which sys.stdout and sys.stderr know nothing of."""
    saved = [os.dup(1), os.dup(2)]
    with path.open("wb") as file:
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield
        finally:
            for number, descriptor in enumerate(saved, start=1):
                os.dup2(descriptor, number)
                os.close(descriptor)
