"""Exercise 4.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.course import calling
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
