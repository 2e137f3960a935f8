"""The slips that are made in a solution: which there are, what they say, and that the solution is as before."""

from __future__ import annotations

import ast

import pytest

from kuiper.course.interpreted import interpreted
from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.material import CHECKOUT
from kuiper.course.mutants import Mutant, mutants
from kuiper.course.names import names_in

COMPLETE = [exercise for exercise in read_syllabus(CHECKOUT) if exercise.solution_file.is_file()]


def slips(
    body: str, head: str = "def f(x, n):", known: str = "f x n out width height min sum enumerate x[:] out="
) -> dict[str, list[str]]:
    """The bodies that the slips make of a function, under what they say."""
    lines = [f"    {line}" for line in body.splitlines()]
    text = "\n".join([head, "    # BEGIN SOLUTION", *lines, "    # END SOLUTION"])
    tree = ast.parse(text)
    found: dict[str, list[str]] = {}
    for mutant in mutants(tree, text, known.split(), "f"):
        with mutant.made():
            found.setdefault(mutant.words, []).append(ast.unparse(tree.body[0]).partition("\n")[2])
    return found


LOOP = "out = 0\nfor i in range(n):\n    out += x\nreturn out"


@pytest.mark.parametrize(
    ("body", "words", "wrong"),
    [
        ("return x < n", "a comparison of `x` with `n` also holds where both sides are equal", "x <= n"),
        ("return x + 1", "a term 1 is not added in what is returned", "return x"),
        ("return (x - n) // 2", "a quotient is rounded up, and should be rounded down", "-(-(x - n) // 2)"),
        ("return x // 2", "the division by 2 is left out", "return x"),
        (LOOP, "the loop over `n` ends one turn too early", "range(0, n - 1)"),
        (LOOP, "the loop over `n` begins one turn too late", "range(0 + 1, n)"),
        (LOOP, "`out` is set anew each time", "out = x"),
        (LOOP, "the line behind the loop over `n` stands in it", "out += x\n        return out"),
        (
            "if n < 0:\n    raise ValueError(n)\nreturn x",
            "a check is missing: nothing refuses the case about `n`",
            "pass",
        ),
        ("if n < 0 and x:\n    n = 0\nreturn x", "a part of a condition is left out: the one about `n`", "if x:"),
        ("return max(x, n)", "`min` stands where `max` belongs in what is returned", "min(x, n)"),
        ("return x.copy()", "a copy is missing in what is returned", "return x"),
        ("return x.sum(axis=1)", "`axis` is one too small in what is returned", "axis=0"),
        ("return x[:n]", "the last ones of `x` are taken, where the first ones belong", "x[-n:]"),
        ("return n * 2 - x", "`n` and `x` are exchanged", "x * 2 - n"),
        ("return n * 2 - x", "`n` is ignored", "0 * 2 - x"),
        (
            "for i in x:\n    out = 0\n    out += i\nreturn out",
            "`out` is set once, before the loop over `x`",
            "out = 0",
        ),
        ("for i, _ in enumerate(x):\n    n += i\nreturn n", "counting begins at 1", "enumerate(x, 1)"),
    ],
)
def test_mutants_make_a_slip_and_say_it(body: str, words: str, wrong: str) -> None:
    texts = [text for said, made in slips(body).items() if said.startswith(words) for text in made]
    assert any(wrong in text for text in texts)


def test_mutants_make_a_slip_at_all_places_of_one_kind() -> None:
    both = [text for texts in slips("return x.height // 2, x.width // 2").values() for text in texts]
    assert any("x.height / 2, x.width / 2" in text for text in both)


def test_mutants_name_nothing_that_the_student_does_not_know() -> None:
    words = " ".join(slips("secret = x + n\nreturn secret * hidden", known="x n"))
    assert "`x`" in words
    assert "secret" not in words
    assert "hidden" not in words


def test_mutants_name_what_the_student_computes_from_the_same() -> None:
    body = "n, out = x.size, x.size // n + 1\nreturn out"
    assert "a term 1 is not added where `out` is computed" in slips(body, known="x n out x.size out= out=n")
    assert "a term 1 is not added near `n` and `x`" in slips(body, known="x n out out=")


def test_mutants_name_no_method_and_attributes_as_they_are_written() -> None:
    words = " ".join(slips("return out.copy(), x.size", known="out copy x size x.size"))
    assert "two of several values are exchanged with `out` and `x.size` in what is returned" in words


def test_mutants_speak_of_slices_and_arguments_only_where_the_student_has_some() -> None:
    body = "return f(x[1:n], n)"
    for known, is_said in (("f x n x[:]", True), ("x n", False)):
        words = " ".join(slips(body, known=known))
        assert ("a part of `x` " in words, "two arguments of `f` " in words) == (is_said, is_said)


def test_mutants_leave_what_is_not_the_solution_alone() -> None:
    text = "def f(x):\n    y = x + 1\n    # BEGIN SOLUTION\n    return y\n    # END SOLUTION\n"
    assert {mutant.line for mutant in mutants(ast.parse(text), text, ["x"], "f")} == {4}


def test_mutants_begin_with_the_function_that_fails_and_the_most_natural_slip() -> None:
    text = "# BEGIN SOLUTION\ndef g(x):\n    return x < 1\ndef f(x):\n    return x > 1\n# END SOLUTION\n"
    found = list(mutants(ast.parse(text), text, ["x"], "f"))
    assert found[0].line == 5
    ranks = [mutant.rank for mutant in found if mutant.line == 5]
    assert ranks == sorted(ranks)


def parts_of(exercise: Exercise) -> tuple[ast.Module, list[Mutant]]:
    text = exercise.solution_file.read_text(encoding="utf-8")
    tree = interpreted(text) if exercise.is_cython else ast.parse(text)
    return tree, list(mutants(tree, text, names_in(text), exercise.hints[0].function))


@pytest.mark.thorough
@pytest.mark.parametrize("exercise", COMPLETE, ids=lambda exercise: exercise.id)
def test_mutants_of_a_solution_change_it_and_put_it_back(exercise: Exercise) -> None:
    tree, found = parts_of(exercise)
    before = ast.dump(tree)
    assert len(found) > 50
    unchanged = 0
    for mutant in found:
        statement = tree.body[mutant.statement]
        whole = ast.dump(statement)
        with mutant.made():
            unchanged += ast.dump(statement) == whole
        assert ast.dump(statement) == whole
    assert ast.dump(tree) == before
    assert unchanged == 0
