"""Exercise 4.4."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.expression import evaluate as reference
from kuiper.expression import parse, reverse_polish


def floats(values):
    return np.array(values, np.float32)


X = floats([[1, -2, 3], [4, 5, -6]])
ROW = floats([10, 20, 30])
COLUMN = floats([[7], [8]])

LEAVES = st.sampled_from(["@0", "@1", "2", "-3"])
TEXTS = st.recursive(
    LEAVES,
    lambda texts: (
        st.builds("neg({})".format, texts)
        | st.builds("{}({},{})".format, st.sampled_from(["add", "sub", "mul"]), texts, texts)
    ),
    max_leaves=6,
)


def test_an_input(impl):
    calling(impl.evaluate, ["@0"], [X]).gives(X)


def test_a_number(impl):
    calling(impl.evaluate, ["-2.5"], []).gives(floats(-2.5))


def test_add(impl):
    calling(impl.evaluate, ["@0", "1", "add"], [X]).gives(floats([[2, -1, 4], [5, 6, -5]]))


def test_sub_knows_its_arguments_apart(impl):
    calling(impl.evaluate, ["@0", "@1", "sub"], [X, ROW]).gives(floats([[-9, -22, -27], [-6, -15, -36]]))


def test_div_and_pow(impl):
    calling(impl.evaluate, ["@0", "2", "pow", "4", "div"], [X]).gives(floats([[0.25, 1, 2.25], [4, 6.25, 9]]))


def test_one_argument(impl):
    calling(impl.evaluate, ["@0", "neg", "@0", "add", "9", "sqrt", "sub"], [ROW]).gives(floats([-3, -3, -3]))


def test_what_lies_below_stays(impl):
    calling(impl.evaluate, ["1", "@0", "10", "20", "add", "mul", "sub"], [ROW]).gives(floats([-299, -599, -899]))


def test_inputs_go_by_their_numbers(impl):
    calling(impl.evaluate, ["@2", "@0", "sub"], [floats([1, 2]), floats([50, 50]), floats([9, 8])]).gives(
        floats([8, 6])
    )


def test_inputs_beyond_nine(impl):
    calling(impl.evaluate, ["@10", "@1", "sub"], [floats([i * i]) for i in range(11)]).gives(floats([99]))


def test_an_input_twice(impl):
    calling(impl.evaluate, ["@1", "@1", "mul"], [X, COLUMN]).gives(floats([[49], [64]]))


def test_broadcasting(impl):
    calling(impl.evaluate, ["@0", "@1", "mul"], [COLUMN, ROW]).gives(floats([[70, 140, 210], [80, 160, 240]]))


def test_three_axes(impl):
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    calling(impl.evaluate, ["@0", "@1", "sub"], [x, floats([[100], [200], [300]])]).gives(
        x - floats([[100], [200], [300]])
    )


def test_no_elements(impl):
    calling(impl.evaluate, ["@0", "2", "mul"], [np.zeros((0, 3), np.float32)]).gives(np.zeros((0, 3), np.float32))


def test_numbers_alone(impl):
    calling(impl.evaluate, ["2", "0.5", "sub"], []).gives(floats(1.5))


def test_numbers_with_an_exponent(impl):
    calling(impl.evaluate, ["@0", "1.5e+02", "add"], [floats([1])]).gives(floats([151]))


def test_fractions_are_kept(impl):
    calling(impl.evaluate, ["@0", "-0.5", "mul"], [floats([3, 5])]).gives(floats([-1.5, -2.5]))


def test_numbers_are_float32_in_between(impl):
    calling(impl.evaluate, ["16777216", "1", "add", "16777216", "sub"], []).gives(floats(0))
    calling(impl.evaluate, ["0.1", "10", "mul", "1", "sub"], []).gives(
        floats(np.float32(0.1) * np.float32(10) - np.float32(1))
    )


def test_arrays_are_float32_in_between(impl):
    x = floats([[16777216, 5], [33554432, -33554432]])
    calling(impl.evaluate, ["@0", "1", "add", "@0", "sub"], [x]).gives(floats([[0, 1], [0, 0]]))


def kinds_on_the_way(impl, steps):
    """The dtype of all that a function is given."""
    seen = []

    def add(x, y):
        seen.extend([str(np.asarray(x).dtype), str(np.asarray(y).dtype)])
        return x + y

    impl.evaluate(steps, [np.ones(2, np.float32)], {"add": (2, add)})
    return seen


def test_functions_are_given_float32(impl):
    calling(kinds_on_the_way, impl, ["@0", "0.1", "2", "add", "add"]).gives(["float32"] * 4)


def test_nan_and_infinity(impl):
    x = floats([np.nan, np.inf, 2])
    calling(impl.evaluate, ["@0", "neg"], [x]).gives(floats([np.nan, -np.inf, -2]))


def test_many_steps(impl):
    steps = ["@0", *["1", "add", "neg"] * 2000]
    calling(impl.evaluate, steps, [ROW]).gives(ROW)


def test_deep_stack(impl):
    steps = [*["1"] * 3000, *["add"] * 2999]
    calling(impl.evaluate, steps, []).gives(floats(3000))


def test_own_functions(impl):
    calling(three_arguments, impl, ["@0", "1", "2", "pick", "twice"], floats([4, 5])).gives(floats([206, 212]))


def three_arguments(impl, steps, x):
    """A function of three arguments that all weigh differently."""
    table = {"pick": (3, lambda x, y, z: 3 * x + 100 * y - 4.5 * z), "twice": (1, lambda x: x + x)}
    return impl.evaluate(steps, [x], table)


def test_own_functions_are_all_there_are(impl):
    calling(only_twice, impl, ["@0", "neg"], floats([4, 5])).raises(ValueError, "neg")


def only_twice(impl, steps, x):
    return impl.evaluate(steps, [x], {"twice": (1, lambda x: x + x)})


@pytest.mark.parametrize(
    ("steps", "name"),
    [(["@0", "sub"], "sub"), (["neg"], "neg"), (["@0", "@0", "add", "mul"], "mul"), (["add", "1", "2"], "add")],
)
def test_too_few_values(impl, steps, name):
    calling(impl.evaluate, steps, [X]).raises(ValueError, name)


@pytest.mark.parametrize(
    ("steps", "count"), [([], "0"), (["@0", "@0"], "2"), (["7", "@0", "neg", "@0", "@0", "add"], "3")]
)
def test_not_one_value_at_the_end(impl, steps, count):
    calling(impl.evaluate, steps, [X]).raises(ValueError, count)


@pytest.mark.parametrize("step", ["@1", "@2"])
def test_an_input_that_is_not_there(impl, step):
    calling(impl.evaluate, ["@0", step, "add"], [X]).raises(ValueError, step)


@pytest.mark.parametrize("step", ["mull", "x"])
def test_a_step_that_means_nothing(impl, step):
    calling(impl.evaluate, ["@0", step], [X]).raises(ValueError, step)


@given(text=TEXTS)
def test_as_the_engine_does(impl, text):
    inputs = [floats([[1], [-2]]), floats([3, 0, 5])]
    steps = [node.label for node in reverse_polish(parse(text))]
    expected = np.asarray(reference(text, inputs), np.float32)
    calling(impl.evaluate, steps, inputs).gives(expected, tolerance=1e-6)
