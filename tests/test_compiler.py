"""Which compiler is found, and what one line says where there is none."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kuiper import compiler
from kuiper.cli import main
from kuiper.cli.doctor import check_compiler
from kuiper.compiler import Compiler, find_compiler, linux_commands, missing, use
from kuiper.course import c_modules
from kuiper.machine import processes

ROOT = Path(__file__).parents[1]
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows looks for Visual Studio, not on the PATH")
ZIG = Compiler(("/somewhere/zig", "cc"), "zig 0.1 (clang)", True)


class Tool:
    """What setuptools' compiler objects have: commands by role, and methods that take flags."""

    def __init__(self) -> None:
        self.compiler, self.compiler_so, self.linker_so, self.linker_exe = ["old", "-a"], ["old"], ["old"], ["old"]
        self.calls: list[list[str]] = []

    def set_executables(self, **commands: list[str]) -> None:
        self.__dict__.update(commands)

    def compile(self, sources: list[str], extra_postargs: list[str] | None = None) -> None:
        self.calls.append([*self.compiler_so, *sources, *(extra_postargs or [])])

    def link_shared_object(self, objects: list[str], extra_postargs: list[str] | None = None) -> None:
        self.calls.append([*self.linker_so, *objects, *(extra_postargs or [])])

    link_executable = link_shared_object


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that is the only program on the PATH."""
    path = tmp_path / "clang"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return path


@UNIX
def test_find_compiler_takes_what_is_there(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_zig", lambda: ZIG)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "a-compiler-that-is-gone -pthread")
    assert find_compiler() == Compiler(("clang",), str(program), False)
    monkeypatch.setenv("CC", "clang -m64")
    assert find_compiler() == Compiler(("clang", "-m64"), str(program), False)
    program.unlink()
    assert find_compiler() is None  # what CC asks for, or nothing
    monkeypatch.delenv("CC")
    assert find_compiler() == ZIG


@UNIX
def test_without_any_compiler_one_line_says_what_helps(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program.unlink()
    monkeypatch.setattr(compiler, "_zig", lambda: None)
    assert find_compiler() is None
    assert missing() == ("a C compiler", "none", "this brings one: pip install ziglang")
    assert main(["doctor"]) == 1
    assert "compiler: expected a C compiler, got none; this brings one: pip install ziglang" in capsys.readouterr().out


def test_linux_commands_have_pythons_flags_and_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"CC": "ccache gcc", "CFLAGS": "-O3 -Wall", "CCSHARED": "-fPIC", "LDSHARED": "ccache gcc -shared -Lpython"}
    monkeypatch.setattr(sysconfig, "get_config_var", known.get)
    for name, value in (("CFLAGS", "-g"), ("CPPFLAGS", "-DX"), ("LDFLAGS", "-Lown")):
        monkeypatch.setenv(name, value)
    compile_words, link_words = linux_commands(Compiler(("clang", "-m64"), "clang", False))
    assert compile_words == ["clang", "-m64", "-O3", "-Wall", "-fPIC", "-g", "-DX"]
    assert link_words == ["clang", "-m64", "-shared", "-Lpython", "-Lown", "-g", "-DX"]
    assert "-fno-sanitize=undefined" in linux_commands(ZIG)[0]


@UNIX
def test_a_compiler_that_python_was_not_built_with_is_called(program: Path) -> None:
    tool = Tool()
    use(tool, Compiler(("clang",), str(program), False))
    assert (tool.compiler, tool.linker_so) == (["clang", "-a"], ["clang"])


def test_zig_gets_flags_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path))
    tool = Tool()
    use(tool, ZIG)
    tool.compile(["a.c"], extra_postargs=["-O3", "-march=x86-64-v4", "-mtune=native", "-fopenmp"])
    tool.compile(["a.c"])
    tool.link_shared_object(["a.o"], extra_postargs=["-fopenmp"])
    assert [call[:2] for call in tool.calls] == [["/somewhere/zig", "cc"]] * 3
    fast, portable, link = tool.calls
    assert fast[-3:] == ["a.c", "-O3", "-mcpu=x86_64_v4"]
    assert portable[-2:] == ["a.c", "-mcpu=baseline"]  # else zig would take this machine's CPU
    assert "-shared" in link
    assert not any("openmp" in word or "mtune" in word for call in tool.calls for word in call)


@UNIX
def test_zig_finds_room_where_the_home_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    use(Tool(), ZIG)
    assert os.environ["ZIG_GLOBAL_CACHE_DIR"] == ""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(compiler.tempfile, "gettempdir", lambda: str(tmp_path))
    use(Tool(), ZIG)
    assert Path(os.environ["ZIG_GLOBAL_CACHE_DIR"]).is_relative_to(tmp_path)
    assert Path(os.environ["ZIG_GLOBAL_CACHE_DIR"]).stat().st_mode & 0o077 == 0


@UNIX
def test_setup_says_the_same_line(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    environment.pop("CC", None)
    (tmp_path / "ziglang.py").touch()  # hides the package, should it be installed
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(tmp_path)]
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert answer.returncode != 0
    last_line = answer.stderr.splitlines()[-1]
    assert last_line.endswith("kuiper: expected a C compiler, got none; this brings one: pip install ziglang")


@UNIX
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the names of -mtune are those of x86-64")
def test_setup_refuses_a_cpu_that_the_compiler_does_not_tune_for(tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(tmp_path)]
    environment = {**os.environ, "KUIPER_TUNE": "abacus"}
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert answer.returncode != 0
    assert answer.stderr.splitlines()[-1].endswith("KUIPER_TUNE: expected a name that -mtune knows, got abacus")


def test_setup_refuses_a_numpy_whose_modules_no_later_one_imports(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text('__version__ = "1.26.4"\nget_include = lambda: "."\n')
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, "setup.py", "-q", "--name"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert answer.returncode != 0
    assert answer.stderr.splitlines()[-1].startswith("numpy: expected 2.0 or later to build kuiper, got 1.26.4")


def test_check_compiler_where_no_program_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(processes.VARIABLE, "none")
    monkeypatch.setattr(c_modules, "_used", [])
    assert check_compiler().startswith("none so far: a program in a browser cannot start one")  # which is no fault
    c_modules.use("clang 22.0.0, in WebAssembly", lambda files, flags, name: b"")
    assert check_compiler() == "clang 22.0.0, in WebAssembly"
