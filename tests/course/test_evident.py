"""What an error and the student's file show together: names, lines and functions that the sentence may name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.course.evident import evident_cause, evident_if_unknown, mended, say_what_is_asked
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised, observe
from kuiper.course.testing import Mismatch, calling

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

POOL = """
class Pool:
    def __init__(self, pages):
        self.free = list(range(pages))
        self.page_users = [0] * pages
    def take(self) -> int:
        page = self.free.pop()
        self.page_users[page] = 1
        return page
    def share(self, page) -> None:
        self.page_users[page] += 1
def call():
    pool = Pool(3)
    page = pool.take()
    pool.share(page)
    return pool.free
"""
PARTIAL = """
from dataclasses import dataclass
@dataclass
class Partial:
    total: float
    mixed: float
def begin() -> Partial:
    return Partial(0.0, 1.0)
def call():
    return begin().total
"""


def loaded(text: str, folder: Path) -> ModuleType:
    path = folder / "exercises" / "double.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    module = ModuleType("evident")
    sys.modules["evident"] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def cause(syllabus: Syllabus, folder: Path, text: str, function: str = "call") -> str:
    """Of what ``call()`` raises, or of the None that it returns."""
    module = loaded(text, folder)
    seen = observe(module.call, (), {})
    error: Any = (
        StudentError(seen.raised) if seen.raised else Mismatch([], [1], seen.value, "NoneType where list is expected")
    )
    exercise = syllabus.exercise("1.1")
    return evident_cause(exercise, text, function, error) or evident_if_unknown(exercise, error)


@pytest.mark.parametrize(
    ("text", "before", "after", "words"),
    [
        (POOL, "page = self.free.pop", "page = free.pop", "`self.` is missing in front of `free`: only `self.free` is"),
        (POOL, "self.page_users[page] += 1", "users = page_users[page]", "in front of `page_users`"),
        (POOL, "pool.share(page)", "pool.share(page), take()", ""),  # no method is around that line
        (POOL, "page = self.free", "free = free", "`self.` is missing in front of `free`"),
        (POOL, "self.page_users = [0]", "page_users = [0]", "in front of `page_users` where `__init__` sets it"),
        (POOL, "self.page_users[page] += 1", "self.page_user[page] += 1", "is `page_users` meant?"),
        (POOL, "self.page_users[page] += 1", "self.offsets[page] += 1", ""),
        (POOL, "self.page_users[page] += 1", "last = page; self.last += last", ""),  # a variable that is read
        (POOL, "return page\n", "return pages\n", ""),  # the `page` of this function, or the `pages` of another?
        (POOL, "pool.share(page)", "return item\ndef other(item):\n    return 1", "`item` is a variable of `other`"),
        (POOL, "pool = Pool(3)", "pool = Poool(3)", "`Poool` is written, which has no value: is `Pool` meant?"),
        (POOL, "pool = Pool(3)", "pool = Pool(lenn('abc'))", "is `len` meant?"),
        (POOL, "pool = Pool(3)", "pool = Pool(unheard)", ""),
        (POOL, "self.free.pop()", "1; self.free = []\n        self.free[-1]", "there is no `self.free[-1]`"),
        (POOL, "= self.free.pop()", "= self.free[self.page_users[-1] + 9]", ""),  # which of the two?
        (POOL, "pool.share(page)", "x = []\n    while x[0] > 1:\n        pass", "`x` is empty, so that"),
        (POOL, "pool.share(page)", "x = []\n    x = x.append(1)\n    x.append(2)", "it changes `x` itself"),
        (POOL, "pool.share(page)", "y = [1].copy()\n    x = y.sort()\n    for i in x: pass", "`y.sort(...)`"),
        (POOL, "pool.share(page)", "for i in pool.free.reverse():\n        pass", "`pool.free.reverse(...)`"),
        (POOL, "pool.share(page)", "pool.free = pool.free.extend([1])\n    len(pool.free)", "`pool.free.extend(...)`"),
        (POOL, "    return pool.free", "    return pool.free.sort()", "`pool.free.sort(...)`"),
        (POOL, "pool.share(page)", "x = pool.free.sort()\n    y = None\n    len(y)", ""),  # x is not read there
        (POOL, "    return pool.free", "    print(pool.free)", ""),  # `call` does not say that it returns something
        (POOL, "        return page\n", "        print(page)\n", "`take` prints its result, and has no `return`"),
        (POOL, "        return page\n", "", "`take` has no `return`, so its result is None"),
        (POOL, "        return page\n", "        if page > 9: return page\n", ""),
        (PARTIAL, "return Partial(0.0, 1.0)", "return 0.0, 1.0", "a tuple is made where a Partial is asked"),
        (PARTIAL, "return Partial(0.0, 1.0)", "return {'total': 0.0}", "a dict is made where a Partial is asked for"),
        (PARTIAL, "begin().total", "begin().missing", ""),
        (PARTIAL, "begin().total", "begin().totals", "which it has not: is `total` meant?"),
    ],
)  # fmt: skip
def test_evident_cause_names_what_the_file_shows(
    syllabus: Syllabus, tmp_path: Path, text: str, before: str, after: str, words: str
) -> None:
    assert text.count(before) == 1
    said = cause(syllabus, tmp_path, text.replace(before, after))
    assert words in said if words else not said


def test_evident_cause_is_none_of_a_case_that_is_to_be_refused(syllabus: Syllabus, tmp_path: Path) -> None:
    exercise = syllabus.exercise("1.1")
    for line, is_said in (("items[0]", False), ("itmes[0]", True)):
        text = f"def call(items):\n    return {line}\n"
        with pytest.raises(Mismatch) as caught:
            calling(loaded(text, tmp_path).call, []).raises(ValueError, "empty")
        assert bool(evident_cause(exercise, text, "call", caught.value)) == is_said
        assert not evident_if_unknown(exercise, caught.value)


def test_evident_cause_leaves_functions_of_numpy_and_of_the_file_alone(syllabus: Syllabus, tmp_path: Path) -> None:
    text = "import numpy as np\ndef call():\n    x = np.append([1], 2)\n    x = None\n    return len(x)\n"
    assert not cause(syllabus, tmp_path, text)
    text = "class A:\n    def add(self, n):\n        return None\ndef call():\n    x = A().add(1)\n    return len(x)\n"
    assert not cause(syllabus, tmp_path, text)


def test_evident_cause_goes_by_no_line_of_another_file(syllabus: Syllabus) -> None:
    raised = Raised("NameError", (), "name 'free' is not defined", "exercises/other.py:6: page = free.pop()")
    assert not evident_cause(syllabus.exercise("1.1"), POOL, "call", StudentError(raised))


def test_evident_cause_of_a_returned_tuple_names_the_class_that_is_asked_for(
    syllabus: Syllabus, tmp_path: Path
) -> None:
    text = PARTIAL.replace("return Partial(0.0, 1.0)", "return 0.0, 1.0")
    with pytest.raises(Mismatch) as caught:
        calling(loaded(text, tmp_path).begin).gives({"total": 0.0, "mixed": 1.0})
    exercise = syllabus.exercise("1.1")
    said = "a tuple is returned where a Partial is asked for: Partial(...) makes one"
    assert evident_cause(exercise, text, "begin", caught.value) == said
    say_what_is_asked(exercise, text, caught.value)
    assert "(tuple where Partial is expected)" in str(caught.value)
    other = Mismatch([], {"size": 1}, (1, 2), "tuple where dict is expected")
    assert not evident_cause(exercise, text, "begin", other)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (
            "mean, var, count",
            "the values are returned in another order than asked for, which is `count, mean, var`",
        ),
        (
            "mean + mean - mean, var + var - var, count + count - count",
            "the values are the right ones, but are returned in another order than asked for",
        ),
        ("tuple([mean, var, count])", ""),  # it may be a part of a tree
        ("count, var, mean + 1", ""),
        ("count, mean, mean", ""),
    ],
)
def test_mended_names_the_order_that_is_asked_for(
    syllabus: Syllabus, tmp_path: Path, returned: str, words: str
) -> None:
    text = f"import numpy as np\ndef call(count, mean, var):\n    return {returned}\n"
    mean, var = np.float32([1, 2]), np.float32([3, 4])
    with pytest.raises(Mismatch) as caught:
        calling(loaded(text, tmp_path).call, 5, mean, var).gives((5, mean, var))
    caught.value.function = "call"
    found = mended(syllabus.exercise("1.1"), text, caught.value)
    assert [suspect.when for suspect in found] == [words] * bool(words)
    for suspect in found:
        assert loaded(suspect.text, tmp_path).call(5, 1, 2) == (5, 1, 2)


SEARCH = """
def find(names, name):
    for place, each in enumerate(names):
        if each == name:
            found = place
    else:
        found = -1
    return found
"""


def test_mended_puts_a_break_into_loops_whose_else_is_always_reached(syllabus: Syllabus, tmp_path: Path) -> None:
    exercise = syllabus.exercise("1.1")
    error = ValueError("-1")
    (found,) = mended(exercise, SEARCH, error)
    assert found.when == "a `break` is missing in the loop over `place`, whose `else` is reached each time"
    assert found.is_right
    assert loaded(found.text, tmp_path).find(["a", "b", "c"], "b") == 1
    for line in ("break", "return place", "raise ValueError(name)"):
        assert not mended(exercise, SEARCH.replace("found = place", line), error)
