from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kuiper.compiler import find_compiler
from kuiper.course.precompiled import VECTORS, precompiled

PACKAGES = Path(__file__).parents[2]


def includes() -> list[str]:
    return [f"-I{PACKAGES}", f"-I{sysconfig.get_path('include')}"]


def is_gcc() -> bool:
    found = find_compiler()
    if found is None or found.is_zig or sys.platform != "linux":
        return False
    words = [*found.command, "-dM", "-E", "-x", "c", "/dev/null"]
    macros = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return "__GNUC__" in macros and "__clang__" not in macros


def test_precompiled_leaves_files_without_vectors_alone(tmp_path: Path) -> None:
    plain = tmp_path / "plain.c"
    plain.write_text("int one(void) { return 1; }\n")
    assert precompiled(plain, tmp_path, ["cc"]) == []
    assert list(tmp_path.iterdir()) == [plain]


@pytest.mark.skipif(not is_gcc(), reason="only gcc's compiled headers are used")
def test_precompiled_is_made_once_for_a_command(tmp_path: Path) -> None:
    found = find_compiler()
    assert found is not None
    command = [*found.command, *includes(), "-O0"]
    file = tmp_path / "vectors.c"
    file.write_text(f'#include <Python.h>\n#include "{VECTORS}"\nint lanes(void) {{ return KUIPER_LANES; }}\n')
    words = precompiled(file, tmp_path, command)
    header = Path(words[1])
    made = header.with_name(f"{header.name}.gch")
    before = made.stat().st_mtime_ns
    assert precompiled(file, tmp_path, command) == words
    assert made.stat().st_mtime_ns == before
    assert precompiled(file, tmp_path, [*command, "-DMORE"]) != words
    header.write_text("#error read as text\n")  # gcc does not read it where it takes the compiled one
    compiled = [*command, "-Winvalid-pch", "-Werror", *words, "-c", str(file), "-o", str(tmp_path / "vectors.o")]
    assert subprocess.run(compiled, capture_output=True, text=True, check=False).stderr == ""


def test_precompiled_asks_a_compiler_that_refuses_only_once(tmp_path: Path) -> None:
    file = tmp_path / "vectors.c"
    file.write_text(f'#include "{VECTORS}"\n')
    asked = tmp_path / "asked"
    command = [sys.executable, "-c", f"open({str(asked)!r}, 'a').write('.'); raise SystemExit(1)"]
    assert precompiled(file, tmp_path, command) == []
    assert precompiled(file, tmp_path, command) == []
    assert asked.read_text() == "."
