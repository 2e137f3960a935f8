"""Exercise 4.5."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.expression import evaluate as reference
from kuiper.expression import tokenize

KINDS = {"INPUT": "input", "NUMBER": "number", "WORD": "word", "OPEN": "(", "CLOSE": ")", "COMMA": ","}
LEAVES = st.sampled_from(["@0", "@1", "2", "-3"])
TEXTS = st.recursive(
    LEAVES,
    lambda texts: (
        st.builds("neg({})".format, texts)
        | st.builds("{}({},{})".format, st.sampled_from(["add", "sub", "mul"]), texts, texts)
    ),
    max_leaves=6,
)


def tokens_of(text):
    return [(KINDS[token.type.name], token.text, token.position) for token in tokenize(text)]


def floats(values):
    return np.array(values, np.float32)


X = floats([[1, -2, 3], [4, 5, -6]])
ROW = floats([10, 20, 30])
COLUMN = floats([[7], [8]])


def test_an_input(impl):
    calling(impl.evaluate_prefix, tokens_of("@0"), [X]).gives(X)


def test_a_number(impl):
    calling(impl.evaluate_prefix, tokens_of("-2.5"), []).gives(floats(-2.5))


def test_add(impl):
    calling(impl.evaluate_prefix, tokens_of("add(@0,1)"), [X]).gives(floats([[2, -1, 4], [5, 6, -5]]))


def test_sub_knows_its_arguments_apart(impl):
    calling(impl.evaluate_prefix, tokens_of("sub(@0,@1)"), [X, ROW]).gives(floats([[-9, -22, -27], [-6, -15, -36]]))


def test_calls_in_calls(impl):
    tokens = tokens_of("sub(mul(@0,2),div(@1,add(@2,neg(3))))")
    calling(impl.evaluate_prefix, tokens, [floats([5, 6]), floats([8, 12]), floats([7])]).gives(floats([8, 9]))


def test_one_argument(impl):
    calling(impl.evaluate_prefix, tokens_of("neg(sub(@0,neg(1)))"), [ROW]).gives(floats([-11, -21, -31]))


def test_three_arguments(impl):
    tokens = tokens_of("where(@0,sub(@1,1),neg(@1))")
    calling(impl.evaluate_prefix, tokens, [floats([1, 0, 2]), ROW]).gives(floats([9, -20, 29]))


def test_inputs_go_by_their_numbers(impl):
    inputs = [floats([1, 2]), floats([50, 50]), floats([9, 8])]
    calling(impl.evaluate_prefix, tokens_of("sub(@2,@0)"), inputs).gives(floats([8, 6]))


def test_inputs_beyond_nine(impl):
    calling(impl.evaluate_prefix, tokens_of("sub(@10,@1)"), [floats([i * i]) for i in range(11)]).gives(floats([99]))


def test_an_input_twice(impl):
    calling(impl.evaluate_prefix, tokens_of("mul(@1,@1)"), [X, COLUMN]).gives(floats([[49], [64]]))


def test_broadcasting(impl):
    calling(impl.evaluate_prefix, tokens_of("mul(@0,@1)"), [COLUMN, ROW]).gives(
        floats([[70, 140, 210], [80, 160, 240]])
    )


def test_no_elements(impl):
    calling(impl.evaluate_prefix, tokens_of("mul(@0,2)"), [np.zeros((0, 3), np.float32)]).gives(
        np.zeros((0, 3), np.float32)
    )


def test_numbers_alone(impl):
    calling(impl.evaluate_prefix, tokens_of("sub(1.5e+02,0.5)"), []).gives(floats(149.5))


def test_without_brackets_and_commas(impl):
    calling(impl.evaluate_prefix, tokens_of("sub mul @0 2 neg 1"), [ROW]).gives(floats([21, 41, 61]))


def test_brackets_that_do_not_match(impl):
    calling(impl.evaluate_prefix, tokens_of(",)sub mul)@0((2,,neg 1("), [ROW]).gives(floats([21, 41, 61]))


def test_nested_thousands_deep(impl):
    tokens = [("word", "neg", 0), ("(", "(", 0)] * 5001 + [("input", "@0", 0)] + [(")", ")", 0)] * 5001
    calling(impl.evaluate_prefix, tokens, [ROW]).gives(-ROW)


def test_numbers_are_float32_in_between(impl):
    calling(impl.evaluate_prefix, tokens_of("sub(add(16777216,1),16777216)"), []).gives(floats(0))
    calling(impl.evaluate_prefix, tokens_of("sub(mul(0.1,10),1)"), []).gives(
        floats(np.float32(0.1) * np.float32(10) - np.float32(1))
    )


def test_arrays_are_float32_in_between(impl):
    x = floats([[16777216, 5], [33554432, -33554432]])
    calling(impl.evaluate_prefix, tokens_of("sub(add(@0,1),@0)"), [x]).gives(floats([[0, 1], [0, 0]]))


def kinds_on_the_way(impl, tokens):
    """The dtype of all that a function is given."""
    seen = []

    def add(x, y):
        seen.extend([str(np.asarray(x).dtype), str(np.asarray(y).dtype)])
        return x + y

    impl.evaluate_prefix(tokens, [np.ones(2, np.float32)], {"add": (2, add)})
    return seen


def test_functions_are_given_float32(impl):
    calling(kinds_on_the_way, impl, tokens_of("add(@0,add(0.1,2))")).gives(["float32"] * 4)


def test_nan_and_infinity(impl):
    x = floats([np.nan, np.inf, 2])
    calling(impl.evaluate_prefix, tokens_of("neg(@0)"), [x]).gives(floats([np.nan, -np.inf, -2]))


def test_own_functions(impl):
    tokens = tokens_of("twice(pick(@0,1,2))")
    calling(three_arguments, impl, tokens, floats([4, 5])).gives(floats([206, 212]))


def three_arguments(impl, tokens, x):
    """A function of three arguments that all weigh differently."""
    table = {"pick": (3, lambda x, y, z: 3 * x + 100 * y - 4.5 * z), "twice": (1, lambda x: x + x)}
    return impl.evaluate_prefix(tokens, [x], table)


def test_own_functions_are_all_there_are(impl):
    calling(only_twice, impl, tokens_of("neg(@0)"), floats([4, 5])).raises(ValueError, "neg")


def only_twice(impl, tokens, x):
    return impl.evaluate_prefix(tokens, [x], {"twice": (1, lambda x: x + x)})


@pytest.mark.parametrize(
    ("text", "name"), [("sub(@0)", "sub"), ("neg()", "neg"), ("mul(add(@0,1))", "mul"), ("1,where(@0)", "where")]
)
def test_too_few_values(impl, text, name):
    calling(impl.evaluate_prefix, tokens_of(text), [X]).raises(ValueError, name)


@pytest.mark.parametrize(("text", "count"), [("", "0"), ("(,)", "0"), ("@0,@0", "2"), ("7,neg(@0),add(@0,@0)", "3")])
def test_not_one_value_at_the_end(impl, text, count):
    calling(impl.evaluate_prefix, tokens_of(text), [X]).raises(ValueError, count)


@pytest.mark.parametrize("name", ["@1", "@2"])
def test_an_input_that_is_not_there(impl, name):
    calling(impl.evaluate_prefix, tokens_of(f"add(@0,{name})"), [X]).raises(ValueError, name)


@pytest.mark.parametrize("name", ["mull", "x"])
def test_a_function_that_is_not_there(impl, name):
    calling(impl.evaluate_prefix, tokens_of(f"add(@0,{name}(2))"), [X]).raises(ValueError, name)


@given(text=TEXTS)
def test_as_the_engine_does(impl, text):
    inputs = [floats([[1], [-2]]), floats([3, 0, 5])]
    expected = np.asarray(reference(text, inputs), np.float32)
    calling(impl.evaluate_prefix, tokens_of(text), inputs).gives(expected, tolerance=1e-6)
