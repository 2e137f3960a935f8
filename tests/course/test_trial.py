"""Variants of a file are tried quickly: what a call does not run is not changed, and what lasts is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course import trial
from kuiper.course.repairs import repairs, wrong
from kuiper.course.trial import Text, Trial

if TYPE_CHECKING:
    from types import ModuleType

TEXT = """\
from dataclasses import dataclass

@dataclass
class Pair:
    one: int
    two: int

def f(n):
    if n > 3:
        return (
            n - 1
        )
    for i in range(2):
        n += i
    return Pair(n, n).one
"""


def tried(*args: Any) -> tuple[Trial, Text]:
    """A trial of ``TEXT``'s f."""

    def finds(module: ModuleType) -> Any:
        return module.f

    found = Trial({"args": args, "kwargs": {}}, "f.py", finds)
    text = found.text(TEXT, 0, False)
    assert text is not None
    return found, text


def test_lines_run_are_those_of_the_statements_that_the_call_runs() -> None:
    found, text = tried(5)
    assert found.lines_run(text) & set(range(9, 16)) == {9, 10, 11}
    found, text = tried(1)
    assert found.lines_run(text) & set(range(9, 16)) == {9, 13, 14, 15}


def test_lines_run_are_none_where_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MAX_LINES", 5)
    found, text = tried(1)
    assert found.lines_run(text) == set()


@pytest.mark.parametrize("n", [1, 5])
def test_mutants_of_lines_that_do_not_run_answer_as_the_file_does(n: int) -> None:
    found, text = tried(n)
    right = found.answer(text)
    lines = found.lines_run(text)
    changes = list(repairs(text.tree, TEXT, "f"))
    skipped = [change for change in changes if len(change.edits) == 1 and change.line not in lines]
    assert 5 < len(skipped) < len(changes)
    for change in skipped:
        with change.made():
            try:
                codes = text.codes()
            except (SyntaxError, ValueError):
                continue
        assert found.answer(text, codes) == right


@pytest.mark.parametrize(("other", "is_tried"), [("count", True), ("row", False), ("never", False)])
def test_mutants_put_names_in_the_place_of_names_of_their_type(other: str, is_tried: bool) -> None:
    source = "def f(n):\n    count, row = n + 1, [n]\n    if n < 0:\n        never = n\n    return [n], row, count\n"
    found = Trial({"args": (1,), "kwargs": {}}, "f.py", lambda module: module.f)
    text = found.text(source, 0, False)
    assert text is not None
    changes = list(repairs(text.tree, source, "f"))
    answers = list(found.of_mutants(text, repairs(text.tree, source, "f"), 60.0))
    of_name = [answer for change, answer in zip(changes, answers, strict=True) if change.names == ("n", other)]
    assert of_name
    assert any(answer >= 0 for answer in of_name) == is_tried


def test_mutants_turn_lists_round() -> None:
    source = "def f(n):\n    row = [n, 2]\n    return row\n"
    found = Trial({"args": (1,), "kwargs": {}}, "f.py", lambda module: module.f)
    text = found.text(source, 0, False)
    assert text is not None
    words = [wrong(change) for change in repairs(text.tree, source, "f")]
    answers = list(found.of_mutants(text, repairs(text.tree, source, "f"), 60.0))
    seen = [None if answer < 0 else found.answers.seen[answer].value for answer in answers]
    turned = [word for word, value in zip(words, seen, strict=True) if value == [2, 1]]
    assert "`row` should be turned round, and is not in line 3, at `row`" in turned
    assert not any("`n` is not turned" in word for word in turned)


def test_mutants_answer_as_modules_that_are_made_anew_do() -> None:
    found, text = tried(1)
    answers = list(found.of_mutants(text, repairs(text.tree, TEXT, "f"), 60.0))
    assert text.lasting() == {0: ["dataclass"], 1: ["Pair"]}
    for change, answer in zip(list(repairs(text.tree, TEXT, "f")), answers, strict=True):
        if answer >= 0:
            with change.made():
                assert found.answer(text, text.codes()) == answer
