"""How likely the tokens of an answer were, in the two forms in which answers say it."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Protocol

from kuiper.models.text.protocols import Spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.serving.drawing import Chance

MOST = 20
"""Tokens that can be asked for beside each one."""

_LEAST = -9999.0  # JSON has no infinity
_UNKNOWN = Spelling(b"", is_text=False)  # a token of the model that its vocabulary lacks


class Logprobs(Protocol):
    """The tokens of one text, part by part."""

    def of(self, chances: Sequence[Chance], /) -> dict[str, Any]:
        """What an answer says of more of them."""


class CompletionLogprobs:
    """As completions have it: lists, and the place of each token in the text.

    >>> from kuiper.serving.drawing import Chance
    >>> logprobs = CompletionLogprobs([Spelling(b"a", True), Spelling(b"bc", True)])
    >>> logprobs.of([Chance(1, -0.5, [(1, -0.5)]), Chance(0, -2.0, [(1, -0.25)])])["text_offset"]
    [0, 2]
    """

    def __init__(self, spellings: Sequence[Spelling]) -> None:
        self._spellings = spellings
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._length = 0

    def of(self, chances: Sequence[Chance]) -> dict[str, Any]:
        """See ``Logprobs``."""
        places = []
        for chance in chances:
            places.append(self._length)
            self._length += len(self._decoder.decode(self._spelling(chance.token).written))
        return {
            "tokens": [self._text(chance.token) for chance in chances],
            "token_logprobs": [_finite(chance.logprob) for chance in chances],
            "top_logprobs": [
                {self._text(token): _finite(logprob) for token, logprob in [*chance.best, chance[:2]]}
                for chance in chances
            ],
            "text_offset": places,
        }

    def _spelling(self, token: int) -> Spelling:
        return self._spellings[token] if token < len(self._spellings) else _UNKNOWN

    def _text(self, token: int) -> str:
        return text_of(self._spelling(token))


class ChatLogprobs:
    """As chats have it: an object for each token.

    >>> from kuiper.serving.drawing import Chance
    >>> ChatLogprobs([Spelling(b"a", True)]).of([Chance(0, -0.5, [])])["content"]
    [{'token': 'a', 'logprob': -0.5, 'bytes': [97], 'top_logprobs': []}]
    """

    def __init__(self, spellings: Sequence[Spelling]) -> None:
        self._spellings = spellings

    def of(self, chances: Sequence[Chance]) -> dict[str, Any]:
        """See ``Logprobs``."""
        content = [
            {**self._said(token, logprob), "top_logprobs": [self._said(*one) for one in best]}
            for token, logprob, best in chances
        ]
        return {"content": content, "refusal": None}

    def _said(self, token: int, logprob: float) -> dict[str, Any]:
        spelling = self._spellings[token] if token < len(self._spellings) else _UNKNOWN
        own = list(spelling.written) if spelling.is_text else None
        return {"token": text_of(spelling), "logprob": _finite(logprob), "bytes": own}


def text_of(spelling: Spelling) -> str:
    """A token as text; one that is a part of a character is written as OpenAI's API does.

    >>> text_of(Spelling(b"\\xc3", True))
    'bytes:\\\\xc3'
    """
    try:
        return spelling.written.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in spelling.written)


def _finite(logprob: float) -> float:
    return max(logprob, _LEAST)
