"""What the plugin says of a failure: the likely mistake, the function that it is about, the call."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.course.places import python_environment
from tests.course.made_up import solve
from tests.course.student_run import student_runs

if TYPE_CHECKING:
    from kuiper.course.manifest import Syllabus


def test_a_wrong_answer_is_drawn_diagnosed_and_blocks(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x*x"))
    solve(syllabus, "1.2")
    code, text = student_runs(syllabus, "course1_made_up")
    assert code == 1
    block = text.split("1.1 double - ")[1].split("\n\n")[0].splitlines()
    assert len(block) <= 12
    assert block[:4] == [
        "0 of 2 tests pass: course1_made_up/exercises/double.py",
        "  test_double",
        "    double(3)",
        "    expected 6",
    ]
    assert "    got      9" in block
    assert "    likely: this is what you get when x is squared" in block
    assert "    hint: kuiper hint 1.1; also failing: test_double_negative; blocks: 1.2" in block
    assert "next: 1.1 double (5 minutes), course1_made_up/exercises/double.py:4" in text
    assert "1.2 fourfold - blocked by 1.1" in text


def test_what_another_exercise_raises_is_not_laid_to_this_one(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2 + 0", "x * 2\n    raise ValueError('no')"))
    solve(syllabus, "1.2")
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.2")[1]
    file = "course1_made_up/exercises/double.py"
    words = f"`{file}` raises this, whatever stands in the file of this exercise"
    assert f"likely: this is what you get when {words}\n" in text


@pytest.mark.parametrize(
    ("code", "likely"),
    [
        ("x.shape", "an attribute is asked of a number"),
        ("None + x", "something is None: a function without `return`, or an argument that may be left out"),
        ("x[0] * 2 + 0", "an index is used on a int, which has no elements"),  # and not: something else belongs here
        ("(x, 2)[0:1]", ""),
    ],
)
def test_what_raises_is_named(syllabus: Syllabus, code: str, likely: str) -> None:
    """By the bank, whose mistake raises the same; else by what most often is behind such an error."""
    bugs = syllabus.root / "course1_made_up" / "bugs" / "double.toml"
    more = '\n[[bug]]\nname = "shape"\nwhen = "an attribute is asked of a number"\n'
    bugs.write_text(f'{bugs.read_text()}{more}replace = "x * 2"\nwith = "(x + 0).shape"\n')
    solve(syllabus, "1.1", ("x * 2 + 0", code))
    text = student_runs(syllabus, "course1_made_up")[1]
    if likely:
        assert f"    likely: this is what you get when {likely}\n" in text
        assert "    hint 1" not in text
    else:
        assert "likely" not in text
        assert "    hint 1: what is twice?" in text


def test_a_name_that_the_file_explains_is_named_before_the_bank(syllabus: Syllabus) -> None:
    """The bank has a mistake that raises the same NameError; a name of the student's own tells more."""
    bugs = syllabus.root / "course1_made_up" / "bugs" / "double.toml"
    more = '\n[[bug]]\nname = "missed"\nwhen = "the factor is missed"\nreplace = "x * 2"\nwith = "resalt"\n'
    bugs.write_text(bugs.read_text() + more)
    solve(syllabus, "1.1", ("return result", "return resalt"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "likely: this is what you get when `resalt` is written, which has no value: is `result` meant?\n" in text


@pytest.mark.thorough
def test_a_missing_break_is_named_where_the_else_of_a_loop_is_always_reached(syllabus: Syllabus) -> None:
    loop = "for n in (2, 3):\n        if n == 2:\n            result = x * n\n    else:\n        result = -1\n"
    solve(syllabus, "1.1", ("result = x * 2 + 0\n", loop))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "when a `break` is missing in the loop over `n`, whose `else` is reached each time\n" in text


@pytest.mark.parametrize(("first", "is_shown"), [("double", True), ("double_neg", False)])
def test_the_first_hint_stands_where_it_is_about_what_failed(syllabus: Syllabus, first: str, is_shown: bool) -> None:
    """Else the report says only how to ask for it."""
    manifest = syllabus.root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace('{ for = "double"', f'{{ first = ["{first}"], for = "double"'))
    solve(syllabus, "1.1", ("x * 2 + 0", "(x, 2)[0:1]"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert ("    hint 1: what is twice?" in text, "    hint: kuiper hint 1.1;" in text) == (is_shown, not is_shown)


def test_an_error_is_named_whatever_its_words_are(syllabus: Syllabus) -> None:
    """The student's own `raise` and the bank's say the same thing in other words."""
    bugs = syllabus.root / "course1_made_up" / "bugs" / "double.toml"
    more = '\n[[bug]]\nname = "refused"\nwhen = "3 is refused"\nreplace = "    result = x * 2"\n'
    theirs = 'with = """\n    if x == 3:\n        raise ValueError(\'three is odd\')\n    result = x * 2"""\n'
    bugs.write_text(f"{bugs.read_text()}{more}{theirs}")
    solve(syllabus, "1.1", ("    result", "    if x % 2:\n        raise ValueError(f'no {x}')\n    result"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "    likely: this is what you get when 3 is refused\n" in text


@pytest.mark.thorough
def test_an_error_of_any_wording_is_doubted_where_other_tests_tell_otherwise(syllabus: Syllabus) -> None:
    """The bank's mistake refuses 3 alone, the student's refuses all numbers."""
    bugs = syllabus.root / "course1_made_up" / "bugs" / "double.toml"
    more = '\n[[bug]]\nname = "refused"\nwhen = "3 is refused"\nreplace = "    result = x * 2"\n'
    theirs = 'with = """\n    if x == 3:\n        raise ValueError(\'three is odd\')\n    result = x * 2"""\n'
    bugs.write_text(f"{bugs.read_text()}{more}{theirs}")
    test = syllabus.root / "course1_made_up" / "test_double.py"
    test.write_text(f"{test.read_text()}\n\ndef test_double_zero(impl):\n    calling(impl.double, 0).gives(0)\n")
    manifest = syllabus.root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("test_count = 2", "test_count = 3"))
    solve(syllabus, "1.1", ("    result", "    if x < 9:\n        raise ValueError(f'no {x}')\n    result"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "3 is refused" not in text
    assert " in line 10, at `x < 9`\n" in text


@pytest.mark.thorough
def test_a_mistake_that_fails_where_the_student_has_passed_is_not_named(syllabus: Syllabus) -> None:
    """-4 becomes 8 where the sign is turned, too; but then 3 would not have become 6."""
    solve(syllabus, "1.1", ("x * 2", "abs(x) * 2"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "    likely: this is what you get when the sign is lost\n" in text


@pytest.mark.thorough
def test_a_mistake_that_passes_where_the_student_passes_is_named_before_others(syllabus: Syllabus) -> None:
    """3 becomes 9 where numbers are squared, or tripled; but then -4 would not become -8."""
    bugs = syllabus.root / "course1_made_up" / "bugs" / "double.toml"
    more = '\n[[bug]]\nname = "positive"\nwhen = "only what is positive is tripled"\nreplace = "x * 2"\n'
    bugs.write_text(f'{bugs.read_text()}{more}with = "x * 3 if x > 0 else x * 2"\n')
    solve(syllabus, "1.1", ("x * 2", "(3 * max(x, 0) + 2 * min(x, 0))"))
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "    likely: this is what you get when only what is positive is tripled\n" in text


def test_the_call_that_failed_can_be_pasted(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 7"))
    script = student_runs(syllabus, "--call", "--exercise=1.1", "course1_made_up")[1]
    lines = script[script.index("import numpy") :].splitlines()
    assert lines[1:4] == [
        "from kuiper.course import load_exercise",
        "mine = load_exercise('1.1')",
        "print(mine.double(3))",
    ]
    command = [sys.executable, "-c", "\n".join(lines[:4])]
    done = subprocess.run(command, cwd=syllabus.root, env=python_environment(), capture_output=True, text=True)
    assert done.stdout == "21\n", done.stderr


@pytest.mark.thorough
def test_an_answer_that_can_do_everything_but_be_shown_ends_no_run(syllabus: Syllabus) -> None:
    """In pytest's own process, too, where the object itself arrives."""
    solve(syllabus, "1.1", ("x * 2 + 0", "2**(x * 1000) if x > 0 else chr(0xd800) + chr(27)"))
    for words in ([], ["--in-process"]):
        code, text = student_runs(syllabus, *words, "course1_made_up")
        assert code == 1
        assert "INTERNALERROR" not in text
        assert "got      an integer of 3001 bits" in text
        assert "also failing: test_double_negative" in text


def give_it_a_second_function(syllabus: Syllabus) -> None:
    """A function ``half`` with a ladder and a test in exercise 1.1; the solution does not have it yet."""
    course = syllabus.root / "course1_made_up"
    manifest = (course / "course.toml").read_text()
    ladder = '{ for = "half", ladder = ["what is half?", "see the lecture", "divide"] }'
    (course / "course.toml").write_text(
        manifest.replace('"multiply"] }]', f'"multiply"] }}, {ladder}]').replace("test_count = 2", "test_count = 3")
    )
    (course / "test_double.py").write_text(
        (course / "test_double.py").read_text() + "\n\ndef test_half(impl):\n    calling(impl.half, 4).gives(2)\n"
    )


@pytest.mark.thorough
def test_the_diagnosis_is_about_the_function_whose_test_fails(syllabus: Syllabus) -> None:
    """With double taken for three times x, half of 4 is 3, too; but then the test of double would have failed first."""
    give_it_a_second_function(syllabus)
    course = syllabus.root / "course1_made_up"
    half = "\n\ndef half(x):\n    # BEGIN SOLUTION\n    return double(x) // 4\n    # END SOLUTION\n"
    (course / "solutions" / "double.py").write_text((course / "solutions" / "double.py").read_text() + half)
    (course / "bugs" / "double.toml").write_text(
        (course / "bugs" / "double.toml").read_text()
        + '\n[[bug]]\nname = "less"\nwhen = "1 is taken away"\nreplace = "double(x) // 4"\nwith = "x - 1"\n'
    )
    solve(syllabus, "1.1", ("double(x) // 4", "x // 1 - 1"))
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1")[1]
    assert "    likely: this is what you get when 1 is taken away\n" in text


@pytest.mark.thorough
def test_the_hint_is_about_the_function_whose_test_fails(syllabus: Syllabus) -> None:
    """A second function with a ladder: its failing test brings up its own hint, in the report and in kuiper hint."""
    give_it_a_second_function(syllabus)
    solve(syllabus, "1.1", ("    return result", "    return result\n\n\ndef half(x):\n    return x // 4 + 9"))
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1")[1]
    assert "    hint 1 for half: what is half?" in text
    assert (
        "kuiper hint 1.1 half --level 4" in student_runs(syllabus, "--exercise=1.1", "--hint=4", "course1_made_up")[1]
    )
    command = [sys.executable, "-m", "kuiper", "hint", "1.1"]
    done = subprocess.run(command, cwd=syllabus.root, env=python_environment(), capture_output=True, text=True)
    assert done.stdout.splitlines()[:2] == ["1.1 double, half, hint 1 of 4", "what is half?"]
