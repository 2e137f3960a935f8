"""Answers that hold to a JSON schema: in front of each token, those behind which no such answer can stand are left out.

    schema --> grammar --> of all tokens, those that may come next --> one is drawn --> the grammar goes on

The package ``llguidance`` reads the schema and makes the masks. A grammar moves only with tokens that were really
drawn, so guesses of tokens cost it nothing. JSON is written as Python's ``json.dumps`` does, in one line: white space
without end would be valid, too.
"""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from math import inf, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ConstraintError, KuiperError
from kuiper.models.text.extra import package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kuiper.models.text.protocols import Vocabulary
    from kuiper.serving.drawing import Scores

LARGEST_SCHEMA = 1 << 15
"""Characters."""
LARGEST_MULTIPLE = 10_000
"""Of all ``multipleOf``: a grammar has so many states for them, of 50 us each."""

_WHERE = "response_format"
_STYLE = {  # all of them: the package's own keyword "x-guidance" in a schema could ask for others
    "whitespace_flexible": False,
    "whitespace_pattern": None,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": False,
    "lenient": False,
}
_LONGEST_REASON = 300
_SPELLED = "a schema that the model's tokens can follow"


class JsonAnswers:
    """Makes the grammars of one vocabulary. Any thread may use it.

    Parameters
    ----------
    vocabulary : of the model

    Raises
    ------
    ImportError
        If the package ``llguidance`` is not installed.
    ModelFormatError
        If the bytes of the vocabulary's tokens cannot be known.

    Examples
    --------
    >>> from kuiper.models.text.characters import Characters
    >>> answers = JsonAnswers(Characters(("<end>", "t", "r", "u", "e", "n", "l"), frozenset({0})))
    >>> answer = answers.grammar({"enum": [True, None]})
    >>> scores = np.zeros(7)
    >>> answer.forbid(scores)
    >>> scores.tolist()
    [-inf, 0.0, -inf, -inf, -inf, 0.0, -inf]
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._library = package("llguidance", "response_format")
        self._spellings = vocabulary.spellings
        self._ends = frozenset(vocabulary.ends)
        tokens = _Tokens(vocabulary)
        self._tokenizer = tokens.tokenizer = self._library.LLTokenizer(tokens)
        self._limits = self._library.LLParserLimits(verbose_errors=False)

    def grammar(self, schema: dict[str, Any]) -> JsonAnswer:
        """What holds an answer to a schema.

        Raises
        ------
        ConstraintError
            If it is no schema, is too large, uses what is not known, or no answer can hold to it with these tokens.
        """
        text = _text(schema)
        matcher = _guarded(lambda: self._matcher(text))
        if matcher.is_error():
            expected = "a JSON schema that answers can hold to"
            raise ConstraintError(_WHERE, expected, _reason(matcher.get_error()))
        answer = JsonAnswer(matcher, len(self._spellings), self._ends)
        answer.forbid(np.zeros(len(self._spellings)))
        return answer

    def _matcher(self, text: str) -> Any:
        matchers = self._library.LLMatcher
        grammar = matchers.grammar_from_json_schema(text, overrides=_STYLE)
        return matchers(self._tokenizer, grammar, log_level=0, limits=self._limits)


class JsonAnswer:
    """The grammar of one answer, on its way through it; a ``Constraint``.

    Parameters
    ----------
    matcher : llguidance's
    size : of the vocabulary
    ends : the tokens that end a text
    """

    def __init__(self, matcher: Any, size: int, ends: frozenset[int]) -> None:
        self._matcher, self._size, self._ends = matcher, size, ends

    def copy(self) -> JsonAnswer:
        """Another one that stands at the same place."""
        return JsonAnswer(self._matcher.deep_copy(), self._size, self._ends)

    @property
    def is_complete(self) -> bool:
        """Whether nothing can come behind it; where no token ends a text, whether it holds to the schema as it is."""
        return bool(self._matcher.is_stopped() or (not self._ends and self._matcher.is_accepting()))

    def forbid(self, scores: Scores) -> None:
        """See ``Constraint``. A token that ends the text is left where the answer is whole."""
        bits = np.frombuffer(_guarded(self._matcher.compute_bitmask), np.uint8)
        self._check()
        may_come = np.zeros(len(scores), bool)
        known = min(self._size, len(scores))
        may_come[:known] = np.unpackbits(bits, count=known, bitorder="little")
        may_come[[end for end in self._ends if end < len(scores)]] = self._matcher.is_accepting()
        if not may_come.any():
            raise ConstraintError(_WHERE, _SPELLED, "one that lets none of them come")
        scores[~may_come] = -np.inf

    def take(self, token: int) -> None:
        """See ``Constraint``."""
        if token not in self._ends:
            _guarded(lambda: self._matcher.consume_token(token))
            self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise ConstraintError(_WHERE, _SPELLED, _reason(self._matcher.get_error()))


class _Tokens:
    """A vocabulary as llguidance takes it."""

    is_tokenizer_wrapper = True
    bos_token_id = None
    eos_token_id = None  # then it has one of its own, behind all others

    def __init__(self, vocabulary: Vocabulary) -> None:
        spellings = vocabulary.spellings
        self.tokens = [spelling.written for spelling in spellings]
        self.special_token_ids = [token for token, spelling in enumerate(spellings) if not spelling.is_text]
        self.tokenizer: Any = None
        self._vocabulary = vocabulary

    def __call__(self, text: str) -> list[int]:
        """How a text that has to come is spelled: as the model has learned it, or by the longest tokens that fit."""
        spellings = self._vocabulary.spellings
        with suppress(KuiperError):  # characters that it lacks: the error is told where nothing can come
            tokens = self._vocabulary.encode(text, is_complete=True)
            found = [spellings[token] for token in tokens if token < len(spellings)]
            if b"".join(one.written for one in found if one.is_text) == text.encode():
                return tokens
        longest: list[int] = self.tokenizer.greedy_tokenize(text)
        return longest


def _text(schema: dict[str, Any]) -> str:
    """A schema as the package takes it, if it is not too large."""
    try:
        text = json.dumps(schema)
    except RecursionError as error:
        raise ConstraintError(_WHERE, "a schema that is not nested so deeply", "a deeper one") from error
    if len(text) > LARGEST_SCHEMA:
        raise ConstraintError(_WHERE, f"a schema of at most {LARGEST_SCHEMA} characters", len(text))
    if common_multiple(schema) > LARGEST_MULTIPLE:
        expected = f"multipleOf with a common multiple of at most {LARGEST_MULTIPLE} of their last digits"
        raise ConstraintError(_WHERE, f"a schema of {expected}", "a larger one")
    return text


def common_multiple(schema: object) -> int:
    """That of all ``multipleOf``, wherever they stand, each in units of the smallest decimal place of them all.

    >>> common_multiple({"items": [{"multipleOf": 0.25}, {"multipleOf": 3}]})
    300
    """
    values = [*_multiples(schema)]
    unit = min((place for value in values if isinstance(place := value.as_tuple().exponent, int)), default=0)
    return lcm(*(int(value.scaleb(-min(0, unit))) for value in values))


def _multiples(schema: object) -> Iterator[Decimal]:
    """Each ``multipleOf``, wherever it stands."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        value: Any = part.get("multipleOf") if isinstance(part, dict) else None
        if type(value) in (int, float):
            if not 0 < value < inf:  # JSON's 1e999 is infinite here
                raise ConstraintError(_WHERE, "a multipleOf above 0, and finite", value)
            yield Decimal(repr(value)).normalize()
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _guarded(work: Callable[[], Any]) -> Any:
    """What the package returns; a mistake of its own in Rust is not even an ``Exception``."""
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except Exception as error:
        raise ConstraintError(_WHERE, "a JSON schema that answers can hold to", _reason(str(error))) from error
    except BaseException as error:
        raise ConstraintError(_WHERE, "a JSON schema that answers can hold to", _reason("panic")) from error


def _reason(words: str) -> str:
    """The first line of what the package says; of a mistake of its own, which has places in files, not even that."""
    if words.startswith("panic"):
        return "a mistake in llguidance"
    return (words.strip().splitlines() or ["an error"])[0][:_LONGEST_REASON]
