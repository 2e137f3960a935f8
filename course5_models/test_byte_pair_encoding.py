"""Exercise 5.10."""

from __future__ import annotations

import re

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

A, B, C, D = b"abcd"  # 97, 98, 99, 100
AAAB = [(A, A), (A, B), (256, 257)]  # what is learned from aaabdaaabac
FEW = st.lists(st.integers(0, 2), max_size=12)  # few different tokens, so that pairs repeat

OF_ACCENTS = [(195, 169), (A, 256), (257, 257)]  # é is the bytes 195 and 169
VERSE = "row, row, row your boat, gently down the stream, merrily, merrily, merrily, merrily, 人生若夢, 人生若夢 éé"


def test_pair_counts(impl):
    calling(impl.pair_counts, [1, 2, 1, 2]).gives({(1, 2): 2, (2, 1): 1})


def test_pair_counts_of_equal_tokens(impl):
    calling(impl.pair_counts, [7, 7, 7]).gives({(7, 7): 2})
    calling(impl.pair_counts, [7, 7, 7, 7]).gives({(7, 7): 3})


def test_pair_counts_of_the_example(impl):
    wanted = {(A, A): 4, (A, B): 2, (B, D): 1, (D, A): 1, (B, A): 1, (A, C): 1}
    calling(impl.pair_counts, list(b"aaabdaaabac")).gives(wanted)


def test_pair_counts_of_one_pair(impl):
    calling(impl.pair_counts, [300, 5]).gives({(300, 5): 1})


@pytest.mark.parametrize("tokens", [[], [5]])
def test_pair_counts_of_no_pair(impl, tokens):
    calling(impl.pair_counts, tokens).gives({})


def test_merge(impl):
    calling(impl.merge, [1, 2, 3, 1, 2], (1, 2), 9).gives([9, 3, 9])


def test_merge_at_the_end(impl):
    calling(impl.merge, [3, 4, 1, 2], (1, 2), 9).gives([3, 4, 9])


def test_merge_keeps_what_is_behind(impl):
    calling(impl.merge, [1, 2, 3, 4], (1, 2), 9).gives([9, 3, 4])


def test_merge_of_half_a_pair(impl):
    calling(impl.merge, [1, 3, 2, 2, 1], (1, 2), 9).gives([1, 3, 2, 2, 1])


def test_merge_from_the_left(impl):
    calling(impl.merge, [7, 7, 7], (7, 7), 9).gives([9, 7])
    calling(impl.merge, [7, 7, 7, 7, 5], (7, 7), 9).gives([9, 9, 5])


def test_merge_of_the_other_order(impl):
    calling(impl.merge, [2, 1, 2, 1], (1, 2), 9).gives([2, 9, 1])


def test_merge_at_an_odd_place(impl):
    calling(impl.merge, [5, 1, 2, 6], (1, 2), 9).gives([5, 9, 6])


def test_merge_with_a_new_token_of_the_pair(impl):
    calling(impl.merge, [1, 1, 1, 1], (1, 1), 1).gives([1, 1])


@pytest.mark.parametrize("tokens", [[], [1], [2]])
def test_merge_of_no_pair(impl, tokens):
    calling(impl.merge, tokens, (1, 2), 9).gives(tokens)


def test_train(impl):
    calling(impl.train, "abcab", 1).gives([(A, B)])


def test_train_takes_the_smallest_of_equally_frequent_pairs(impl):
    calling(impl.train, "cdcdxyxyabab", 1).gives([(A, B)])
    calling(impl.train, "adadxababx", 1).gives([(A, B)])


def test_train_of_the_example(impl):
    calling(impl.train, "aaabdaaabac", 3).gives(AAAB)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_train_no_more_than_asked_for(impl, count):
    calling(impl.train, "aaabdaaabac", count).gives(AAAB[:count])


def test_train_stops_when_no_pair_stands_twice(impl):
    calling(impl.train, "aaabdaaabac", 100).gives(AAAB)
    calling(impl.train, "abcd", 5).gives([])


def test_train_counts_a_pair_of_equal_letters_twice_in_three(impl):
    calling(impl.train, "aaa", 5).gives([(A, A)])


@pytest.mark.parametrize("text", ["", "a"])
def test_train_of_no_pair(impl, text):
    calling(impl.train, text, 5).gives([])


def test_train_takes_the_most_frequent_pair_although_a_smaller_one_is_there(impl):
    calling(impl.train, "ababxcdcdcd", 1).gives([(C, D)])


def test_train_counts_again_after_each_merge(impl):
    """At first bc and ab stand three times each. When ab is a token, no b is left for bc."""
    calling(impl.train, "abcxabcyabc", 5).gives([(A, B), (256, C)])


def test_train_merges_a_merge_with_itself(impl):
    calling(impl.train, "abababababababab", 5).gives([(A, B), (256, 256), (257, 257)])


def test_train_of_letters_of_several_bytes(impl):
    calling(impl.train, "éxé", 5).gives([(195, 169)])
    calling(impl.train, "夢の夢", 5).gives([(164, 162), (229, 256)])


def test_train_keeps_blanks_and_capital_letters(impl):
    calling(impl.train, "Ab ab\nab Ab ", 2).gives([(ord("b"), ord(" ")), (ord("A"), 256)])


def test_encode(impl):
    calling(impl.encode, "abcab", [(A, B)]).gives([256, C, 256])


def test_encode_of_the_example(impl):
    calling(impl.encode, "aaabdaaabac", AAAB).gives([258, D, 258, A, C])


def test_encode_without_merges(impl):
    calling(impl.encode, "Hi é", []).gives([72, 105, 32, 195, 169])


def test_encode_of_another_text(impl):
    calling(impl.encode, "aabaaab", AAAB).gives([256, B, 258])


def test_encode_merges_first_what_was_learned_first(impl):
    """The first pair of the text from the left is ab, but bc was learned first."""
    calling(impl.encode, "abc", [(B, C), (A, B)]).gives([A, 256])
    calling(impl.encode, "abc", [(A, B), (B, C)]).gives([256, C])


def test_encode_merges_first_what_was_learned_first_and_not_what_is_frequent(impl):
    calling(impl.encode, "abcbcbc", [(A, B), (B, C)]).gives([256, C, 257, 257])


def test_encode_does_not_prefer_long_tokens(impl):
    """bcd would be a token, too, 258. But ab was learned first, and takes its b."""
    calling(impl.encode, "abcd", [(A, B), (C, D), (B, 257)]).gives([256, 257])


def test_encode_uses_each_merge_everywhere(impl):
    calling(impl.encode, "ababab", [(A, B), (256, 256)]).gives([257, 256])


def test_encode_skips_merges_that_do_not_fit(impl):
    calling(impl.encode, "cdb", [(A, B), (256, 256), (C, D)]).gives([258, B])


@pytest.mark.parametrize("text", ["", "a", "é"])
def test_encode_of_little(impl, text):
    calling(impl.encode, text, AAAB).gives(list(text.encode()))


def test_encode_letters_of_several_bytes(impl):
    calling(impl.encode, "aéaéé", OF_ACCENTS).gives([258, 256])
    calling(impl.encode, "😀", [(159, 152)]).gives([240, 256, 128])


def test_decode(impl):
    calling(impl.decode, [256, 257, 100], AAAB).gives("aaabd")


def test_decode_a_merge_of_merges(impl):
    calling(impl.decode, [258, D, 258, A, C], AAAB).gives("aaabdaaabac")


def test_decode_bytes(impl):
    calling(impl.decode, [72, 105, 0, 127], []).gives("Hi\0\x7f")


def test_decode_nothing(impl):
    calling(impl.decode, [], AAAB).gives("")


def test_decode_left_before_right(impl):
    calling(impl.decode, [256, 257], [(B, A), (C, 256)]).gives("bacba")


def test_decode_a_character_from_several_tokens(impl):
    calling(impl.decode, [195, 169], []).gives("é")
    calling(impl.decode, [240, 256, 128], [(159, 152)]).gives("😀")
    calling(impl.decode, [A, 229, 256], [(164, 162)]).gives("a夢")


def test_decode_half_a_character(impl):
    calling(impl.decode, [A, 195], []).gives("a\ufffd")
    calling(impl.decode, [169, A], []).gives("\ufffda")
    calling(impl.decode, [256, B], [(A, 195)]).gives("a\ufffdb")


@pytest.mark.parametrize("token", [259, 1000, -1, -256])
def test_decode_a_token_that_does_not_exist(impl, token):
    calling(impl.decode, [A, token, B], AAAB).raises(ValueError, str(token))


def test_decode_a_token_that_does_not_exist_without_merges(impl):
    calling(impl.decode, [256], []).raises(ValueError, "256")


def there_and_back(impl, text, other, count):
    merges = impl.train(other, count)
    return impl.decode(impl.encode(text, merges), merges)


def test_decode_what_was_encoded(impl):
    calling(there_and_back, impl, VERSE, VERSE, 40).gives(VERSE)


@given(tokens=FEW)
def test_pair_counts_as_a_search_finds_them(impl, tokens):
    text = "".join(map(str, tokens))
    found = {(a, b): len(re.findall(f"(?={a}{b})", text)) for a in range(3) for b in range(3)}
    calling(impl.pair_counts, tokens).gives({pair: times for pair, times in found.items() if times})


@given(tokens=FEW, pair=st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_merge_as_texts_are_replaced(impl, tokens, pair):
    text = "".join(map(str, tokens)).replace("{}{}".format(*pair), "9")
    calling(impl.merge, tokens, pair, 9).gives([int(digit) for digit in text])


def learned_pairs_left(impl, text, other, count):
    """What is left in the tokens of a text, although it was learned from another one."""
    merges = impl.train(other, count)
    tokens = impl.encode(text, merges)
    return [tokens[i : i + 2] for i in range(len(tokens) - 1) if tuple(tokens[i : i + 2]) in merges]


@given(text=st.text("abc", max_size=12), other=st.text("abc", max_size=30))
def test_encode_leaves_no_learned_pair(impl, text, other):
    calling(learned_pairs_left, impl, text, other, 8).gives([])


@given(text=st.text(max_size=20))
def test_decode_what_was_encoded_of_any_text(impl, text):
    calling(there_and_back, impl, text, VERSE, 12).gives(text)


@given(text=st.text("aé夢", max_size=20))
def test_decode_what_was_encoded_by_its_own_merges(impl, text):
    calling(there_and_back, impl, text, text, 8).gives(text)
