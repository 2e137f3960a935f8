"""Exercise 4.6."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.expression import evaluate as reference
from kuiper.expression import parse, reverse_polish, tokenize

TEXTS = st.recursive(
    st.sampled_from(["@0", "@1", "2", "-3"]),
    lambda texts: (
        st.builds("{}({})".format, st.sampled_from(["sin", "neg"]), texts)
        | st.builds("{}({},{})".format, st.sampled_from(["add", "sub", "mul"]), texts, texts)
    ),
    max_leaves=6,
)


def floats(values):
    return np.array(values, np.float32)


def test_sin(impl):
    x = floats([[0, 1, -2], [0.5, -30, 3]])
    expected = floats([[0, 0.84147098, -0.90929743], [0.47942554, 0.98803162, 0.14112001]])
    calling(impl.sin, x).gives(expected, tolerance=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sin_keeps_floats(impl, dtype):
    x = np.array([0.5, -1.25], dtype)
    calling(impl.sin, x).gives(np.array([math.sin(0.5), math.sin(-1.25)], dtype), tolerance=1e-3)


def test_sin_of_float64_is_precise(impl):
    calling(impl.sin, np.array([0.3])).gives(np.array([math.sin(0.3)]), tolerance=1e-12)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_sin_of_whole_numbers_is_float32(impl, dtype):
    calling(impl.sin, np.array([[0], [1]], dtype)).gives(floats([[0], [0.84147098]]), tolerance=1e-6)


def test_sin_of_large_integers(impl):
    calling(impl.sin, np.array([100, -7])).gives(floats([math.sin(100), math.sin(-7)]), tolerance=1e-6)


@pytest.mark.parametrize("number", [2**24 + 1, 10**9 + 1, -(2**40) - 12345])
def test_sin_of_whole_numbers_that_float32_rounds(impl, number):
    expected = math.sin(float(np.float32(number)))
    calling(impl.sin, np.array([number])).gives(floats([expected]), tolerance=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "int8", "uint16", "bool"])
def test_sin_of_no_numbers(impl, dtype):
    kept = dtype if "float" in dtype else "float32"
    calling(impl.sin, np.zeros((2, 0), dtype)).gives(np.zeros((2, 0), kept))


def test_sin_of_nan_and_with_gaps_in_memory(impl):
    x = floats([[np.nan, 9, 1, 9], [0, 9, -1, 9]])[:, ::2]
    calling(impl.sin, x).gives(floats([[np.nan, 0.84147098], [0, -0.84147098]]), tolerance=1e-6)


@pytest.mark.parametrize("number", [0, 2, -0.5, True, 10**9 + 1])
def test_sin_of_a_plain_number(impl, number):
    calling(impl.sin, number).gives(math.sin(number), tolerance=1e-12)


def test_tokenizer_sin(impl):
    words = ["add", "(", "sin", "(", "@0", ")", ",", "mul", "(", "@1", ",", "-0.5", ")", ")"]
    calling(impl.tokenizer, "add(sin(@0), mul(@1,-0.5))").gives(words)


def test_tokenizer_refuses_what_no_token_starts_with(impl):
    calling(impl.tokenizer, "sin(@0;1)").raises(ValueError, "';' at 6")


def test_generate_sin(impl):
    calling(impl.generate, "mul(sin(@0),sub(@1,sin(2)))").gives(["@0", "sin", "@1", "2", "sin", "sub", "mul"])


def test_generate_sin_of_a_sum(impl):
    calling(impl.generate, "sin(add(@0,neg(@1)))").gives(["@0", "@1", "neg", "add", "sin"])


def test_generate_without_sin(impl):
    calling(impl.generate, "div(pow(@0,2),sqrt(@1))").gives(["@0", "2", "pow", "@1", "sqrt", "div"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sin(@0,@1)", "sin"),
        ("sin()", ")"),
        ("sin", "the end"),
        ("sin @7", "@7"),
        ("asin(@0)", "asin"),
        ("sinh(@0)", "sinh"),
    ],
)
def test_generate_refuses(impl, text, words):
    calling(impl.generate, text).raises(ValueError, words)


def test_complex1(impl):
    expected = floats([0.84147098, -0.90929743, 0])
    calling(impl.compute, "sin(@0)", [floats([1, -2, 0])]).gives(expected, tolerance=1e-6)


def test_complex2(impl):
    x, y, z = floats([[0.5], [2]]), floats([1, -2, 3]), floats([[10, 20, 30], [40, 50, 60]])
    expected = np.sin(x) * y - np.sin(z + 2)
    calling(impl.compute, "sub(mul(sin(@0),@1),sin(add(@2,2)))", [x, y, z]).gives(expected, tolerance=1e-6)


def test_compute_sin_of_sin(impl):
    calling(impl.compute, "sin(sin(@1))", [floats([9]), floats([1, 2])]).gives(
        floats([0.74562414, 0.78907234]), tolerance=1e-6
    )


def test_compute_without_sin(impl):
    calling(impl.compute, "sub(neg(@0),div(@1,4))", [floats([1, 2]), floats([8, 20])]).gives(floats([-3, -7]))


def tables_afterwards(impl):
    """What functions 4.2 and 4.4 know, before and after."""
    from kuiper.course import load_exercise

    tables = load_exercise("4.2").ARITY, load_exercise("4.4").FUNCTIONS
    impl.generate("sin(@0)")
    impl.compute("sin(@0)", [np.zeros(1, np.float32)])
    return [sorted(table) for table in tables]


def test_tables_stay_as_they_are(impl):
    usual = ["add", "div", "mul", "neg", "pow", "sqrt", "sub"]
    calling(tables_afterwards, impl).gives([usual, usual])


def test_compute_in_float32(impl):
    calling(impl.compute, "sub(add(16777216,1),16777216)", []).gives(floats(0))
    calling(impl.compute, "sub(add(@0,1),@0)", [floats([16777216])]).gives(floats([0]))
    expected = floats([math.sin(float(np.float32(0.1) * np.float32(1e6)))])
    calling(impl.compute, "sin(mul(@0,0.1))", [floats([1e6])]).gives(expected, tolerance=1e-5)


def test_compute_of_numbers_alone(impl):
    calling(impl.compute, "sub(sin(0),1.5)", []).gives(floats(-1.5))


@given(text=TEXTS)
def test_as_the_engine_does(impl, text):
    calling(impl.tokenizer, text).gives([token.text for token in tokenize(text)])
    calling(impl.generate, text).gives([node.label for node in reverse_polish(parse(text))])
    inputs = [floats([[1], [-2]]), floats([3, 0, 0.5])]
    calling(impl.compute, text, inputs).gives(np.asarray(reference(text, inputs), np.float32), tolerance=1e-4)
