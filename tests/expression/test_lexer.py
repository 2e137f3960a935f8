from __future__ import annotations

import math

import pytest

from kuiper import ExpressionError
from kuiper.expression import Token, TokenType, tokenize


def texts(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def test_tokenize_gives_type_text_and_position() -> None:
    assert tokenize("add(@0, 2.5)") == [
        Token(TokenType.WORD, "add", 0),
        Token(TokenType.OPEN, "(", 3),
        Token(TokenType.INPUT, "@0", 4),
        Token(TokenType.COMMA, ",", 6),
        Token(TokenType.NUMBER, "2.5", 8),
        Token(TokenType.CLOSE, ")", 11),
    ]


def test_tokenize_of_an_equation_is_one_word() -> None:
    assert tokenize("ij,jk->ik") == [Token(TokenType.WORD, "ij,jk->ik", 0)]


def test_tokenize_finds_sin() -> None:
    assert texts("sin(mul(@0,@1))") == ["sin", "(", "mul", "(", "@0", ",", "@1", ")", ")"]


def test_tokenize_keeps_lists_and_dotted_words() -> None:
    assert texts("[int(torch.int),8]") == ["[", "int", "(", "torch.int", ")", ",", "8", "]"]
    assert texts("cuda:0") == ["cuda:0"]


def test_tokenize_of_nothing_is_empty() -> None:
    assert tokenize("") == [] == tokenize("  ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("2.0", 2.0),
        ("2.", 2.0),
        (".5", 0.5),
        ("-0.5", -0.5),
        ("1.000000e-12", 1e-12),
        ("1E+3", 1000.0),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("2j", 2j),
        ("0.000000e+00+2.000000e+00j", 2j),
        ("-1.5-2j", -1.5 - 2j),
        ("1.000000e+00+-2.000000e+00j", 1 - 2j),
        ("True", True),
        ("False", False),
        ("None", None),
        ("ij", "ij"),
        ("info", "info"),
        ("nano", "nano"),
        ("@17", 17),
    ],
)
def test_token_value_is_a_python_value(text: str, value: object) -> None:
    (token,) = tokenize(text)
    assert token.value == value
    assert type(token.value) is type(value)


@pytest.mark.parametrize("text", ["nan", "nan.0", "-nan"])
def test_token_value_of_nan_in_all_spellings(text: str) -> None:
    (token,) = tokenize(text)
    assert isinstance(token.value, float)
    assert math.isnan(token.value)


@pytest.mark.parametrize(
    ("text", "position"),
    [("add(@0;@1)", 6), ("2x", 0), ("@", 0), ("@a", 0), ("-", 0), ("add(@0,--1)", 7), ("@1234567890", 0), ("1.2.3", 0)],
)
def test_tokenize_points_at_what_starts_no_token(text: str, position: int) -> None:
    with pytest.raises(ExpressionError) as error:
        tokenize(text, "somewhere")
    first, shown, caret = str(error.value).splitlines()
    assert first.startswith("somewhere: expected an input such as @0, a number, a word, ',' or a bracket, got")
    assert (shown, caret) == ("    " + text, "    " + " " * position + "^")


def test_tokenize_is_quick_with_long_digits() -> None:
    with pytest.raises(ExpressionError):
        tokenize("1" * 100_000 + "x")
    with pytest.raises(ExpressionError):
        tokenize("1" * 100_000)
    (token,) = tokenize("1" * 100_000 + ".0")
    assert token.value == math.inf


def test_tokenize_reads_whole_numbers_of_up_to_4000_digits() -> None:
    (token,) = tokenize("0" * 3999 + "7")
    assert token.value == 7
    with pytest.raises(ExpressionError):
        tokenize("0" * 4000 + "7")


def test_a_long_text_is_shown_around_the_place() -> None:
    text = "add(" * 50 + "?" + ")" * 50
    with pytest.raises(ExpressionError) as error:
        tokenize(text)
    _, shown, caret = str(error.value).splitlines()
    assert shown[caret.index("^")] == "?"
    assert shown.strip().startswith("...")
    assert shown.endswith("...")
    assert len(shown) < 90


@pytest.mark.parametrize("number", ["9223372036854775808", "-9223372036854775809", "1" * 5000])
def test_tokenize_refuses_whole_numbers_beyond_64_bits(number: str) -> None:
    with pytest.raises(ExpressionError, match=r"expected an integer of 64 bits, got '"):
        tokenize(f"add(@0,{number})")
    assert tokenize("-9223372036854775808")[0].value == -(2**63)
