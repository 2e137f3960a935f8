from __future__ import annotations

import math

import pytest

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx import DataType, Parameter, ParameterType, parse_value, spell_value
from kuiper.graph.pnnx.data_types import byte_count, numpy_layout, parse_typed_shape, spell_typed_shape

VALUES = [
    ("None", ParameterType.NULL, None),
    ("()", ParameterType.NULL, None),
    ("[]", ParameterType.NULL, None),
    ("True", ParameterType.BOOL, True),
    ("False", ParameterType.BOOL, False),
    ("0", ParameterType.INT, 0),
    ("-17", ParameterType.INT, -17),
    ("2147483647", ParameterType.INT, 2**31 - 1),
    ("9223372036854775807", ParameterType.INT, 2**63 - 1),
    ("-9223372036854775808", ParameterType.INT, -(2**63)),
    ("2.5", ParameterType.FLOAT, 2.5),
    ("2.", ParameterType.FLOAT, 2.0),
    ("-0.333333343", ParameterType.FLOAT, -0.333333343),
    ("1.000000e-05", ParameterType.FLOAT, 1e-5),
    ("1.000000e-5", ParameterType.FLOAT, 1e-5),
    ("1e+3", ParameterType.FLOAT, 1000.0),
    ("1.000000e+39", ParameterType.FLOAT, 1e39),
    ("1.000000e+00+-2.000000e+00j", ParameterType.COMPLEX, 1 - 2j),
    ("1.500000e+00+2.000000e+00j", ParameterType.COMPLEX, 1.5 + 2j),
    ("1.0-2.0j", ParameterType.COMPLEX, 1 - 2j),
    ("zeros", ParameterType.STRING, "zeros"),
    ("torch.float", ParameterType.STRING, "torch.float"),
    ("inf", ParameterType.STRING, "inf"),
    ("-inf", ParameterType.STRING, "-inf"),
    ("nan", ParameterType.STRING, "nan"),
    ("nan.0", ParameterType.STRING, "nan.0"),
    ("-", ParameterType.STRING, "-"),
    ("", ParameterType.STRING, ""),
    (".5", ParameterType.STRING, ".5"),
    ("none", ParameterType.STRING, "none"),
    ("ij,jk->ik", ParameterType.STRING, "ij,jk->ik"),
    ("a=b==c", ParameterType.STRING, "a=b==c"),
    ("%batch", ParameterType.STRING, "%batch"),
    ("(1,%batch", ParameterType.STRING, "(1,%batch"),
    ("(2)", ParameterType.INT_LIST, [2]),
    ("(1,-2,3)", ParameterType.INT_LIST, [1, -2, 3]),
    ("[1,2]", ParameterType.INT_LIST, [1, 2]),
    ("(1, 2)", ParameterType.INT_LIST, [1, 2]),
    ("(2.0,1e3)", ParameterType.FLOAT_LIST, [2.0, 1000.0]),
    ("(1.0,-inf)", ParameterType.FLOAT_LIST, [1.0, -math.inf]),
    ("(inf,inf)", ParameterType.STRING_LIST, ["inf", "inf"]),
    ("(a,b)", ParameterType.STRING_LIST, ["a", "b"]),
    ("(1.0+2.0j,1.0+-1.0j)", ParameterType.COMPLEX_LIST, [1 + 2j, 1 - 1j]),
]

BAD_VALUES = [
    ("(1,2", "a list that ends with ')'"),
    ("(", "a list that ends with ')'"),
    ("[1,2)", "a list that ends with ']'"),
    ("(1,2]", "a list that ends with ')'"),
    ("(1,2)x", "a list that ends with ')'"),
    ("(1,)", "a list of numbers or of words"),
    ("(,)", "a list of numbers or of words"),
    ("((1,2),(3,4))", "a list of numbers or of words"),
    ("(((((((((", "a list that ends with ')'"),
    ("(1,a)", "a list whose items are of one type"),
    ("(1,2.5)", "a list whose items are of one type"),
    ("(1.5,a)", "a list whose items are of one type"),
    ("(1,inf)", "a list whose items are of one type"),
    ("(1,2x)", "an integer of 64 bits"),
    ("2x", "an integer of 64 bits"),
    ("1_000", "an integer of 64 bits"),
    ("0x10", "an integer of 64 bits"),
    ("9223372036854775808", "an integer of 64 bits"),
    ("-9223372036854775809", "an integer of 64 bits"),
    ("9" * 10_000, "an integer of 64 bits"),
    ("1٢", "an integer of 64 bits"),
    ("1.2.3", "a number of 64 bits"),
    ("1e", "a number of 64 bits"),
    ("1e5x", "a number of 64 bits"),
    ("1e999", "a number of 64 bits"),
    ("-1e999", "a number of 64 bits"),
    ("1." + "9" * 10_000 + "e400", "a number of 64 bits"),
    ("1j", "a complex number like 1.0+2.0j"),
    ("12j", "a complex number like 1.0+2.0j"),
    ("1.0+e2j", "a complex number like 1.0+2.0j"),
]


@pytest.mark.parametrize(("text", "kind", "value"), VALUES)
def test_parse_value_follows_the_rules(text: str, kind: ParameterType, value: object) -> None:
    param = parse_value(text, "here")
    assert (param.type, param.value, param.text) == (kind, value, text)
    assert type(param.value) is type(value)


@pytest.mark.parametrize(("text", "expected"), BAD_VALUES, ids=[text[:20] for text, _ in BAD_VALUES])
def test_parse_value_refuses(text: str, expected: str) -> None:
    with pytest.raises(ModelFormatError) as caught:
        parse_value(text, "m.param:7")
    assert str(caught.value).startswith(f"m.param:7: expected {expected}, got ")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["[@0,2]", "2", "add(@0,2x)", "None", "[[@0,@1],1]", "((("])
def test_parse_value_leaves_an_expression_alone(text: str) -> None:
    param = parse_value(text, "here", as_text=True)
    assert (param.type, param.value, param.text) == (ParameterType.STRING, text, text)
    assert spell_value(param, "here", as_text=True) == text


@pytest.mark.parametrize("text", [text for text, _, _ in VALUES])
def test_spell_value_keeps_the_text_it_was_read_from(text: str) -> None:
    assert spell_value(parse_value(text, "here"), "here") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (False, "False"),
        (-3, "-3"),
        (0.1, "0.1"),
        (1e-5, "1e-05"),
        (1e22, "1e+22"),
        (1 - 2j, "1.0+-2.0j"),
        ("zeros", "zeros"),
        ("a b", "a b"),
        ([1, 2], "(1,2)"),
        ([0.5], "(0.5)"),
        (["i", "j"], "(i,j)"),
    ],
)
def test_spell_value_of_a_new_parameter_reads_back(value: object, text: str) -> None:
    assert spell_value(Parameter(ParameterType.OTHER, value), "here") == text
    assert repr(parse_value(text, "here").value) == repr(value)


def test_spell_value_drops_a_text_that_no_longer_means_the_value() -> None:
    param = parse_value("(2,2)", "here")
    param.value = [3, 3]
    assert spell_value(param, "here") == "(3,3)"


@pytest.mark.parametrize(
    "value", ["3d", "None", "(1", "a  b", "a b=c", "a @b", "a ", "a\nb", [], [1, 2.5], [[1]], math.inf]
)
def test_spell_value_refuses_what_would_read_back_as_something_else(value: object) -> None:
    with pytest.raises(ModelFormatError, match="here: expected a value that the format can spell"):
        spell_value(Parameter(ParameterType.OTHER, value), "here")


@pytest.mark.parametrize("kind", [kind for kind in DataType if kind <= DataType.BF16])
def test_typed_shape_round_trips_for_every_type(kind: DataType) -> None:
    for shape in [(), (1,), (2, 0, 3), (None, 4), (1, "width", None)]:
        text = spell_typed_shape(shape, kind)
        assert parse_typed_shape(text, "here") == (shape, kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a shape and a type like (1,64)f32"),
        ("f32", "a shape and a type like (1,64)f32"),
        ("1,2)f32", "a shape and a type like (1,64)f32"),
        ("(1,2f32", "a shape and a type like (1,64)f32"),
        ("(1,2)", "one of the types null f32 f64 f16 i32 i64 i16 i8 u8 bool c64 c128 c32 bf16"),
        ("(1,2)f33", "one of the types"),
        ("(1,2)F32", "one of the types"),
        ("(1,,2)f32", "a size from 0 to 2147483647"),
        ("(1,2,)f32", "a size from 0 to 2147483647"),
        ("(-1)f32", "a size from 0 to 2147483647"),
        ("(2147483648)f32", "a size from 0 to 2147483647"),
        ("(" + "1" * 5000 + ")f32", "a size from 0 to 2147483647"),
        ("(1.5)f32", "a size from 0 to 2147483647"),
        ("(%)f32", "a size from 0 to 2147483647"),
        ("((1))f32", "a size from 0 to 2147483647"),
    ],
)
def test_parse_typed_shape_refuses(text: str, expected: str) -> None:
    with pytest.raises(ModelFormatError) as caught:
        parse_typed_shape(text, "m.param:7")
    assert str(caught.value).startswith(f"m.param:7: expected {expected}")


def test_byte_count_multiplies_without_overflow() -> None:
    assert byte_count(DataType.F64, (2**31 - 1,) * 4) == 8 * (2**31 - 1) ** 4
    assert byte_count(DataType.C32, (3,)) == 12
    assert byte_count(DataType.F32, (0, 4)) == 0
    assert byte_count(DataType.F32, ()) == 4
    assert byte_count(DataType.NULL, (5,)) == 0


def test_numpy_layout_gives_a_complex_half_an_axis_of_two() -> None:
    dtype, shape = numpy_layout(DataType.C32, (3, 5))
    assert (dtype.name, shape) == ("float16", (3, 5, 2))
