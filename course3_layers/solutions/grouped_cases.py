"""Exercise 3.10: you write the tests.

Somebody hands you a ``conv2d`` with groups and says that it works. Write cases that prove it, or the opposite: a case
is a call and the answer that you are certain of, because you worked it out with pen and paper.

A case that catches nothing is worth nothing. With all weights 1 it does not matter which kernel was used; with one
image nobody notices that the second is ignored. Your cases will meet fifteen broken convolutions (they are listed in
``test_grouped_cases.py``), and for each there must be a case that it answers wrongly. Two or three small cases can do
it, if their numbers are well chosen.

An example that is right, and catches little:

    Case(x=[[[[2]], [[2]]]], weight=[[[[3]]], [[[3]]]], bias=None, groups=2, expected=[[[[6]], [[6]]]])
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """A call of conv2d (stride 1, no padding, no dilation) and its answer, as nested lists or NumPy arrays.

    x         (n, in_c, h, w)
    weight    (out_c, in_c / groups, kernel_h, kernel_w)
    bias      (out_c,) or None
    groups    at least 2
    expected  (n, out_c, out_h, out_w)
    """

    x: Any
    weight: Any
    bias: Any
    groups: int
    expected: Any


def cases() -> list[Case]:
    """Between one and six cases; no array has more than 60 numbers: this is for pen and paper."""
    # BEGIN SOLUTION
    # Three groups of two channels and one kernel each, on two images.
    first = Case(
        x=[[[[1]], [[2]], [[3]], [[4]], [[5]], [[6]]], [[[7]], [[8]], [[9]], [[1]], [[2]], [[3]]]],
        weight=[[[[1]], [[10]]], [[[2]], [[20]]], [[[3]], [[30]]]],
        bias=[100, 200, 300],
        groups=3,
        expected=[[[[121]], [[286]], [[495]]], [[[187]], [[238]], [[396]]]],
    )
    # Two groups of one channel and three kernels each.
    second = Case(
        x=[[[[1]], [[10]]]],
        weight=[[[[1]]], [[[2]]], [[[3]]], [[[4]]], [[[5]]], [[[6]]]],
        bias=[100, 200, 300, 400, 500, 600],
        groups=2,
        expected=[[[[101]], [[202]], [[303]], [[440]], [[550]], [[660]]]],
    )
    return [first, second]
    # END SOLUTION
