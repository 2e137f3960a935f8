"""The stack machine and the scan from the right: each by hand, and both against each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper import ExecutionError, ExpressionError, ShapeError, Tensor
from kuiper.expression import compile_expression, evaluate, evaluate_prefix

X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
Y = np.array([10, 20, 30], np.float32)

both = pytest.mark.parametrize("run", [evaluate, evaluate_prefix])
Run = Callable[[str, list[Any]], Any]


def assert_equal(got: Any, expected: Any) -> None:
    """The same structure, types and values."""
    assert type(got) is type(expected)
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for item, other in zip(got, expected, strict=True):
            assert_equal(item, other)
    elif isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    else:
        assert got == expected or (got != got and expected != expected)


@both
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@1", Y),
        ("add(@0,@1)", X + Y),
        ("sub(@1,@0)", Y - X),
        ("mul(pow(mul(@0,2),2),@1)", 4 * X * X * Y),
        ("add(mul(@0,@1),neg(@0))", X * Y - X),
        ("div(1,@1)", 1 / Y),
        ("mul(@0,size(@0,1))", 3 * X),
        ("add(,@0,,@1,)", X + Y),
        ("2", 2),
        ("-inf", -math.inf),
        ("True", True),
        ("None", None),
        ("ij", "ij"),
        ("[]", []),
        ("[@0,@1]", [X, Y]),
        ("[size(@0,0),-1]", [2, -1]),
        ("[size(@0),[max(size(@0,0),3)],ij]", [[2, 3], [3], "ij"]),
        ("@0,@1", [X, Y]),
        ("sub(2,log1p),expm1,@1", 2 - np.log1p(np.expm1(Y))),
    ],
)
def test_value(run: Run, text: str, expected: object) -> None:
    assert_equal(run(text, [X, Y]), expected)


@both
def test_inputs_are_not_written_to_and_may_be_passed_on(run: Run) -> None:
    x = X.copy()
    run("[add(@0,1),mul(@0,@0),abs(@0)]", [x])
    np.testing.assert_array_equal(x, X)
    assert run("@0", [x]) is x


@both
def test_inputs_may_be_numbers_and_lists(run: Run) -> None:
    assert run("[add(@0,1),@1]", [4, [1, 2]]) == [5, [1, 2]]


@both
def test_inputs_may_be_tensors(run: Run) -> None:
    assert_equal(run("add(@0,@1)", [Tensor(X), Tensor(Y)]), X + Y)


@both
def test_no_warning_about_what_torch_does_in_silence(run: Run) -> None:
    x = np.array([0, 2, -1], np.float32)
    for text in ("div(1,@0)", "asin(@0)", "log(@0)", "exp(mul(@0,1000))", "remainder(@0,0)", "torch.int(div(@0,0))"):
        run(text, [x])


@both
@pytest.mark.parametrize(
    ("text", "message", "caret"),
    [
        ("add(@0,@7)", "got .?@7", 7),
        ("mull(@0,2)", "expected a function, got 'mull'; similar: mul", 0),
        ("neg(@0,2)", "expected neg with 1 argument, got 2", 0),
        ("", "expected an expression, got none", 0),
    ],
)
def test_a_text_that_cannot_be_read(run: Run, text: str, message: str, caret: int) -> None:
    with pytest.raises(ExpressionError, match=message) as error:
        run(text, [X, Y])
    assert str(error.value).splitlines()[-1] == "    " + " " * caret + "^"


@pytest.mark.parametrize("text", ["add(@0,@1", "add(@0,@1))", "[@0", "@0]", "add(@0,@1]", "neg([@0)]"])
def test_scan_from_the_right_finds_brackets_without_partner(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate_prefix(text, [X, Y])


def test_scan_from_the_right_takes_any_depth() -> None:
    assert evaluate_prefix("neg(" * 10_001 + "@0" + ")" * 10_001, [5]) == -5


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError) as error:
        evaluate("neg(add(@0,@1))", [X, np.zeros(2, np.float32)])
    assert str(error.value) == ("expression: expected shapes that broadcast, got add((2, 3), (2,)); in neg(add(@0,@1))")


def test_function_that_fails_is_named_with_its_arguments() -> None:
    with pytest.raises(ExecutionError) as error:
        evaluate("add(1,size(@0,5))", [X])
    assert str(error.value) == (
        "expression: expected a value for size((2, 3), 5), got IndexError: tuple index out of range; "
        "in add(1,size(@0,5))"
    )
    assert isinstance(error.value.__cause__, IndexError)


def test_program_runs_many_times() -> None:
    program = compile_expression("add(mul(@0,2),@1)", 3, "pnnx.Expression 'e'")
    assert [step.label for step in program.steps] == ["@0", "2", "mul", "@1", "add"]
    assert evaluate(program, [3, 4, None]) == 10
    np.testing.assert_array_equal(program.run([X, Y, None]), 2 * X + Y)


@pytest.mark.parametrize(("count", "expected"), [(0, "no inputs"), (2, "one of 2 inputs, @0 to @1")])
def test_compile_refuses_inputs_that_are_not_there(count: int, expected: str) -> None:
    with pytest.raises(ExpressionError, match=f"somewhere: expected {expected}, got @2"):
        compile_expression("neg(@2)", count, "somewhere")


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("add(@0,@1)", 6),
        ("mul(pow(mul(@1,2),2),@0)", 3 + 3 + 6),
        ("mul(@0,sqrt(size(@0,1)))", 6),
        ("[mul(size(@0,0),2),-1]", 0),
        ("torch.int(exp(@1))", 3),
        ("[neg(@0),@1]", 6),
        ("@0", 0),
        ("neg(1)", 0),
    ],
)
def test_flops_count_one_per_function_and_element(text: str, flops: int) -> None:
    assert compile_expression(text, 2).flops([(2, 3), (3,)]) == flops


def test_flops_of_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"expected shapes that broadcast, got \(2, 3\) and \(2,\); in add"):
        compile_expression("add(@0,@1)", 2).flops([(2, 3), (2,)])


# Whatever comes out of these is defined, so the only question is whether both ways agree.
UNARY = ("abs", "neg", "sin", "tanh", "exp", "square", "floor", "round", "sign", "sqrt", "erf", "log1p", "torch.float")
BINARY = ("add", "sub", "mul", "div", "max", "min", "atan2", "pow")
LEAVES = st.sampled_from(["@0", "@1", "@2", "2", "-1.5", "0.25", "inf", "nan.0", "True", "size(@0,1)", "size(@1,-1)"])


def calls(arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    unary = st.builds("{}({})".format, st.sampled_from(UNARY), arguments)
    return unary | st.builds("{}({},{})".format, st.sampled_from(BINARY), arguments, arguments)


ITEMS = st.recursive(LEAVES, calls, max_leaves=12)
EXPRESSIONS = ITEMS | st.lists(ITEMS, max_size=4).map(lambda items: f"[{','.join(items)}]")


@settings(max_examples=300, derandomize=True)
@given(EXPRESSIONS)
def test_both_ways_give_the_same(text: str) -> None:
    inputs = [X, np.array([[7]], np.int64), np.array(True)]
    assert_equal(outcome(evaluate_prefix, text, inputs), outcome(evaluate, text, inputs))


def outcome(run: Run, text: str, inputs: list[Any]) -> Any:
    """The value, or that there is none: a negative bool, a number too large."""
    try:
        return run(text, inputs)
    except (ExecutionError, TypeError, ArithmeticError):
        return "refused"
