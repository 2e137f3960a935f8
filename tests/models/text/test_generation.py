"""What is read, what is shown and where a generation ends, with models whose text is known in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.errors import ParameterError
from kuiper.models.text.characters import Characters
from kuiper.models.text.generation import Generation, Reading, StopStrings
from kuiper.models.text.sampling import Sampler
from tests.models.text.fakes import FakeModel, counting, reciting

if TYPE_CHECKING:
    from collections.abc import Sequence

GREEDY = Sampler(temperature=0)


def generation(model: FakeModel, prompt: str, max_tokens: int = 50, stop: Sequence[str] = ()) -> Generation:
    return Generation(model, model.vocabulary.encode(prompt), GREEDY, max_tokens=max_tokens, stop=stop)


def test_generation_reads_the_prompt_at_once_and_then_one_token_at_a_time() -> None:
    model = counting(64)
    made = generation(model, "345", max_tokens=4)
    assert list(made) == ["6", "7", "8", "9"]
    assert model.reads == [[3, 4], [5], [6], [7], [8]]  # nobody asks what follows upon the last token
    assert model.lengths == [7]
    assert (made.account.prompt_tokens, made.account.tokens, made.account.end) == (3, 4, "length")


def test_generation_ends_where_the_model_ends_its_text() -> None:
    made = generation(reciting("to be or not"), "t")
    assert "".join(made) == "to be or not"
    assert made.account.end == "token"
    assert made.account.tokens == len("to be or not") + 1


def test_generation_shows_a_token_before_it_reads_it() -> None:
    model = counting(64)
    pieces = iter(generation(model, "3"))
    assert next(pieces) == "4"
    assert model.reads == [[3]]


@pytest.mark.parametrize(("stop", "text"), [(["or"], "to be "), (["not", "be o"], "to "), (["x"], "to be or not")])
def test_generation_ends_in_front_of_a_stop_string(stop: list[str], text: str) -> None:
    made = generation(reciting("to be or not"), "t", stop=stop)
    assert "".join(made) == text
    assert made.account.end == ("token" if stop == ["x"] else "stop")


def test_generation_shows_at_the_end_what_could_have_become_a_stop_string() -> None:
    assert "".join(generation(counting(64), "0", max_tokens=4, stop=["4567"])) == "1234"


def test_generation_goes_on_when_the_context_is_full() -> None:
    model = counting(8)
    made = generation(model, "0", max_tokens=30)
    assert "".join(made) == "123456789012345678901234567890"
    assert max(map(len, model.reads)) == 3  # and one more: half of the context is read anew, for every four tokens
    assert model.lengths == [8]


def verse(context: int = 64) -> FakeModel:
    """A model whose texts begin with a form and a rhyme; it wants the rhyme of its form, then a letter."""
    names = ("<end>", "<f>", "<g>", "<r>", "<s>", "x", "y", "z")
    after = {1: 3, 2: 4, 3: 5, 4: 6, 5: 7, 6: 7, 7: 0}
    return FakeModel(Characters(names, frozenset({0}), ((1, 2), (3, 4))), lambda read: after[read[-1]], context)


@pytest.mark.parametrize(
    ("prompt", "reads", "text"),
    [
        ("", [[1], [3], [5], [7]], "xz"),
        ("<g>", [[2], [4], [6], [7]], "yz"),
        ("<g><r>", [[2], [3], [5], [7]], "xz"),
        ("<s>y", [[1], [4], [6], [7]], "z"),
        ("y", [[1], [3], [6], [7]], "z"),
    ],
)
def test_generation_draws_what_a_prompt_leaves_out_of_the_prefix(prompt: str, reads: list[Any], text: str) -> None:
    model = verse()
    assert "".join(generation(model, prompt)) == text
    assert model.reads == reads


def test_generation_draws_the_prefix_from_its_own_tokens_only() -> None:
    model = verse()
    first = set()
    for seed in range(40):
        made = Generation(model, [], Sampler(temperature=30.0, seed=seed), max_tokens=1)
        model.reads.clear()
        list(made)
        first.add(tuple(token for read in model.reads for token in read))
    assert first == {(1, 3), (1, 4), (2, 3), (2, 4)}


def test_generation_draws_no_token_of_the_prefix_behind_it() -> None:
    names = ("<f>", "<g>", "a")
    model = FakeModel(Characters(names, prefix=((0, 1),)), lambda read: 1)  # it always wants <g>
    assert "".join(generation(model, "", max_tokens=3)) == "aaa"


def test_generation_keeps_the_prefix_when_the_context_is_full() -> None:
    names = ("<f>", "a", "b")
    model = FakeModel(Characters(names, prefix=((0,),)), lambda read: 3 - read[-1] if read[-1] else 1, 6)
    assert "".join(generation(model, "", max_tokens=12)) == "ab" * 6
    assert [read for read in model.reads if 0 in read] == [[0]]  # it never left the memory
    assert len(model.reads) > 12  # some of the text was read anew


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=5))
def test_reading_reads_only_what_is_new(texts: list[list[int]]) -> None:
    model = FakeModel(Characters(("a", "b", "c")), lambda read: len(read) % 3)
    reading = Reading(model, 16)
    for text in texts:
        before = list(reading.tokens)
        rest = reading.back_to(text)
        assert rest
        assert reading.tokens + rest == text
        assert len(rest) == 1 or before[: len(reading.tokens) + 1] != text[: len(reading.tokens) + 1]
        assert reading.read(rest).argmax() == len(text) % 3
        assert reading.tokens == text


def test_generation_goes_on_where_a_reading_is() -> None:
    model = counting(32)
    reading = Reading(model, 32)
    first = "".join(Generation(model, [1, 2], GREEDY, max_tokens=3, reading=reading))
    model.reads.clear()
    second = Generation(model, [1, 2, 3, 4, 5, 9], GREEDY, max_tokens=2, reading=reading)
    assert (first, "".join(second)) == ("345", "01")
    assert model.reads == [[5], [9], [0]]  # 1 2 3 4 are there already
    assert model.lengths == [32]


def test_account_counts_no_time_between_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("kuiper.models.text.generation.perf_counter", lambda: next(clock))
    made = generation(counting(64), "0", max_tokens=5)
    for _ in made:
        next(clock)  # what the reader of the text does takes a second
    assert made.account.prompt_seconds == 1
    assert made.account.seconds == 9  # five times drawing, four times reading
    assert made.account.tokens_per_second == pytest.approx(4 / 9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tokens": 0}, "max_tokens: expected a number of at least 1, got 0"),
        ({"stop": ["a", ""]}, "stop: expected text that ends the generation, got an empty string"),
        ({"prompt": ""}, "prompt: expected at least one token to begin with, got none"),
        ({"prompt": "01234567"}, "prompt: expected fewer than 8 tokens, which is the context's length, got 8"),
    ],
)
def test_generation_says_what_it_cannot_do(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        generation(counting(8), **{"prompt": "0", **settings})
    assert str(caught.value) == message


@given(st.text("abc", max_size=30), st.lists(st.text("abc", min_size=1, max_size=4), max_size=3), st.data())
def test_stop_strings_end_any_division_of_a_text_at_the_same_place(text: str, strings: list[str], data: Any) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    stop, shown = StopStrings(strings), ""
    for i, piece in enumerate(pieces):
        shown += stop.passed(piece, is_last=i == len(pieces) - 1)
        if stop.found:
            break
    ends = [text.find(string) + len(string) for string in strings if string in text]
    if not ends:
        assert (shown, stop.found) == (text, "")
    else:
        assert text.startswith(shown + stop.found)
        assert not any(string in shown for string in strings)


def test_scores_may_have_any_leading_axes() -> None:
    class Bare:
        """A session that returns only the scores of the last position."""

        def rewind(self, length: int) -> None:
            assert length == 0

        def __call__(self, tokens: Any) -> Any:
            return np.array([0.0, 1.0, 0.0], np.float32)

    model = FakeModel(Characters(("a", "b", "c")), lambda read: 0)
    model.start = lambda max_length: Bare()  # type: ignore[method-assign, assignment, return-value]
    assert "".join(generation(model, "a", max_tokens=3)) == "bbb"
