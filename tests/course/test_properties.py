from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.course.places import python_environment
from kuiper.course.properties import EXAMPLES, given, property_of, st
from tests.course.made_up import made_up, solve
from tests.course.student_run import student_runs

if TYPE_CHECKING:
    from pathlib import Path

APART = """
import sys
from kuiper.course.properties import arrays, given, st
SHAPES = st.lists(st.integers(1, 3) | st.sampled_from([5]), max_size=2).map(tuple)
TREES = st.recursive(st.none(), lambda trees: st.tuples(trees, trees) | st.tuples(trees), max_leaves=3)
met = []
@given(array=arrays.arrays("f4", SHAPES, elements=st.integers(0, 9).map(float)), tree=TREES, data=st.data())
def test(room, array, tree, data):
    met.append((array.dtype.name, data.draw(st.permutations([1, 2]))))
print("hypothesis" in sys.modules)
test(room=1)
print("hypothesis" in sys.modules, {name for name, _ in met}, all(sorted(two) == [1, 2] for _, two in met))
"""
PROPERTY = """
from kuiper.course.properties import given, st


@given(number=st.integers(0, 9))
def test_double_of_any(impl, number):
    calling(impl.double, number).gives(2 * number)


def test_double_of_seven(impl):
    calling(impl.double, 7).gives(14)
"""


def test_given_imports_hypothesis_when_a_property_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", APART], env=python_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["False", "True {'float32'} True"], done.stderr


def test_given_asks_only_for_what_no_strategy_gives() -> None:
    met: list[int] = []

    @given(number=st.integers(0, 9))
    def test(impl: str, number: int) -> None:
        assert impl == "mine"
        met.append(number)
        assert number < 9 or len(met) < EXAMPLES

    assert list(inspect.signature(test).parameters) == ["impl"]
    assert property_of(test)
    assert property_of(len) is None
    test(impl="mine")
    assert len(set(met)) > 3
    first = met[:]
    met.clear()
    test(impl="mine")
    assert met == first


def test_given_shrinks_only_when_it_is_told_to() -> None:
    met: list[int] = []

    @given(number=st.integers(0, 10**6))
    def test(number: int) -> None:
        met.append(number)
        assert number < 1000

    def last_failing() -> int:
        with pytest.raises(AssertionError):
            test()
        return min(number for number in met if number >= 1000)

    assert last_failing() > 1000
    own = property_of(test)
    assert own is not None
    own.shrinks = True
    assert last_failing() == 1000


def test_properties_come_behind_the_examples_and_wait_for_them(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    course = syllabus.root / "course1_made_up"
    manifest, tests = course / "course.toml", course / "test_double.py"
    manifest.write_text(manifest.read_text().replace("test_count = 2", "test_count = 4"))
    tests.write_text(tests.read_text() + PROPERTY)
    solve(syllabus, "1.1", ("x * 2", "x * 2 if x != 7 else 0"))
    _, text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1", "-p", "no:cacheprovider")
    assert "..Fp" in text
    assert "1.1 double - 2 of 4 tests pass" in text
    assert "1 wrong, 1 waiting" in text
    solve(syllabus, "1.1", ("x * 2", "x * 2 if x != 5 else 0"))
    _, text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1", "-p", "no:cacheprovider")
    assert "...F" in text
    assert "double(5)" in text
