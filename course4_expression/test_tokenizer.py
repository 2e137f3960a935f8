"""Exercise 4.1."""

from __future__ import annotations

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.expression import tokenize as reference

KINDS = {"INPUT": "input", "NUMBER": "number", "WORD": "word", "OPEN": "(", "CLOSE": ")", "COMMA": ","}
WORDS = ["add", "log10", "floor_divide", "torch.float", "_x", "e5", "E", "atan2", "Max"]
NUMBERS = ["0", "2", "12", "-0.5", "+3", "1e-05", "1.500000E+02", "7e3", "-10.25e-1"]
PIECES = st.sampled_from([*WORDS, *NUMBERS, "@0", "@9", "@12", "(", ")", ","])
BLANKS = st.sampled_from([" ", "  ", "\t", "\n "])


def test_one_input(impl):
    calling(impl.tokenize, "@0").gives([("input", "@0", 0)])


def test_a_call(impl):
    tokens = [("word", "neg", 0), ("(", "(", 3), ("input", "@1", 4), (")", ")", 6)]
    calling(impl.tokenize, "neg(@1)").gives(tokens)


def test_two_arguments(impl):
    tokens = [("word", "add", 0), ("(", "(", 3), ("input", "@0", 4), (",", ",", 6), ("number", "2", 7), (")", ")", 8)]
    calling(impl.tokenize, "add(@0,2)").gives(tokens)


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_one_token(impl, text):
    calling(impl.tokenize, text).gives([("number", text, 0)])


@pytest.mark.parametrize("text", WORDS)
def test_a_word_is_one_token(impl, text):
    calling(impl.tokenize, text).gives([("word", text, 0)])


def test_inputs_of_many_digits(impl):
    calling(impl.tokenize, "@12,@345").gives([("input", "@12", 0), (",", ",", 3), ("input", "@345", 4)])


def test_numbers_in_a_row(impl):
    tokens = [("number", "-1.5", 0), (",", ",", 4), ("number", "2e-3", 5), (",", ",", 9), ("number", "-7", 10)]
    calling(impl.tokenize, "-1.5,2e-3,-7").gives(tokens)


def test_tokens_that_touch(impl):
    calling(impl.tokenize, "@0-1+2").gives([("input", "@0", 0), ("number", "-1", 2), ("number", "+2", 4)])


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("2e", ["2", "e"]),
        ("2E", ["2", "E"]),
        ("2e,", ["2", "e", ","]),
        ("-1.5e)", ["-1.5", "e", ")"]),
        ("2e_1", ["2", "e_1"]),
        ("2ex5", ["2", "ex5"]),
        ("2ee5", ["2", "ee5"]),
        ("2e5e5", ["2e5", "e5"]),
        ("3x", ["3", "x"]),
        ("1e5x", ["1e5", "x"]),
        ("@0x", ["@0", "x"]),
        ("@0@1", ["@0", "@1"]),
        ("@12e3", ["@12", "e3"]),
        ("1-2", ["1", "-2"]),
        ("1e-2-3", ["1e-2", "-3"]),
        ("x-2", ["x", "-2"]),
        ("a.b.c9(", ["a.b.c9", "("]),
        ("a,b", ["a", ",", "b"]),
        ("add(add", ["add", "(", "add"]),
    ],
)
def test_where_a_token_ends(impl, text, texts):
    kinds = {"@": "input", "(": "(", ")": ")", ",": ","}
    kinds |= dict.fromkeys("+-0123456789", "number")
    places = [sum(map(len, texts[:i])) for i in range(len(texts))]
    calling(impl.tokenize, text).gives(
        [(kinds.get(piece[0], "word"), piece, place) for piece, place in zip(texts, places, strict=True)]
    )


def test_line_ends_of_windows_are_blanks(impl):
    calling(impl.tokenize, "neg(\r\n@0\r\n)").gives(
        [("word", "neg", 0), ("(", "(", 3), ("input", "@0", 6), (")", ")", 10)]
    )


def test_many_tokens(impl):
    pieces = ["add", "(", "@0", ",", "-1.5e-3", ")"] * 700
    places = [0]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    kinds = {"add": "word", "@0": "input", "-1.5e-3": "number"}
    expected = [(kinds.get(piece, piece), piece, place) for piece, place in zip(pieces, places, strict=False)]
    calling(impl.tokenize, "".join(pieces)).gives(expected)


def test_blanks_are_skipped_but_counted(impl):
    calling(impl.tokenize, "  neg\t( @0\n)  ").gives(
        [("word", "neg", 2), ("(", "(", 6), ("input", "@0", 8), (")", ")", 11)]
    )


def test_a_blank_ends_a_token(impl):
    calling(impl.tokenize, "ab c 1 2").gives(
        [("word", "ab", 0), ("word", "c", 3), ("number", "1", 5), ("number", "2", 7)]
    )


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing(impl, text):
    calling(impl.tokenize, text).gives([])


def test_brackets_need_not_match(impl):
    calling(impl.tokenize, ")(,").gives([(")", ")", 0), ("(", "(", 1), (",", ",", 2)])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("add(@0;2)", "';' at 6"),
        ("#", "'#' at 0"),
        ("add @,@1", "'@' at 4"),
        ("sub(- 2,1)", "'-' at 4"),
        ("@0+@1", "'+' at 2"),
        ("neg(@0) $ ;", "'$' at 8"),
        ("neg(@", "'@' at 4"),
        ("2,-", "'-' at 2"),
        ("--5", "'-' at 0"),
        ("2e-", "'-' at 2"),
        ("2e+x", "'+' at 2"),
        ("1.5E-,3", "'-' at 4"),
        ("2e--5", "'-' at 2"),
        ("@-1", "'@' at 0"),
        ("@ 1", "'@' at 0"),
        ("@x", "'@' at 0"),
        ("[@0]", "'[' at 0"),
        ("a:b", "':' at 1"),
        ("add*2", "'*' at 3"),
        ("neg(\u00e9)", "'\u00e9' at 4"),
        ("ad\u00e9(", "'\u00e9' at 2"),
        ("@\u0663", "'@' at 0"),
        ("2\u0663", "'\u0663' at 1"),
        ("x\u00b2", "'\u00b2' at 1"),
        ("neg(@0)\u2212", "'\u2212' at 7"),
    ],
)
def test_where_no_token_starts(impl, text, words):
    calling(impl.tokenize, text).raises(ValueError, words)


@given(parts=st.lists(st.tuples(PIECES, BLANKS), max_size=12))
def test_as_the_engine_does(impl, parts):
    text = "".join(piece + blank for piece, blank in parts)
    calling(impl.tokenize, text).gives(
        [(KINDS[token.type.name], token.text, token.position) for token in reference(text)]
    )


@given(parts=st.lists(st.sampled_from(["(", ")", ",", "@0,", "add(", "-1e-5)", "@2)"]), max_size=12))
def test_as_the_engine_does_without_blanks(impl, parts):
    text = "".join(parts)
    calling(impl.tokenize, text).gives(
        [(KINDS[token.type.name], token.text, token.position) for token in reference(text)]
    )
