"""What is wrong in a student's file, in words, where a change of one place makes it right."""

from __future__ import annotations

import ast

import pytest

from kuiper.course.interpreted import interpreted
from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.material import CHECKOUT
from kuiper.course.repairs import is_removal, repairs, undoes, unread, wrong
from kuiper.course.trial import Text

COMPLETE = [exercise for exercise in read_syllabus(CHECKOUT) if exercise.solution_file.is_file()]


def named(before: str, after: str) -> list[str]:
    """The words for all changes that make the first body of a function the second one."""
    text, wanted = (f"def f(x, n):\n    {body}\n" for body in (before, after))
    tree, found = ast.parse(text), []
    for change in repairs(tree, text, "f"):
        words = wrong(change)
        with change.made():
            if ast.unparse(tree) == ast.unparse(ast.parse(wanted)):
                found.append(words)
    return found


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "return x <= n",
            "return x < n",
            "a comparison of `x` with `n` also holds where both sides are equal, and should not in line 2, at `x <= n`",
        ),
        ("return x * 3", "return x * 2", "a number is one too large in line 2, at `3`"),
        ("return x[n]", "return x[n + 1]", "an index of `x` is one too small in line 2, at `x[n]`"),
        ("return x + n - 1", "return x + n", "a term 1 is subtracted that should not be in line 2, at `x + n - 1`"),
        ("return x - n", "return n - x", "a difference is turned round in line 2, at `x - n`"),
        ("return min(x, n)", "return max(x, n)", "`min` stands where `max` belongs in line 2, at `min(x, n)`"),
        ("return x", "return n", "`x` stands where `n` belongs in line 2, at `x`"),
        ("return x.copy()", "return x", "something else belongs in line 2, at `x.copy()`"),
        ("return x + n", "return x + n + 1", "a number is one too small in line 2, at `x + n`"),
        (
            "for i in range(n - 1, 0, -1): x[i] = 0",
            "for i in range(n - 1, 0 - 1, -1): x[i] = 0",
            "the loop over `i` ends one turn too early in line 2, at `range(n - 1, 0, -1)`",
        ),
        (
            "if n < 0: raise ValueError(n)\n    if x: raise ValueError(x)",
            "if x: raise ValueError(x)\n    if n < 0: raise ValueError(n)",
            "two checks with `n` and `x` are in the other order in line 2",
        ),
    ],
)
def test_repairs_say_what_is_wrong_and_where(before: str, after: str, words: str) -> None:
    assert words in named(before, after)


def test_undoes_is_true_of_an_argument_that_takes_the_call_away() -> None:
    call = named("return x.swapaxes(1, 2)", "return x")[0]
    argument = named("return x.swapaxes(1, 2)", "return x.swapaxes(1, 1)")[0]
    assert argument.startswith("an argument of `swapaxes` is one too large")
    assert undoes(argument, call)
    assert not undoes(call, argument)
    assert not undoes(named("return x.swapaxes(n, 2)", "return x.swapaxes(x, 2)")[0], call)


def test_is_removal_is_true_of_changes_that_leave_something_out() -> None:
    assert is_removal(named("return x / n", "return x")[0])
    assert is_removal(named("return abs(x)", "return x")[0])
    assert not is_removal(named("return x * 3", "return x * 2")[0])


def test_repairs_try_the_numbers_of_the_solution() -> None:
    text = "def f(x):\n    return x << 8\n"
    solution = 'def f(x):\n    """Not 77."""\n    return x << 16  # not 78\n'
    said = []
    for change in repairs(tree := ast.parse(text), text, "f", solution):
        words = wrong(change)
        with change.made():
            said += [(words, number) for number in (16, 77, 78) if f"x << {number}" in ast.unparse(tree)]
    assert said == [("another number belongs in line 2, at `8`", 16)]


def mended(text: str, wanted: str, solution: str = "") -> list[str]:
    """The words for all changes of a file that make it the other one."""
    tree, said = ast.parse(text), []
    for change in repairs(tree, text, "f", solution):
        words = wrong(change)
        with change.made():
            if ast.unparse(ast.parse(ast.unparse(tree))) == ast.unparse(ast.parse(wanted)):
                said.append(words)
    return said


@pytest.mark.parametrize(
    ("text", "wanted", "solution", "words"),
    [
        (
            "def f(x):\n    return x + '/'\n",
            "def f(x):\n    return x + '.'\n",
            "def f(y):\n    return y + '.'\n",
            "another text belongs in line 2, at `'/'`",
        ),
        (
            "def f(op):\n    return op.inputs\n",
            "def f(op):\n    return op.outputs\n",
            "def f(op):\n    return sorted(op.outputs)\n",
            "`inputs` stands where `outputs` belongs in line 2, at `op.inputs`",
        ),
        (
            "def f(op):\n    return [op]\n",
            "def f(op):\n    return [op.name]\n",
            "def f(op):\n    return [op.name]\n",
            "`op` itself stands where its `name` belongs in line 2, at `op`",
        ),
        (
            "def f(op):\n    return [op.name]\n",
            "def f(op):\n    return [op]\n",
            "def f(op):\n    return [op]\n",
            "the `name` of `op` stands where `op` itself belongs in line 2, at `op.name`",
        ),
        (
            "def f(x, shape):\n    return len(x.shape)\n",
            "def f(x, shape):\n    return len(shape)\n",
            "",
            "`x.shape` stands where `shape` belongs in line 2, at `x.shape`",
        ),
        (
            "def f(x, shape):\n    return len(shape), x.shape\n",
            "def f(x, shape):\n    return len(x.shape), x.shape\n",
            "",
            "`shape` stands where `x.shape` belongs in line 2, at `shape`",
        ),
        (
            "def f(x):\n    for i in x:\n        if i:\n            n = i\n",
            "def f(x):\n    for i in x:\n        if i:\n            n = i\n            break\n",
            "",
            "a `break` is missing at the end of what belongs to the `if` in line 3",
        ),
        (
            "def f(x):\n    n = 1\n    for i in x:\n        n += i\n    return n\n",
            "def f(x):\n    n = 1\n    for i in x:\n        n *= i\n    return n\n",
            "",
            "`n` becomes a sum where it should become a product in line 4",
        ),
        (
            "def f(x):\n    n = 1\n    for i in x:\n        n *= i\n    return n\n",
            "def f(x):\n    n = 1\n    for i in x:\n        n += i\n    return n\n",
            "",
            "`n` becomes a product where it should become a sum in line 4",
        ),
        (
            "def f(x):\n    a = 0\n    b = []\n    for i in x:\n        b[a] = i\n",
            "def f(x):\n    pass\n    pass\n    for i in x:\n        a = 0\n        b = []\n        b[a] = i\n",
            "",
            "`a` and `b` are set once, before the loop over `i`, and not in each turn in line 4",
        ),
    ],
)
def test_repairs_take_parts_from_the_solution_and_from_the_file(
    text: str, wanted: str, solution: str, words: str
) -> None:
    assert words in mended(text, wanted, solution)


def test_repairs_never_put_a_list_into_itself() -> None:
    text = "def f(rows, least):\n    for row in rows:\n        row.append(least)\n    rows.append(rows[0])\n"
    tree, said = ast.parse(text), []
    for change in repairs(tree, text, "f"):
        with change.made():
            said.append(ast.unparse(tree))
    assert len(said) > 20
    assert not [words for words in said if "row.append(row" in words or "rows.append(rows)" in words]


def test_repairs_begin_with_the_function_and_those_that_it_calls_and_end_with_those_that_have_no_words() -> None:
    text = "def g(x):\n    return x + 1\n\ndef h(x):\n    return x + 2\n\ndef f(x):\n    return h(x.copy()) + 3\n"
    tree = ast.parse(text)
    found = [(change.line, wrong(change)) for change in repairs(tree, text, "f")]
    lines = [line for line, _ in found]
    assert list(dict.fromkeys(lines)) == [8, 5, 2]
    without = [words.startswith("something else belongs") for line, words in found if line == 8]
    assert sorted(without) == without
    assert any(without)


def test_unread_are_the_parameters_that_a_function_does_not_use() -> None:
    tree = ast.parse("class C:\n    def f(self, x, n):\n        n = 2\n        return self.y + x\n")
    assert unread(tree, "C.f") == {"n": 2}
    assert unread(tree, "g") == {}


def test_repairs_of_a_pyx_quote_only_what_stands_in_it() -> None:
    text = "def f(float[:] x, Py_ssize_t n):\n    cdef Py_ssize_t i\n    i = n / 2 - 1\n    x[i] = 0\n"
    said = [wrong(change) for change in repairs(interpreted(text), text, "f")]
    assert any(" in line 3" in words for words in said)
    assert not any("_divide" in words or "_whole" in words for words in said)


def test_repairs_leave_the_file_as_it_was() -> None:
    text = "def f(x, n):\n    for i in range(n):\n        x[i] += 1\n    return x[:n]\n"
    tree = ast.parse(text)
    for change in repairs(tree, text, "f"):
        with change.made():
            pass
    assert ast.unparse(tree) == ast.unparse(ast.parse(text))


@pytest.mark.parametrize("exercise", COMPLETE, ids=lambda exercise: exercise.id)
def test_repairs_are_the_same_where_loops_count_their_turns(exercise: Exercise) -> None:
    """The process that tries them knows them by their numbers."""
    source = exercise.solution_file.read_text(encoding="utf-8")
    plain = interpreted(source) if exercise.is_cython else ast.parse(source)
    counted = Text.of(source, "a file", exercise.is_cython, {}).tree
    for function in exercise.symbols:
        one, other = ([wrong(change) for change in repairs(tree, source, function)] for tree in (plain, counted))
        assert one == other
