"""Which known mistake a red report names, and when none: pytest in a process of its own, over the made-up course."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.course.made_up import made_up, solve
from tests.course.student_run import student_runs

if TYPE_CHECKING:
    from pathlib import Path

REFUSES = """

def test_double_of_nothing(impl):
    calling(impl.double, None).raises(TypeError)
"""


def likely(root: Path, code: str, bugs: dict[str, str], tests: str = "") -> str:
    """What the report names for a student's ``x * 2``, where the bank has these mistakes only; "" for none."""
    syllabus = made_up(root)
    course = root / "course1_made_up"
    entries = (
        f"[[bug]]\nname = '{when}'\nwhen = '{when}'\nreplace = 'x * 2'\nwith = '''{wrong}'''\n"
        for when, wrong in bugs.items()
    )
    (course / "bugs" / "double.toml").write_text("\n".join(entries))
    (course / "test_double.py").write_text((course / "test_double.py").read_text() + tests)
    solve(syllabus, "1.1", ("x * 2", code))
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1")[1]
    assert "1.1 double - " in text
    return text.partition("likely: this is what you get when ")[2].partition("\n")[0]


def refusing(words: str, kind: str = "ValueError") -> str:
    """Code that raises for what is below 0."""
    return f"x * 2\n    if x < 0:\n        raise {kind}({words!r})\n    result = result"


@pytest.mark.thorough
def test_alike_names_an_error_in_words_of_ones_own(tmp_path: Path) -> None:
    assert likely(tmp_path, refusing("mine"), {"signs are refused": refusing("of the bank")}) == "signs are refused"


@pytest.mark.thorough
def test_alike_prefers_the_same_words(tmp_path: Path) -> None:
    bugs = {"other words": refusing("other"), "the same words": refusing("same")}
    assert likely(tmp_path, refusing("same"), bugs) == "the same words"


@pytest.mark.thorough
@pytest.mark.parametrize("code", [refusing("mine", "KeyError"), "x * 2 if x > 0 else int('mine')"])
def test_alike_is_silent_about_an_error_of_another_kind(tmp_path: Path, code: str) -> None:
    assert "signs" not in likely(tmp_path, code, {"signs are refused": refusing("of the bank")})


@pytest.mark.thorough
def test_alike_leaves_out_what_fails_a_test_that_has_passed(tmp_path: Path) -> None:
    """Squares are right nowhere, this answer is right for 3."""
    code = "x * 2 if x > 0 else x * x"
    assert "squared" not in likely(tmp_path, code, {"x is squared": "x * x"})
    bugs = {"x is squared": "x * x", "a sign is lost": "abs(x) ** (1 + (x < 0)) * (1 + (x > 0))"}
    assert likely(tmp_path, code, bugs) == "a sign is lost"


@pytest.mark.thorough
def test_tests_that_pass_tell_mistakes_apart(tmp_path: Path) -> None:
    """Both give 9 for 3; one of them is right for -4, as the student is."""
    bugs = {"three is taken for two": "x * 3", "the sign decides": "x * (2 + (x > 0))"}
    assert likely(tmp_path, "x * 3 if x > 0 else x + x", bugs) == "the sign decides"


@pytest.mark.thorough
def test_alike_names_a_missing_check_whatever_comes_of_it(tmp_path: Path) -> None:
    bugs = {"nothing is taken for 0": "(x or 0) * 2"}
    assert likely(tmp_path, "(x or 7) * 2", bugs, tests=REFUSES) == "nothing is taken for 0"
    assert likely(tmp_path, "(x or 7) * 2 if x or x == 0 else [][1]", bugs, tests=REFUSES) == "nothing is taken for 0"


@pytest.mark.thorough
def test_alike_looks_at_the_texts_that_a_message_is_about(tmp_path: Path) -> None:
    """A message may be in any words, but here the student's is about + and the mistake's is about a."""
    tests = "\n\ndef test_double_of_a_text(impl):\n    calling(impl.double, 'a+').gives('a+a+')\n"
    refused = "x * 2\n    if x == 'a+':\n        raise ValueError(f'{}{{x[{}]}}')\n    result = result"
    first, second = refused.format("expected no ", 0), refused.format("no ", 1)
    assert likely(tmp_path, second, {"a is refused": first}, tests).startswith("your own check")
    assert (
        likely(tmp_path, second, {"a is refused": first, "+ is refused": refused.format("expected no ", 1)}, tests)
        == "+ is refused"
    )


@pytest.mark.thorough
def test_likely_leaves_out_what_explains_one_failure_only(tmp_path: Path) -> None:
    """The answer for 3 is that of the squares, by chance; those for -4, 10 and 20 are not."""
    tests = "\n\ndef test_double_of_{0}(impl):\n    calling(impl.double, {0}).gives(2 * {0})\n"
    more = tests.format(10) + tests.format(20)
    assert not likely(tmp_path, "x + 6", {"x is squared": "x * x"}, more)
    assert likely(tmp_path, "x + 6", {"6 is added": "6 + x", "x is squared": "x * x"}, more) == "6 is added"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x + 2", "`+` stands where `*` belongs"),
        ("x * 3", "a number is one too large"),
        ("x", "a factor 2 is left out"),
        ("[y * 2 for y in [x]]", "something of type int is joined to a list by `+`"),
        ("{3: 9, -4: -9}[x]", ""),
    ],
)
def test_slips_name_what_nobody_has_put_into_the_bank(tmp_path: Path, code: str, words: str) -> None:
    named = likely(tmp_path, code, {"nothing is taken": "0"})
    assert bool(named) == bool(words)
    assert named.startswith(words)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sum(x for _ in range(3))", "a number is one too large in line 10, at `3`"),
        ("x * 2 if x > 0 else x * 3", "a number is one too large in line 10, at `3`"),
        ("x + (x - x)", "a term with `x` is subtracted that should not be in line 10, at `x - x`"),
        ("{3: 9, -4: 5}[x]", ""),
    ],
)
def test_repairs_name_a_place_in_a_file_that_goes_a_way_of_its_own(tmp_path: Path, code: str, words: str) -> None:
    named = likely(tmp_path, code, {"nothing is taken": "0"})
    assert bool(named) == bool(words)
    assert named.startswith(words)


@pytest.mark.thorough
def test_unused_names_a_parameter_that_is_not_used(tmp_path: Path) -> None:
    assert likely(tmp_path, "{}.get(7, 100)", {"nothing is taken": "0"}) == "`double` does not use `x`"


@pytest.mark.thorough
def test_an_error_that_says_what_is_wrong_is_not_mended_by_leaving_it_out(tmp_path: Path) -> None:
    """Without the division the answer is right; but what is missing is the import."""
    bugs = {"nothing is taken": "0"}
    assert likely(tmp_path, "x * 2 / math.sqrt(1)", bugs).startswith("`import math` is missing")
    assert likely(tmp_path, "sum(x * 2)", bugs) == "a loop goes through a int, which has no elements"


@pytest.mark.thorough
def test_a_list_is_no_known_mistake_whose_answer_is_an_array(tmp_path: Path) -> None:
    tests = "\n\ndef test_double_array(impl):\n    calling(impl.double, ones(1)).gives(2 * ones(1))\n"
    tests = f"\nfrom kuiper.course.testing import np\n\n\ndef ones(n):\n    return np.ones(n, np.float32)\n{tests}"
    bugs = {"the result is float64": "x * (2 if isinstance(x, int) else __import__('numpy').float64(2.0))"}
    code = "x * 2 if isinstance(x, int) else (x * 2.0).tolist() if True else x"
    assert likely(tmp_path, code, bugs, tests).startswith("no array")


@pytest.mark.thorough
def test_what_shows_in_the_file_is_said_before_known_mistakes(tmp_path: Path) -> None:
    code = "x\n    for i in range(x):\n        result += 1\n        return result\n    result = result"
    assert likely(tmp_path, code, {"1 is added": "x + 1"}).startswith("`return` stands in the loop over `i`")


@pytest.mark.thorough
def test_repairs_come_behind_known_mistakes(tmp_path: Path) -> None:
    assert likely(tmp_path, "x + (x + 1)", {"1 is added": "x * 2 + 1"}) == "1 is added"


@pytest.mark.thorough
def test_repairs_are_left_out_where_another_test_still_fails_on_them(tmp_path: Path) -> None:
    """With 3 in the place of 4 the answer for 3 is right, and for no other number."""
    tests = "\n\ndef test_double_of_20(impl):\n    calling(impl.double, 20).gives(40)\n"
    assert "in line" not in likely(tmp_path, "x + 4", {"nothing is taken": "0"}, tests)


@pytest.mark.thorough
def test_slips_come_behind_known_mistakes(tmp_path: Path) -> None:
    assert likely(tmp_path, "x * 3", {"three is taken for two": "x * 3"}) == "three is taken for two"


@pytest.mark.thorough
def test_slips_are_left_out_where_a_test_that_has_passed_fails_on_them(tmp_path: Path) -> None:
    """Twice a number is right for 3, so that no slip of the whole function is meant."""
    named = likely(tmp_path, "x * 2 if x > 0 else {-4: -12}[x]", {"x is squared": "x * x"})
    assert "one too large" not in named


@pytest.mark.thorough
def test_slips_say_that_a_loop_never_ends(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    solution = tmp_path / "course1_made_up" / "solutions" / "double.py"
    loop = "result = 0\n    while result < x * 2:\n        result += 1\n    while result > x * 2:\n        result -= 1"
    solution.write_text(solution.read_text().replace("result = x * 2 + 0", loop))
    (tmp_path / "course1_made_up" / "bugs" / "double.toml").unlink()
    solve(syllabus, "1.1", ("result += 1", "result += 0"))
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1")[1]
    assert "likely: this is what you get when a loop never ends: " in text


@pytest.mark.thorough
def test_slips_replace_a_known_mistake_that_is_not_behind_all_failures(tmp_path: Path) -> None:
    """The answer for 3 is 9 by chance, that for -4 is not; a slip that is not natural proves nothing."""
    assert likely(tmp_path, "x * 3", {"9 is returned": "9"}).startswith("a number is one too large")
    assert likely(tmp_path, "x * 3", {"9 is returned": "9", "x is taken thrice": "x * 3"}) == "x is taken thrice"
    assert likely(tmp_path, "{3: 5, -4: -2}[x]", {"5 is returned": "5"}) == "5 is returned"


@pytest.mark.thorough
def test_alike_prefers_a_message_with_the_same_numbers(tmp_path: Path) -> None:
    bugs = {"seven is refused": refusing("got 7"), "signs are refused": refusing("4 came")}
    assert likely(tmp_path, refusing("not 4"), bugs) == "signs are refused"
    # Two checks, so that no change of one place mends it.
    more = "while x < -1:\n        raise ValueError('not 8')\n    result = result"
    others = refusing("not 8").replace("result = result", more)
    assert likely(tmp_path, others, {"seven is refused": refusing("got 7")}) == "seven is refused"
