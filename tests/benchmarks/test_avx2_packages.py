"""Copies of packages are told that the CPU has AVX2 alone, and everything else as it is."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from benchmarks import avx2_packages, run
from benchmarks.avx2_answers import CPUID, HIDDEN, QUESTION
from benchmarks.avx2_packages import narrowed, replace_questions
from benchmarks.errors import BenchmarkError
from benchmarks.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="signals and instructions of Linux on x86-64"
)
needs_objdump = pytest.mark.skipif(shutil.which("objdump") is None, reason="no binutils here")

ASKS = """
import ctypes, json, sys
from benchmarks.avx2_answers import ASK, CPUID, QUESTION, Answer, Answers, function

answers = Answers("somewhere")
question = function(ASK.replace(CPUID, QUESTION), None, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(Answer))
pairs = []
for leaf, subleaf in ((0, 0), (7, 0), (7, 1), (0x80000002, 0)):
    told, own = Answer(), Answer()
    question(leaf, subleaf, ctypes.byref(told))
    answers.cpuid(leaf, subleaf, ctypes.byref(own))
    pairs.append([leaf, subleaf, list(told), list(own)])
print(json.dumps([pairs, answers.asked, sys.path[0]]))
"""

ILLEGAL = """
import ctypes
from benchmarks.avx2_answers import Answers, function

answers = Answers("somewhere")
function(b"\\x0f\\x0b", None)()
"""


def process(program: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: a signal's handler stays."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)


def test_answers_hide_avx512_and_nothing_else() -> None:
    pairs, asked, first_path = json.loads(process(ASKS).stdout)
    assert asked == len(pairs)
    assert first_path == "somewhere"
    for leaf, subleaf, told, own in pairs:
        hidden = HIDDEN.get((leaf, subleaf), (0, 0, 0, 0))
        assert told == [value & ~bits for value, bits in zip(own, hidden, strict=True)]
    assert not pairs[1][2][1] >> 16 & 1


def test_other_illegal_instructions_end_the_process() -> None:
    assert process(ILLEGAL).returncode == -4


def library_of(package: Path) -> Path:
    """A package of one library that asks the CPU twice, and has the same bytes in a number."""
    if shutil.which("cc") is None:
        pytest.skip("no compiler here")
    package.mkdir()
    source = package / "asks.c"
    source.write_text(
        """
        #include <cpuid.h>
        unsigned number(void) { return 0xa20f0011; }
        unsigned features(void) { unsigned a, b, c, d; __cpuid_count(7, 0, a, b, c, d); return b; }
        unsigned most(void) { unsigned a, b, c, d; __cpuid(0, a, b, c, d); return a; }
        """,
        encoding="ascii",
    )
    library = package / "asks.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    (package / "__init__.py").touch()
    return library


@needs_objdump
def test_replace_questions_changes_these_instructions_alone(tmp_path: Path) -> None:
    library = library_of(tmp_path / "asking")
    before = library.read_bytes()
    assert replace_questions(library) == 2
    after = library.read_bytes()
    changed = [index for index in range(len(before) - 1) if before[index : index + 2] != after[index : index + 2]]
    assert [before[index : index + 2] for index in changed if after[index : index + 2] == QUESTION] == [CPUID, CPUID]
    assert b"\x0f\xa2" in after
    assert replace_questions(library) == 0


@needs_objdump
def test_narrowed_package_is_told_of_no_avx512(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_of(tmp_path / "asking")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(avx2_packages, "version", lambda package: "1")
    copy = narrowed(["asking"], tmp_path / "copies")
    assert narrowed(["asking"], tmp_path / "copies") == copy
    program = f"""
import ctypes, pathlib
from benchmarks.avx2_answers import Answers

answers = Answers({str(copy)!r})
import asking
library = ctypes.CDLL(str(pathlib.Path(asking.__file__).with_name("asks.so")))
print(library.features() >> 16 & 1, library.most() > 6, answers.asked)
"""
    assert process(program).stdout.split() == ["0", "True", "2"]


@needs_objdump
def test_narrowed_refuses_a_package_that_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mute").mkdir()
    (tmp_path / "mute" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(avx2_packages, "version", lambda package: "1")
    with pytest.raises(BenchmarkError, match=r"--isa avx2: expected a library in mute that asks .*, got none"):
        narrowed(["mute"], tmp_path / "copies")


def test_copies_are_made_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(run, "narrowed", lambda packages, folder: made.append((packages, folder)))
    run.copy_packages(Namespace(peers=["kuiper", "ncnn", "torch-eager", "openvino"], cache=tmp_path))
    assert made == [(["ncnn"], tmp_path / "avx2"), (["openvino"], tmp_path / "avx2")]


def test_without_binutils_says_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BenchmarkError, match=r"expected the program objdump, got none; install binutils"):
        replace_questions(tmp_path / "library.so")
