"""Wrong plain values as beginners make them, and the sentence that each gets."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course.plain_resemblance import plain_resemblance


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (["nn.ReLU", "act"], ["act", "nn.ReLU"], "in reversed order"),
        ([3, 1, 2], [1, 2, 3], "in another order"),
        ([1, 2], [1, 2, 3], "the last element is missing"),
        ({"a": ([1, 2],)}, {"a": ([1, 2, 3],)}, "the last element is missing"),
        ((2, 3), (1, 2, 3), "the first element is missing"),
        ([1, 2, 3], [1, 2], "the last element is one too many"),
        ([0, 1, 2], [1, 2], "the first element is one too many"),
        ({"@w": 1}, {"w": 1}, "in the key '@w' '@' is left in front"),
        ({"a": 1}, {"a": 1, "b": 2}, "the key 'b' is left out"),
        ({"a": 1, "b": 2}, {"a": 1}, "a key 'b', which should not be there"),
        ({"a": 1}, {"b": 1}, ""),
        (["8"], [8], "a number is left as text"),
        ({"stride": 2}, {"stride": "2"}, "a text is made a number"),
        (((1, "?"), "f32"), ((1, None), "f32"), "the text '?' stands where None"),
        ("1,2", [1, 2], "not taken apart"),
        (["s", "a"], "sa", "is taken apart"),
        (1, True, "where True or False"),
        ({"a": None}, {"a": 3}, "None stands where 3"),
        ("i16", "I16", "upper and lower case"),
        ("width)", "width", "')' is left behind"),
        ("idth", "width", "'w' is cut off in front"),
        ("wid", "width", "'th' is cut off behind"),
        ("2,2", "(2,2)", "'(' and ')' are cut off around"),
        (-3, 3, "a sign is turned"),
        ([(0, 2), (3, 5)], [(0, 2), (2, 5)], "one too large"),
        (7, 3, ""),
        ("abc", "xyz", ""),
        ([], [1], ""),
        (np.zeros(2), [1, 2], ""),
        (object(), 3, ""),
        ([object()], [object()], ""),
    ],
)
def test_plain_resemblance(got: object, expected: object, words: str) -> None:
    found = plain_resemblance(got, expected)
    assert words in found
    assert bool(words) == bool(found)
