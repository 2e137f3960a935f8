"""Exercise 2.2."""

from __future__ import annotations

import math

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st


def typed(impl, text):
    """The name of the type, and the value."""
    param = impl.parse_value(text)
    return param.type.name, param.value


def all_typed(impl, type_name, texts):
    return [(key, param.type.name, param.value) for key, param in impl.parse_params(type_name, texts).items()]


@pytest.mark.parametrize(
    ("text", "value"), [("64", 64), ("0", 0), ("-3", -3), ("2147483647", 2147483647), ("007", 7), ("-0", 0)]
)
def test_integer(impl, text, value):
    calling(typed, impl, text).gives(("INT", value))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 12345678901234567890])
def test_whole_number_that_no_float_holds(impl, value):
    calling(typed, impl, f"{value}").gives(("INT", value))
    calling(typed, impl, f"(1,{value})").gives(("INT_LIST", [1, value]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("-2.25", -2.25),
        ("1.000000e-05", 1e-5),
        ("1e3", 1000.0),
        ("-4e-1", -0.4),
        ("3.", 3.0),
        ("2.0", 2.0),
    ],
)
def test_float(impl, text, value):
    calling(typed, impl, text).gives(("FLOAT", value))


@pytest.mark.parametrize(("text", "value"), [("True", True), ("False", False)])
def test_bool(impl, text, value):
    calling(typed, impl, text).gives(("BOOL", value))


@pytest.mark.parametrize("text", ["None", "()", "[]"])
def test_null(impl, text):
    calling(typed, impl, text).gives(("NULL", None))


@pytest.mark.parametrize(
    "text",
    [
        "zeros",
        "torch.float",
        "same",
        "inf",
        "-inf",
        "nan",
        "-",
        "-x1",
        "--3",
        ".5",
        "+3",
        "-.5",
        "true",
        "NoneType",
        "none",
        "FALSE",
        "e5",
        "infinity",
        "-nan",
        "",
        ")",
        "--",
        "\u00b2",
        "\u0663",
        "-\u0663",
    ],
)
def test_word(impl, text):
    calling(typed, impl, text).gives(("STRING", text))


@pytest.mark.parametrize("text", ["%batch", "(1,%batch)", "3%2", "[%a,%b]", "(%a"])
def test_percent_sign_makes_a_string(impl, text):
    calling(typed, impl, text).gives(("STRING", text))


def test_list_of_integers(impl):
    calling(typed, impl, "(2,-1,30)").gives(("INT_LIST", [2, -1, 30]))
    calling(typed, impl, "[4,5]").gives(("INT_LIST", [4, 5]))


def test_list_of_one(impl):
    calling(typed, impl, "(7)").gives(("INT_LIST", [7]))
    calling(typed, impl, "[0.5]").gives(("FLOAT_LIST", [0.5]))
    calling(typed, impl, "(ij)").gives(("STRING_LIST", ["ij"]))


def test_list_of_floats(impl):
    calling(typed, impl, "(0.5,-2.0,1e2)").gives(("FLOAT_LIST", [0.5, -2.0, 100.0]))


def test_list_of_words(impl):
    calling(typed, impl, "[ij,jk,torch.int]").gives(("STRING_LIST", ["ij", "jk", "torch.int"]))


def test_items_know_only_the_last_three_rules(impl):
    calling(typed, impl, "(True,False)").gives(("STRING_LIST", ["True", "False"]))
    calling(typed, impl, "(None)").gives(("STRING_LIST", ["None"]))
    calling(typed, impl, "(a,)").gives(("STRING_LIST", ["a", ""]))
    calling(typed, impl, "(,)").gives(("STRING_LIST", ["", ""]))
    calling(typed, impl, "([a,b)").gives(("STRING_LIST", ["[a", "b"]))


def test_infinity_among_floats(impl):
    calling(typed, impl, "(inf,0.5,-inf,nan)").gives(("FLOAT_LIST", [math.inf, 0.5, -math.inf, math.nan]))
    calling(typed, impl, "(inf,nan)").gives(("STRING_LIST", ["inf", "nan"]))


@pytest.mark.parametrize("text", ["(1,2", "[1,2", "(1,2]", "[a,b)", "("])
def test_list_that_is_not_closed(impl, text):
    calling(impl.parse_value, text).raises(ValueError, text)


@pytest.mark.parametrize(
    "text",
    [
        *("(1,0.5)", "(0.5,1)", "(1,a)", "[0.5,a]", "(1,inf)", "(inf,1)", "(a,-3)", "(1,None)", "(1,True)", "(1,)"),
        *("(0.5,infinity)", "(0.5,NaN)", "(0.5,+inf)", "(0.5,-nan)", "(0.5,inf,a)", "(0.5,)"),
    ],
)
def test_list_of_several_types(impl, text):
    calling(impl.parse_value, text).raises(ValueError, text)


@pytest.mark.parametrize("text", ["12abc", "-3x", "1.2.3", "5e", "(1,2x)", "1E5", "0x10", "0xe", "3,4", "7-", "1/2"])
def test_number_that_is_none(impl, text):
    calling(impl.parse_value, text).raises(ValueError)


@pytest.mark.parametrize("text", ["(2,2)", "None", "True", "1.000000e-05", "007", "zeros", "%a"])
def test_text_is_kept(impl, text):
    calling(text_of, impl, text).gives(text)


def text_of(impl, text):
    return impl.parse_value(text).text


def test_params(impl):
    texts = {"stride": "(2,1)", "eps": "1e-5", "bias": "False", "mode": "zeros", "size": "None"}
    calling(all_typed, impl, "nn.Conv2d", texts).gives(
        [
            ("stride", "INT_LIST", [2, 1]),
            ("eps", "FLOAT", 1e-5),
            ("bias", "BOOL", False),
            ("mode", "STRING", "zeros"),
            ("size", "NULL", None),
        ]
    )


@pytest.mark.parametrize("text", ["add(@0,@1)", "[@0,2]", "3", "True", "()", "0.5", "(1,2)"])
def test_formula_of_an_expression_is_text(impl, text):
    calling(all_typed, impl, "pnnx.Expression", {"expr": text}).gives([("expr", "STRING", text)])


def test_formula_keeps_its_text(impl):
    calling(impl.parse_params, "pnnx.Expression", {"expr": "[@0,2]"}).gives(
        {"expr": {"type": "STRING", "value": "[@0,2]", "text": "[@0,2]"}}
    )


def test_other_parameters_of_an_expression(impl):
    calling(all_typed, impl, "pnnx.Expression", {"n": "3"}).gives([("n", "INT", 3)])
    calling(all_typed, impl, "torch.einsum", {"expr": "(1,2)"}).gives([("expr", "INT_LIST", [1, 2])])


def test_no_params(impl):
    calling(impl.parse_params, "nn.ReLU", {}).gives({})


@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5))
def test_any_integers(impl, values):
    calling(typed, impl, f"({','.join(map(str, values))})").gives(("INT_LIST", values))


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_any_float(impl, value):
    calling(typed, impl, repr(value)).gives(("FLOAT", value))
