"""How far one error is like another one."""

from __future__ import annotations

import pytest

from kuiper.course.implementation import StudentError
from kuiper.course.likeness import Likeness, likeness
from kuiper.course.observation import Raised


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("No such file: '/tmp/tmp416nb0wx/none.bin'", "No such file: '/tmp/tmpq81_a/none.bin'", Likeness.EXACT),
        ("No such file: '/tmp/tmp416nb0wx/none.bin'", "No such file: '/tmp/tmp416nb0wx/some.bin'", Likeness.NONE),
        ("tile__3 takes no arguments", "tile__12 takes no arguments", Likeness.EXACT),
    ],
)
def test_likeness_of_messages_that_differ_from_run_to_run(one: str, other: str, how: Likeness) -> None:
    errors = [StudentError(Raised("FileNotFoundError", (), message), "read") for message in (one, other)]
    assert likeness(*errors) == how
