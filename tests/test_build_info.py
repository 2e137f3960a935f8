from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kuiper
from kuiper import build_info as build_info_function
from kuiper.errors import KuiperError, ParameterError
from kuiper.machine import levels
from kuiper.threads import threads_for


def test_build_info_says_how_it_was_built() -> None:
    info = build_info_function()
    assert info["threads"] == kuiper.get_num_threads()
    assert info["compiler"]
    assert info["level"] in info["levels"]
    assert isinstance(info["flags"], str)
    assert info["openmp"] in (True, False)


# Import kuiper where the build config asks for what no CPU has; then which compiled modules are there all the same.
IMPORT_ON_ANOTHER_CPU = """
import importlib.machinery, sys, types
sys.modules["kuiper._build_config"] = types.SimpleNamespace(LEVELS={"later": {"requires": ["avx4096"]}})
try:
    import kuiper
except ImportError as error:
    print(error)
compiled = tuple(importlib.machinery.EXTENSION_SUFFIXES)
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print(sorted(name for name, file in files.items() if name.startswith("kuiper") and file.endswith(compiled)))
"""


@pytest.mark.skipif(build_info_function()["cpu_features"] is None, reason="this CPU cannot be asked")
def test_import_checks_the_cpu_before_it_loads_a_kernel() -> None:
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", IMPORT_ON_ANOTHER_CPU]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    message, compiled = answer.stdout.splitlines()
    assert "expected a CPU with avx4096" in message
    assert compiled == "['kuiper._cyutility', 'kuiper.machine.cpuid']"


def test_missing_compiled_module_says_how_to_build() -> None:
    with pytest.raises(ImportError, match=r"expected the compiled module kuiper\.nowhere"):
        levels._compiled("kuiper.nowhere")


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True, None, 1025, 1_000_000])
def test_set_num_threads_refuses_what_is_no_count(n: object) -> None:
    with pytest.raises(ParameterError, match="set_num_threads: expected an integer from 1 to 1024"):
        kuiper.set_num_threads(n)  # type: ignore[arg-type]


def test_set_num_threads_holds_for_work_that_is_worth_it() -> None:
    before = kuiper.get_num_threads()
    try:
        kuiper.set_num_threads(3)
        assert kuiper.get_num_threads() == 3
        assert (threads_for(10), threads_for(10_000_000)) == (1, 3)
    finally:
        kuiper.set_num_threads(before)


def test_errors_read_as_the_conventions_say() -> None:
    error = KuiperError("file.param:3", "2 inputs", 5)
    assert str(error) == "file.param:3: expected 2 inputs, got 5"
    assert str(error.with_hint("a").with_hint("b")) == "file.param:3: expected 2 inputs, got 5; a; b"
