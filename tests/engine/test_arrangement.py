from __future__ import annotations

import pytest

from kuiper.engine.arrangement import arranged
from kuiper.errors import ParameterError


def test_arranged_makes_one_axis_of_what_lies_together() -> None:
    plan = arranged((2, 3, 4, 5), [(60, 20, 5, 1)] * 3, 16, 3, 1024)
    assert plan.shape == (1, 1, 128)
    assert plan.strides == ((0, 0, 1),) * 3
    assert arranged((2, 3, 4, 5), [(60, 20, 5, 1)] * 3, 1, 3, 1024).shape == (1, 1, 120)


def test_arranged_orders_axes_as_the_output_lies() -> None:
    plan = arranged((2, 3, 4), [(1, 100, 8), (12, 4, 1)], 1, 3, 1024)
    assert plan.shape == (3, 4, 2)
    assert plan.strides == ((100, 8, 1), (4, 1, 12))


def test_arranged_rounds_up_only_what_all_values_can_follow() -> None:
    assert arranged((7, 5), [(16, 1), (16, 1)], 16, 2, 1024).shape == (1, 112)
    assert arranged((7, 5), [(16, 1), (0, 1)], 16, 2, 1024).shape == (7, 16)
    assert arranged((7, 5), [(16, 1), (16, 0)], 16, 2, 1024).shape == (7, 16)  # a number for each row
    assert arranged((7, 5), [(16, 1), (1, 7)], 16, 2, 1024).shape == (7, 5)
    assert arranged((7, 5), [(16, 2), (16, 1)], 16, 2, 1024).shape == (7, 5)
    assert arranged((7, 5), [(8, 1), (16, 1)], 16, 2, 1024).shape == (7, 5)  # it would reach into the next row


def test_arranged_swaps_a_short_axis_for_a_long_one() -> None:
    plan = arranged((900, 3, 2), [(100, 10, 1), (7, 3, 1)], 1, 3, 1024)
    assert plan.shape == (3, 900, 2)
    assert plan.strides == ((10, 100, 1), (3, 7, 1))
    assert plan.chunk == (1, 512, 2)


def test_arranged_cuts_a_long_axis_evenly() -> None:
    assert arranged((1025,), [(1,)], 1, 2, 1024).chunk == (1, 528)
    assert arranged((4096,), [(1,)], 1, 2, 1024).chunk == (1, 1024)
    assert arranged((), [()], 1, 2, 1024).shape == (1, 1)


def test_arranged_refuses_too_many_axes() -> None:
    with pytest.raises(ParameterError, match="at most 2 axes, got 3"):
        arranged((2, 2, 2), [(100, 10, 1)], 1, 2, 1024)
