from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.compiler import find_compiler
from kuiper.course import builder
from kuiper.course.builder import annotate, load_pyx, module_name
from kuiper.course.c_modules import RefusedError
from kuiper.course.errors import BuildError, ExerciseSyntaxError
from kuiper.course.local_arrays import fills_variables
from kuiper.course.observation import observe
from kuiper.course.places import python_environment

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "def twice(float[::1] x):\n    cdef Py_ssize_t i\n    for i in range(x.shape[0]):\n        x[i] *= 2\n"

IS_ZIG = bool((found := find_compiler()) and found.is_zig)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def write(folder: Path, text: str) -> Path:
    path = folder / "twice.pyx"
    path.write_text(text)
    return path


def test_load_pyx_compiles_once_for_each_text(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path, GOOD)
    x = np.ones(3, np.float32)
    module = load_pyx(path, cache)
    module.twice(x)
    assert x.tolist() == [2, 2, 2]
    assert load_pyx(path, cache) is module
    write(tmp_path, GOOD.replace("*= 2", "*= 3"))
    other = load_pyx(path, cache)
    assert other is not module
    other.twice(x)
    assert x.tolist() == [6, 6, 6]


def test_load_pyx_keeps_the_builds_that_were_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MOST_BUILDS", 3)
    own = tmp_path / "build"
    own.mkdir()
    other = own / "thrice_safe_0123456789abcdef.so"
    stems = ["twice_safe_" + 16 * letter for letter in "abcd"]
    for age, path in enumerate([other, *(own / f"{stem}.so" for stem in stems)]):
        path.touch()
        os.utime(path, (1000 + age, 1000 + age))
    used = write(tmp_path, GOOD.replace("*= 2", "*= 5"))
    load_pyx(used, own)
    left = {path.name.partition(".")[0] for path in own.glob("*.so")}
    assert left >= {other.stem, *stems[2:], module_name(used, "safe")}
    assert not left & set(stems[:2])


def test_safe_mode_checks_every_index(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path, GOOD.replace("x.shape[0])", "x.shape[0] + 1)"))
    with pytest.raises(IndexError, match="Out of bounds"):
        load_pyx(path, cache).twice(np.ones(3, np.float32))


SUMS = """
cdef enum:
    COUNT = 4

def total(float[::1] x):
    cdef float[2][COUNT] sums
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        sums[1][i] = x[i]
    return sums[1][0]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Visual Studio has no such check")
@pytest.mark.skipif(IS_ZIG, reason="zig has the processor stop the process at such an index")
def test_safe_mode_checks_indices_of_local_arrays(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "exercises" / "total.pyx"
    path.parent.mkdir()
    path.write_text(SUMS)
    module = load_pyx(path, cache)
    assert observe(module.total, (np.ones(4, np.float32),), {}).value == 1
    raised = observe(module.total, (np.ones(5, np.float32),), {}).raised
    assert raised is not None
    assert (raised.type, raised.message) == ("ArrayIndexError", "index 4 is outside of a local C array of 4 elements")
    assert raised.place.endswith("total.pyx:9: sums[1][i] = x[i]")
    assert "IndexError" in raised.bases


@pytest.mark.skipif(sys.platform == "win32", reason="Visual Studio has no such check")
@pytest.mark.skipif(IS_ZIG, reason="zig has the processor stop the process at such an index")
def test_a_bare_module_answers_alike_without_the_line(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "total.pyx"
    path.write_text(SUMS)
    seen = [
        observe(load_pyx(path, cache, bare=bare).total, (np.ones(length, np.float32),), {})
        for length in (0, 4, 5)
        for bare in (False, True)
    ]
    for full, bare in zip(seen[::2], seen[1::2], strict=True):
        assert bare.value == full.value
        assert (bare.raised and (bare.raised.type, bare.raised.message)) == (
            full.raised and (full.raised.type, full.raised.message)
        )
    assert seen[-1].raised is not None
    assert "total.pyx" not in seen[-1].raised.place


UNSET = """
def numbers():
    cdef float[4] unset
    return [unset[0], unset[1], unset[2], unset[3]]
"""


@pytest.mark.skipif(not (found and fills_variables(found.command)), reason="this compiler cannot fill local variables")
def test_safe_mode_fills_what_is_not_set(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "unset.pyx"
    path.write_text(UNSET)
    numbers = load_pyx(path, cache).numbers()
    assert len({repr(number) for number in numbers}) == 1  # whatever lay there before
    assert np.isnan(numbers[0]) or abs(numbers[0]) > 1e30


def test_fills_variables_knows_a_compiler_that_cannot() -> None:
    assert not fills_variables((sys.executable, "-c", "raise SystemExit(1)"))


def test_module_name_knows_mode_text_and_neighbours(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    names = {module_name(path, "safe"), module_name(path, "fast")}
    (tmp_path / "twice.h").write_text("int x;")
    names.add(module_name(path, "safe"))
    write(tmp_path, GOOD + "\n")
    names.add(module_name(path, "safe"))
    assert len(names) == 4


def test_a_compile_error_is_short_and_has_a_caret(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path, GOOD.replace("*= 2", "*= (2"))
    with pytest.raises(ExerciseSyntaxError) as caught:
        load_pyx(path, cache)
    lines = str(caught.value).splitlines()
    assert len(lines) <= 10
    assert "twice.pyx:" in lines[0]
    assert lines[2].strip() == "^"


@pytest.mark.parametrize("text", [GOOD.replace("*= 2", "*= (2"), GOOD + 'cdef extern from "nowhere.h":\n    pass\n'])
def test_a_refused_text_is_compiled_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """By Cython, or by the C compiler, whose second try without array checks is only for one that has none."""
    path = write(tmp_path, text)
    tried = []
    compile_c = builder.compile_c
    monkeypatch.setattr(builder, "compile_c", lambda *words, **more: (tried.append(1), compile_c(*words, **more)))
    with pytest.raises(ExerciseSyntaxError) as first:
        load_pyx(path, cache)
    assert len(tried) <= 1
    monkeypatch.setattr(builder, "_build", None)
    with pytest.raises(ExerciseSyntaxError) as second:
        load_pyx(path, cache)
    assert str(second.value) == str(first.value)


def test_what_the_machine_refuses_is_tried_again(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, GOOD + "\n")

    def no_room(*words: object, **more: object) -> None:
        raise RefusedError("twice.c: fatal error: error writing to /tmp/x.s: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(builder, "compile_c", no_room)
        with pytest.raises(ExerciseSyntaxError, match="No space left"):
            load_pyx(path, cache)
    assert load_pyx(path, cache).twice


def test_an_undeclared_name_is_a_compile_error(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(ExerciseSyntaxError, match="undeclared name not builtin: stepp"):
        load_pyx(write(tmp_path, GOOD.replace("*= 2", "*= stepp")), cache)


def test_without_a_compiler_one_line_says_what_to_install(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(BuildError, match=r"expected the C compiler no-such-compiler, got none of this name .+; .+"):
        builder._build(write(tmp_path, GOOD), "x", cache / "x.so", "safe")


@pytest.mark.thorough
def test_annotate_writes_html(tmp_path: Path) -> None:
    page = annotate(write(tmp_path, GOOD), tmp_path)
    assert page.suffix == ".html"
    assert "Cython" in page.read_text()


SMALL_SCANNER = """
import sys
from pathlib import Path
from kuiper.course import ascii_names, builder
ascii_names.use()
apart = builder._build_apart
builder._build_apart = lambda *words: (print("apart"), apart(*words))
try:
    print(builder.load_pyx(Path(sys.argv[1]), Path(sys.argv[2])).twice.__doc__.splitlines()[-1])
except builder.ExerciseSyntaxError as error:
    print(error)
print(ascii_names.are_used())
"""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("def twice(x):\n    'größer'\n    return x * 2  # 两倍\n", ["größer"]),
        ("def twice(größe):\n    'names'\n    return größe * 2\n", ["apart", "names"]),
        ("def twice(größe):\n    return größ * 2\n", ["apart", "twice.pyx:2:12: undeclared name not builtin: größ"]),
        ("def twice(x):\n    return x ± 2\n", ["apart", "twice.pyx:2:14: Unrecognized character"]),
    ],
)
def test_the_small_scanner_of_a_worker_refuses_no_name(tmp_path: Path, cache: Path, text: str, seen: list[str]) -> None:
    path = tmp_path / "twice.pyx"
    path.write_text(text, encoding="utf-8")
    words = [sys.executable, "-c", SMALL_SCANNER, str(path), str(cache)]
    environment = {**python_environment(), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[: len(seen)] == seen
    assert lines[-1] == "True"
