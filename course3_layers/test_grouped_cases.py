"""Exercise 3.10: the student's cases meet broken convolutions."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.language import noop, translate

MAX_CASES, MAX_NUMBERS = 6, 60

# What the convolution of image i does for kernel j of group g (s has the sizes): which ``image`` it reads, as which
# ``group`` it acts, which ``source`` channel its weight c meets, by which ``factor``, whose ``kernel`` it uses, to
# which ``target`` channel it writes, and what ``bias`` that channel k gets. Each broken one does one of them wrongly.
RIGHT = {
    "image": lambda i: i,
    "group": lambda g, s: g,
    "source": lambda g, c, s: g * s.depth + c,
    "kernel": lambda g, j, s: g * s.part + j,
    "target": lambda g, j, s: g * s.part + j,
    "factor": lambda g, c, s: 1,
    "bias": lambda k, bias, s: bias[k],
}
BROKEN = {
    noop("every group sees the channels of the first"): {"source": lambda g, c, s: c},
    noop("the channels of the groups alternate"): {"source": lambda g, c, s: c * s.groups + g},
    noop("the channels within a group are reversed"): {"source": lambda g, c, s: (g + 1) * s.depth - 1 - c},
    noop("a group's channels begin where its kernels begin"): {"source": lambda g, c, s: (g * s.part + c) % s.in_c},
    noop("every group uses the kernels of the first"): {"kernel": lambda g, j, s: j},
    noop("the kernels within a group are reversed"): {"kernel": lambda g, j, s: (g + 1) * s.part - 1 - j},
    noop("the outputs of the groups alternate"): {"target": lambda g, j, s: j * s.groups + g},
    noop("the groups come out in reversed order"): {"target": lambda g, j, s: (s.groups - 1 - g) * s.part + j},
    noop("only the first channel of each group counts"): {"factor": lambda g, c, s: int(c == 0)},
    noop("the last group is left out"): {"factor": lambda g, c, s: int(g < s.groups - 1)},
    noop("there are at most two groups"): {"group": lambda g, s: min(g, 1)},
    noop("the bias is forgotten"): {"bias": lambda k, bias, s: 0},
    noop("every group gets the bias of the first"): {"bias": lambda k, bias, s: bias[k % s.part]},
    noop("the bias is added once for each group"): {"bias": lambda k, bias, s: bias[k] * s.groups},
    noop("every result comes from the first image"): {"image": lambda i: 0},
}


class Sizes:
    """What the rules above need to know of a case."""

    def __init__(self, x, weight, groups):
        self.groups, self.in_c, self.depth, self.part = groups, x.shape[1], weight.shape[1], len(weight) // groups


def convolve(case, **broken):
    """The convolution by its definition, except for what is broken."""
    x, weight, bias, groups, _ = case
    rule, sizes = {**RIGHT, **broken}, Sizes(x, weight, groups)
    kernel_h, kernel_w = weight.shape[2:]
    out = np.zeros((len(x), len(weight), x.shape[2] - kernel_h + 1, x.shape[3] - kernel_w + 1))
    for i, g, j in np.ndindex(len(x), groups, sizes.part):
        seen = rule["group"](g, sizes)
        kernel, target = rule["kernel"](seen, j, sizes), rule["target"](g, j, sizes)
        for c, y, column in np.ndindex(sizes.depth, *out.shape[2:]):
            window = x[rule["image"](i), rule["source"](seen, c, sizes), y : y + kernel_h, column : column + kernel_w]
            out[i, target, y, column] += rule["factor"](seen, c, sizes) * (window * weight[kernel, c]).sum()
        if bias is not None:
            out[i, target] += rule["bias"](target, bias, sizes)
    return out


def kind(impl):
    """What comes back: several cases, or one, or nothing."""
    return type(impl.cases()).__name__


def cases_of(impl):
    """The cases with arrays in them."""
    return [
        (as_array(x), as_array(w), None if b is None else as_array(b), groups, as_array(y))
        for x, w, b, groups, y in impl.cases()
    ]


def as_array(numbers):
    """Lists of unequal length, and texts, are no numbers with axes: then the number of axes is 0."""
    try:
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


# What must hold for a case to be one, in this order: each relies on those before it.
SHAPES = {
    noop("x and weight are numbers along four axes"): lambda x, weight, bias, groups: x.ndim == weight.ndim == 4,
    noop("no array is empty"): lambda x, weight, bias, groups: 0 not in (*x.shape, *weight.shape),
    noop("there are two groups or more"): lambda x, weight, bias, groups: groups >= 2,
    noop("weight has the input channels of one group"): lambda x, weight, bias, groups: (
        x.shape[1] == weight.shape[1] * groups
    ),
    noop("all groups have equally many kernels"): lambda x, weight, bias, groups: len(weight) % groups == 0,
    noop("the kernel fits into the picture"): lambda x, weight, bias, groups: (
        x.shape[2] >= weight.shape[2] and x.shape[3] >= weight.shape[3]
    ),
    noop("bias has a number for each kernel"): lambda x, weight, bias, groups: (
        bias is None or bias.shape == weight.shape[:1]
    ),
}


def broken_shape(case):
    """The first of the rules that the case breaks; None if it is sound."""
    return next((name for name, holds in SHAPES.items() if not holds(*case[:4])), None)


def is_sound(case):
    """The shapes fit together, and there are groups at all."""
    return broken_shape(case) is None


def is_small(case):
    """No array of the case is too large for pen and paper."""
    return all(array.size <= MAX_NUMBERS for array in case if isinstance(array, np.ndarray))


def counts(case):
    """Whether what a case notices counts: it is right, and it is one that you could have been asked for."""
    return is_sound(case) and is_small(case) and np.array_equal(case[4], convolve(case))


def test_list_of_cases(impl):
    calling(kind, impl).gives("list")


def test_one_to_six_cases(impl):
    same(translate("between one and six cases"), 1 <= len(impl.cases()) <= MAX_CASES, True)


@pytest.mark.parametrize("rule", SHAPES)
def test_shapes(impl, rule):
    unsound = (i for i, case in enumerate(cases_of(impl)) if broken_shape(case) == rule)
    what = translate("the first of your cases in which it is not true that {rule}").format(rule=translate(rule))
    same(what, next(unsound, None), None)


def test_small_arrays(impl):
    large = (i for i, case in enumerate(cases_of(impl)) if not is_small(case))
    what = translate("the first of your cases with an array of more than {count} numbers").format(count=MAX_NUMBERS)
    same(what, next(large, None), None)


def test_expected_is_right(impl):
    for i, case in enumerate(cases_of(impl)):
        if is_sound(case):
            what = translate("case {number}; on the left what conv2d gives, on the right what the case expects")
            same(what.format(number=i), case[4], convolve(case))


@pytest.mark.parametrize("name", BROKEN)
def test_finds_out_that(impl, name):
    # Every test asks for the cases anew. What is not allowed does not count in this one either.
    counted = [case for case in cases_of(impl)[:MAX_CASES] if counts(case)]
    noticed = any(not np.array_equal(case[4], convolve(case, **BROKEN[name])) for case in counted)
    what = translate("one of your (right) cases notices that {mistake}").format(mistake=translate(name))
    same(what, noticed, True)
