"""Exercise 5.8. Your cases meet the right conv2d, then the bug bank of exercise 3.5, then bugs that are in no bank.

Only the cases come from your file; they are tried out here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.bugs import bug_file, read_bugs
from kuiper.course.comparison import difference
from kuiper.course.importer import load
from kuiper.course.manifest import read_syllabus
from kuiper.course.selection import Selection, selected
from kuiper.language import noop, translate

LARGEST = 20
MAX_WORK = 5_000_000  # multiplications for one case, whatever a bug makes of stride, padding and dilation


@cache
def solution():
    """Solutions everywhere, and exercise 3.5 among them."""
    selection = Selection(read_syllabus(Path(__file__).parents[1]), "solution")
    return selection, selection.syllabus.exercise("3.5")


def loaded(selection, exercise):
    with selected(selection):
        return load(selection, exercise).conv2d


@cache
def right():
    return loaded(*solution())


@cache
def bank():
    """The bugs of 3.5: what is wrong, and the conv2d."""
    selection, exercise = solution()
    return [
        (bug.when, loaded(selection.with_path(exercise, bug_file(exercise, bug)), exercise))
        for bug in read_bugs(exercise)
    ]


def array(value, limit=10_000):
    """A student's array, made float32; None if it is none or too large."""
    try:
        made = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        return None
    return made if 0 < made.size <= limit else None


def pair(value, least):
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2
    return is_pair and all(type(number) is int and least <= number <= LARGEST for number in value)


def complaint(case):
    """What is wrong with the form of a case, "" if nothing is."""
    if not isinstance(case, (tuple, list)) or len(case) != 8:
        return translate("is no Case")
    x, weight, bias, stride, padding, dilation, groups, expected = case
    for name, value, ranks in (
        ("x", x, (4,)),
        ("weight", weight, (4,)),
        ("bias", bias, (1, 2)),
        ("expected", expected, (4,)),
    ):
        optional = name in ("bias", "expected") and value is None
        if not optional and (array(value) is None or array(value).ndim not in ranks):
            words = translate("has no array of at most 10000 numbers with {axes} axes as {name}")
            return words.format(axes=ranks[0], name=name)
    if not (pair(stride, 1) and pair(padding, 0) and pair(dilation, 1)):
        words = translate("has a stride, padding or dilation that is no pair of numbers up to {largest}")
        return words.format(largest=LARGEST)
    if not (type(groups) is int and 1 <= groups <= LARGEST):
        return translate("has groups {groups}").format(groups=repr(groups))
    words = translate("is too much work: more than {count} multiplications")
    return "" if work(case) <= MAX_WORK else words.format(count=MAX_WORK)


def work(case):
    """How many multiplications a convolution can need that steps over every pixel of the padded images."""
    (n, _, height, width), kernels = np.shape(case[0]), np.size(case[1])
    rows, columns = height + 2 * case[4][0], width + 2 * case[4][1]
    return n * max(kernels, np.shape(case[0])[1]) * rows * columns


def what_came(found):
    """What a student has returned, in words."""
    if found is None:
        return translate("nothing: is there a return?")
    if not isinstance(found, (list, tuple)):
        return translate("a {type}, which is no list of cases").format(type=type(found).__name__)
    if len(found) == 8 and not isinstance(found[2], tuple) and isinstance(found[3], tuple):
        return translate("one case alone: a list of cases is wanted, [Case(...)]")
    if 1 <= len(found) <= 50:
        return translate("1 to 50 cases")
    return translate("{count} cases").format(count=len(found))


def ready(impl):
    """The student's cases with arrays in them; a test that gets a list without form fails here."""
    found = impl.cases()
    same("cases()", what_came(found), translate("1 to 50 cases"))
    for number, case in enumerate(found):
        same(f"cases()[{number}]", complaint(case) or translate("is a Case"), translate("is a Case"))
    return [
        tuple(array(part) if name in (0, 1, 2, 7) and part is not None else part for name, part in enumerate(case))
        for case in found
    ]


def answer(conv2d, case):
    """What a conv2d makes of a case: an array, or the name of its error."""
    x, weight, bias, stride, padding, dilation, groups, _ = case
    try:
        return conv2d(
            x.copy(),
            weight.copy(),
            bias if bias is None else bias.copy(),
            tuple(stride),
            tuple(padding),
            tuple(dilation),
            groups,
        )
    except Exception as error:  # a bug may fail in any way
        return type(error).__name__


def is_exposed(conv2d, cases):
    """Whether one of the cases shows that this conv2d is wrong."""
    expectations = ((case, "ValueError" if case[-1] is None else case[-1]) for case in cases)
    return any(difference(answer(conv2d, case), expected, 1e-6) is not None for case, expected in expectations)


def agree(cases):
    """Fail unless the right conv2d gives what every case expects; say whether a known wrong one gives it."""
    for number, case in enumerate(cases):
        expected, wanted = "ValueError" if case[-1] is None else case[-1], answer(right(), case)
        words, when = translate("{case}: 'got' is what you expect, 'expected' is what is right"), ""
        if difference(expected, wanted, 1e-6) is not None:
            alike = [when for when, conv2d in bank() if not is_exposed(conv2d, cases)]
            if alike:
                words, when = translate("{case}: you expect what comes when {mistake}"), translate(alike[0], "bugs")
        same(words.format(case=f"cases()[{number}]", mistake=when), expected, wanted, 1e-6)


def test_cases_are_right(impl):
    agree(ready(impl))


@pytest.mark.parametrize("percent", [25, 50, 70, 80, 90, 100])
def test_bugs_are_dead(impl, percent):
    cases = ready(impl)
    agree(cases)
    alive = [when for when, conv2d in bank() if not is_exposed(conv2d, cases)]
    dead = len(bank()) - len(alive)
    wanted = translate("at least {percent} % of the bugs are dead").format(percent=percent)
    enough = dead * 100 >= percent * len(bank())
    names = "; ".join(translate(when, "bugs") for when in alive[:2])
    got = translate("{dead} of {count}; alive: {names}").format(dead=dead, count=len(bank()), names=names)
    same(translate("cases() against the bank of 3.5"), wanted if enough else got, wanted)


OTHERS = {
    noop("the answer is 0 everywhere"): lambda y: np.zeros_like(y),
    noop("the output channels stand in reversed order"): lambda y: y[:, ::-1],
    noop("negative sums become 0"): lambda y: np.maximum(y, 0),
    noop("height and width of the answer are swapped"): lambda y: y.swapaxes(2, 3),
    noop("every image's answer is that of the last one"): lambda y: y[[-1] * len(y)],
    noop("the last row of the answer is missing"): lambda y: y[:, :, :-1],
    noop("the last column of the answer is 0"): lambda y: (
        y * (np.arange(y.shape[3]) < y.shape[3] - 1).astype(np.float32)
    ),
}


@pytest.mark.parametrize("when", OTHERS)
def test_bugs_in_no_bank_are_dead(impl, when):
    cases = ready(impl)
    agree(cases)
    dead = is_exposed(lambda *args: OTHERS[when](right()(*args)), cases)
    alive = translate("alive: {name}").format(name=translate(when))
    same(translate("cases() against a bug in no bank"), translate("dead") if dead else alive, translate("dead"))


def test_a_right_one_survives(impl):
    cases = ready(impl)
    got = translate("dead") if is_exposed(right(), cases) else translate("alive")
    same(translate("cases() against a right conv2d"), got, translate("alive"))


def test_cases_come_out_the_same_each_time(impl):
    calling(count, impl).gives(len(ready(impl)))


def count(impl):
    first, second = impl.cases(), impl.cases()
    return len(first) if len(first) == len(second) else "not the same number of cases each time"
