"""Exercise 5.8. Your check meets right convolutions, then the bug bank of exercise 3.5, then bugs that are in no bank."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling


def accepts(impl, which):
    """What check says of a right conv2d: the solution of 3.5, or one that adds up in another way."""
    from kuiper.course.importer import load
    from kuiper.course.selection import Selection, active, selected
    from kuiper.layers.convolution import Stencil
    from kuiper.layers.reference.conv2d import conv2d as loops

    selection = Selection(active().syllabus, "solution")
    with selected(selection):
        solution = load(selection, selection.syllabus.exercise("3.5")).conv2d

    def other(x, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
        solution(x, weight, bias, stride, padding, dilation, groups)  # for the errors
        stencil = Stencil(weight.shape[2:], tuple(stride), tuple(padding), tuple(padding), tuple(dilation))
        return loops(x, weight, bias, stencil, groups)

    right = {"solution": lambda *args, **kwargs: solution(*args, **kwargs), "loops": other}
    impl.check(right[which])
    return "accepted"


def hunt(impl, percent):
    """Let check meet all bugs of 3.5; say whether so many of them are dead, or name those that are alive."""
    from kuiper.course.bugs import bug_file, read_bugs
    from kuiper.course.importer import load
    from kuiper.course.selection import Selection, active, selected

    selection = Selection(active().syllabus, "solution")
    exercise = selection.syllabus.exercise("3.5")

    def dies(selection):
        with selected(selection):
            conv2d = load(selection, exercise).conv2d
            try:
                impl.check(lambda *args, **kwargs: conv2d(*args, **kwargs))
            except NotImplementedError:
                raise
            except Exception:
                return True
            return False

    bugs = read_bugs(exercise)
    before = dies(selection)
    alive = [bug.when for bug in bugs if not dies(selection.with_path(exercise, bug_file(exercise, bug)))]
    if before or dies(selection):
        return "a right conv2d is turned down"
    dead = len(bugs) - len(alive)
    if dead * 100 >= percent * len(bugs):
        return f"at least {percent} % of the bugs are dead"
    return f"{dead} of {len(bugs)} are dead. Alive: " + "; ".join(alive[:3])


def judge(impl, bug):
    """What check says of a conv2d that is wrong in a way that is in no bank."""
    from kuiper.course.importer import load
    from kuiper.course.selection import Selection, active, selected

    selection = Selection(active().syllabus, "solution")
    with selected(selection):
        right = load(selection, selection.syllabus.exercise("3.5")).conv2d

    def wrong(x, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
        y = right(x, weight, bias, stride, padding, dilation, groups)
        if bug == "silent zeros":
            return np.zeros_like(y)
        if bug == "largest channel first":
            return y[:, ::-1]
        if bug == "negative sums cut off":
            return np.maximum(y, 0)
        if bug == "transposed":
            return y.swapaxes(2, 3)
        if bug == "second image twice":
            return y[[-1] * len(y)]
        if bug == "last row lost":
            return y[:, :, :-1] if y.shape[2] > 1 else y
        return y

    impl.check(lambda *args, **kwargs: right(*args, **kwargs))
    try:
        impl.check(wrong)
    except NotImplementedError:
        raise
    except Exception:
        return "dead"
    return f"alive: {bug}"


@pytest.mark.parametrize("which", ["solution", "loops"])
def test_right_ones_are_accepted(impl, which):
    calling(accepts, impl, which).gives("accepted")


@pytest.mark.parametrize("percent", [25, 50, 70, 80, 90, 100])
def test_bugs_are_dead(impl, percent):
    calling(hunt, impl, percent).gives(f"at least {percent} % of the bugs are dead")


@pytest.mark.parametrize(
    "bug",
    ["silent zeros", "largest channel first", "negative sums cut off", "transposed", "second image twice", "last row lost"],
)
def test_bugs_in_no_bank_are_dead(impl, bug):
    calling(judge, impl, bug).gives("dead")
