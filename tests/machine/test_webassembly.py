"""What a WebAssembly runtime is asked, and what follows from the answer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from kuiper.machine import levels, webassembly

if TYPE_CHECKING:
    from collections.abc import Callable

NODE = shutil.which("node")


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let this Python believe that it runs on a runtime that accepts these modules."""

    def use(*accepted: bytes) -> None:
        js, ffi = ModuleType("js"), ModuleType("pyodide.ffi")
        js.WebAssembly = SimpleNamespace(validate=accepted.__contains__)  # type: ignore[attr-defined]
        ffi.to_js = lambda data: data  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "js", js)
        monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
        monkeypatch.setattr(sys, "platform", "emscripten")

    return use


def test_cpu_features_are_those_that_the_runtime_accepts(runtime: Callable[..., None]) -> None:
    runtime(webassembly.module_of(webassembly.BODIES["simd128"]))
    assert levels.cpu_features() == {"simd128"}
    runtime(*map(webassembly.module_of, webassembly.BODIES.values()))
    assert levels.cpu_features() == {"simd128", "relaxed_simd"}


def test_choose_level_takes_relaxed_simd_only_where_it_is(runtime: Callable[..., None]) -> None:
    built: dict[str, levels.Level] = {
        "wasm32-simd128": {"flags": [], "requires": ["simd128"]},
        "wasm32-relaxed-simd": {"flags": [], "requires": ["simd128", "relaxed_simd"]},
    }
    runtime(webassembly.module_of(webassembly.BODIES["simd128"]))
    assert levels.choose_level(built, levels.cpu_features(), "native") == "wasm32-simd128"
    runtime()
    with pytest.raises(ImportError, match=r"kuiper: expected a CPU with simd128, .*, got one without"):
        levels.choose_level(built, levels.cpu_features(), "native")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_modules_are_accepted_by_a_runtime_and_damaged_ones_are_not() -> None:
    good = webassembly.module_of(webassembly.BODIES["simd128"])
    script = "console.log(process.argv.slice(1).map((hex) => WebAssembly.validate(Buffer.from(hex, 'hex'))).join())"
    damaged = good.replace(b"\xfd\x0f", b"\xff\x0f")
    words = [module.hex() for module in (webassembly.module_of(b""), good, damaged)]
    assert NODE is not None
    done = subprocess.run([NODE, "-e", script, *words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "true,true,false"
