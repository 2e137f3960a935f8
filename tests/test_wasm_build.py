"""The builder of the wheel for browsers: what of it needs neither its tools nor the network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

FOLDER = Path(__file__).parents[1] / "packaging" / "wasm"
NODE = shutil.which("node")

# (module (import "env" "NAME" (func))), with one letter for the name
IMPORTING = b"\0asm\1\0\0\0" + b"\1\4\1\x60\0\0" + b"\2\x09\1\3env\1%c\0\0"
# (module (func (export "a")))
RUNTIME = b"\0asm\1\0\0\0" + b"\1\4\1\x60\0\0" + b"\3\2\1\0" + b"\7\5\1\1a\0\0" + b"\x0a\4\1\2\0\x0b"


@pytest.fixture
def toolchain() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wasm_toolchain", FOLDER / "toolchain.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_translated_takes_the_runtimes_numbers(toolchain: ModuleType) -> None:
    names = "#define SIZEOF_LONG 8\n/* #undef HAVE_X */\n#  define HAVE_FORK 1\n#define OWN 1\n#endif"
    values = {"SIZEOF_LONG": 4, "HAVE_X": 1, "HAVE_FORK": 0}
    expected = "#define SIZEOF_LONG 4\n#define HAVE_X 1\n/* #undef HAVE_FORK */\n#define OWN 1\n#endif\n"
    assert toolchain.translated(names, values) == expected


def test_program_that_is_missing_is_named(toolchain: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(toolchain.Unreachable, match="expected the program npm, got none on the PATH"):
        toolchain.program("npm")


def test_node_that_is_too_old_is_named(toolchain: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "program", lambda name: name)
    for version, is_old in (("v18.19.0", True), (f"v{toolchain.OLDEST_NODE}.0.0", False)):
        monkeypatch.setattr(toolchain, "run", lambda command, version=version: f"{version}\n")
        if is_old:
            with pytest.raises(toolchain.Unreachable, match=r"expected node \d+ or later, got v18.19.0"):
                toolchain.node()
        else:
            assert toolchain.node() == ["node"]


def test_reach_tells_another_file_from_a_registry_that_is_not_there(
    toolchain: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for said, expected in (("npm error code EINTEGRITY", False), ("Could not resolve host", True)):

        def fail(command: list[str], said: str = said, **variables: str) -> str:
            raise toolchain.ToolError(said)

        monkeypatch.setattr(toolchain, "run", fail)
        with pytest.raises(toolchain.ToolError, match=said) as caught:
            toolchain.reach(["npm"])
        assert isinstance(caught.value, toolchain.Unreachable) == expected


def test_goals_are_told_beside_the_figures() -> None:
    code = """
from goals import NATIVE, RELAXED, SIMD, keep, table
found = {NATIVE: {"resnet20": 1.0, "shakespeare": 1000.0}}
for figures in {"resnet20": 4.5, "shakespeare": 300}, {"resnet20": 3.5, "shakespeare": 500}:
    keep(found, f"node, {SIMD}", figures)
    keep(found, f"node, {RELAXED}", {name: figures[name] for name in ("resnet20",)})
print(table(found))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=True)
    first, _, resnet, shakespeare = done.stdout.splitlines()
    assert first == "| | node, wasm32-simd128 | node, wasm32-relaxed-simd |"
    assert resnet == "| ResNet-20, times native | 3.5 (goal 4) | 3.5 (goal 2.5, missed) |"
    assert shakespeare == "| `shakespeare`, part of the native pace | 0.50 (goal 0.4) |  |"


def test_build_keeps_equal_modules_once_and_languages_apart(tmp_path: Path) -> None:
    files = {
        "a.cpython-314-wasm32-emscripten.so": "1",
        "b.cpython-314-wasm32-emscripten.so": "1",
        "_levels/wasm32_relaxed_simd/a.cpython-314-wasm32-emscripten.so": "1",
        "_levels/wasm32_relaxed_simd/b.cpython-314-wasm32-emscripten.so": "2",
        "locale/zh/LC_MESSAGES/kuiper.mo": "",
        "locale/zh/LC_MESSAGES/kuiper.po": "",
        "course/material/notebooks/zh/01.md": "",
        "course/material/docs/use/text.zh-CN.md": "",
        "course/material/docs/use/text.md": "",
    }
    for name, content in files.items():
        path = tmp_path / "tree" / "kuiper" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    code = f"""
import os, pathlib, build
os.chdir(build.ROOT)
folder = pathlib.Path({str(tmp_path)!r})
build.keep_once(folder / "tree")
build.languages_apart(folder / "tree", folder)
"""
    subprocess.run([sys.executable, "-c", code], cwd=FOLDER, check=True)
    left = sorted(
        path.relative_to(tmp_path / "tree/kuiper").as_posix() for path in tmp_path.rglob("tree/**/*") if path.is_file()
    )
    assert left == [
        "_levels/wasm32_relaxed_simd/b.cpython-314-wasm32-emscripten.so",
        "a.cpython-314-wasm32-emscripten.so",
        "b.cpython-314-wasm32-emscripten.so",
        "course/material/docs/use/text.md",
    ]
    with zipfile.ZipFile(tmp_path / "languages" / "zh.zip") as archive:
        assert archive.namelist() == [
            "kuiper/course/material/docs/use/text.zh-CN.md",
            "kuiper/course/material/notebooks/zh/01.md",
            "kuiper/locale/zh/LC_MESSAGES/kuiper.mo",
        ]


def test_headers_come_from_the_next_source_in_words(
    toolchain: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def download(package: dict[str, str], source: str) -> Path:
        if source != "second":
            raise toolchain.ToolError("expected version 1, got none")
        return tmp_path / "a.deb"

    tools = toolchain.Toolchain.__new__(toolchain.Toolchain)
    tools.folder = tmp_path
    monkeypatch.setattr(tools, "_download", download, raising=False)
    monkeypatch.setattr(toolchain, "unpack", lambda package, folder: folder.mkdir())
    places = {1: "first", 2: "second"}
    choices = [{"package": "a", "version": version, "sources": [place]} for version, place in places.items()]
    monkeypatch.setitem(toolchain.SOURCES["headers"], "python", choices)
    assert tools._headers("python") == (2, tmp_path / "a-2")
    assert capsys.readouterr().out == "packaging/wasm: first: expected version 1, got none; taking a 2\n"
    monkeypatch.setitem(toolchain.SOURCES["headers"], "python", [{**choices[0], "package": "b"}])
    with pytest.raises(toolchain.ToolError, match="first: expected version 1"):
        tools._headers("python")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_an_import_that_the_runtime_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyodide.asm.wasm").write_bytes(RUNTIME)
    (tmp_path / "pyodide.asm.mjs").write_text("var wasmImports={b,c:_c};", encoding="utf-8")
    for letter in "abd":
        (tmp_path / f"{letter}.so").write_bytes(IMPORTING % letter.encode())
    assert NODE is not None
    command = [NODE, str(FOLDER / "imports.mjs"), *sorted(map(str, tmp_path.glob("*.so")))]
    environment = {**os.environ, "KUIPER_PYODIDE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
    assert (done.returncode, done.stdout) == (1, f"{tmp_path / 'd.so'}: d\n")
