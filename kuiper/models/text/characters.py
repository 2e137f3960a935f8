"""A vocabulary of characters, as a model card lists it.

    {"task": "generate", "vocabulary": ["<end>", "<5x4>", "<7x4>", "a", "b", ...],
     "end": "<end>", "prefix": [["<5x4>", "<7x4>"]]}

``vocabulary`` names each token: one character, or a name in angle brackets, which a prompt may spell too. ``end``, if
there is one, ends a text. ``prefix`` lists what every text begins with: one token of its first list, then one of its
second, and so on; what a prompt leaves out of it is drawn. A vocabulary has at most MAX_TOKENS tokens.
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.text.protocols import Spelling

if TYPE_CHECKING:
    from pathlib import Path

MAX_TOKENS = 1 << 16
LONGEST_NAME = 64
"""Characters of a token's name."""

_NAME = re.compile(r"<[^<>\n]+>")
_SHOWN = 8  # unknown characters that an error names


@dataclass(frozen=True)
class Characters:
    """Tokens by their names: token i is ``names[i]``.

    >>> characters = Characters(("<end>", "a", "b"), frozenset({0}))
    >>> characters.encode("abba")
    [1, 2, 2, 1]
    """

    names: tuple[str, ...]
    ends: frozenset[int] = frozenset()
    prefix: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of_card(cls, card: dict[str, Any], where: str) -> Characters:
        """The vocabulary of a model card; ``where`` is the file that errors name.

        Raises
        ------
        ModelFormatError
            If the card lacks an entry or has one that cannot be.
        """
        names = _names(where, card.get("vocabulary"))
        index = {name: i for i, name in enumerate(names)}

        def known(key: str, value: Any) -> int:
            if not isinstance(value, str) or value not in index:
                raise ModelFormatError(where, f"'{key}': names of the vocabulary", reprlib.repr(value))
            return index[value]

        end, prefix = card.get("end"), card.get("prefix", [])
        if not isinstance(prefix, list) or not all(isinstance(part, list) and part for part in prefix):
            raise ModelFormatError(where, "'prefix': a list of lists of names", reprlib.repr(prefix))
        ends = frozenset() if end is None else frozenset({known("end", end)})
        return cls(names, ends, tuple(tuple(known("prefix", name) for name in part) for part in prefix))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """What each token adds to a text.

        >>> Characters(("<end>", "é")).spellings[1]
        Spelling(written=b'\\xc3\\xa9', is_text=True)
        """
        return tuple(Spelling(name.encode("utf-8", "surrogatepass"), len(name) == 1) for name in self.names)

    def encode(self, text: str, *, is_complete: bool = False) -> list[int]:
        """The token of each character; ``<name>`` is one token if the vocabulary has it.

        >>> Characters(("<5x4>", "山", "<")).encode("<5x4>山<")
        [0, 1, 2]

        Raises
        ------
        ParameterError
            If the vocabulary lacks a character.
        """
        words: list[str] = []
        at = 0
        for match in _NAME.finditer(text):
            if match.group() in self._index:
                words += [*text[at : match.start()], match.group()]
                at = match.end()
        words += text[at:]
        unknown = list(dict.fromkeys(word for word in words if word not in self._index))
        if unknown:
            shown = " ".join(map(repr, unknown[:_SHOWN])) + (" ..." if len(unknown) > _SHOWN else "")
            raise ParameterError("prompt", "characters that the model has learned", shown)
        return [self._index[word] for word in words]

    def decoder(self) -> CharacterDecoder:
        """A decoder, which shows no names in angle brackets."""
        return CharacterDecoder(self.names)


@dataclass(frozen=True)
class CharacterDecoder:
    """From tokens to characters; each is complete at once."""

    names: tuple[str, ...]

    def piece(self, token: int) -> str:
        """The character of a token; nothing for a name in angle brackets.

        >>> decoder = CharacterDecoder(("<end>", "a"))
        >>> decoder.piece(1), decoder.piece(0)
        ('a', '')
        """
        name = self.names[token]
        return name if len(name) == 1 else ""

    def rest(self) -> str:
        """Nothing."""
        return ""


def read_card(path: Path) -> dict[str, Any]:
    """The card of a language model.

    Raises
    ------
    ModelFormatError
        If the file cannot be read, is no JSON, or is the card of another kind of model.
    """
    content = read_json(path, ModelFormatError, "a model card in JSON")
    if not isinstance(content, dict) or content.get("task") != "generate":
        got = reprlib.repr(content.get("task")) if isinstance(content, dict) else f"a {type(content).__name__}"
        raise ModelFormatError(str(path), "a model card with the task 'generate'", got)
    return content


def _names(where: str, names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not 0 < len(names) <= MAX_TOKENS:
        expected = f"'vocabulary': a list of 1 to {MAX_TOKENS} names"
        raise ModelFormatError(where, expected, len(names) if isinstance(names, list) else reprlib.repr(names))
    for name in names:
        is_name = isinstance(name, str) and (len(name) == 1 or _NAME.fullmatch(name)) and len(name) <= LONGEST_NAME
        if not is_name:
            raise ModelFormatError(where, "'vocabulary': characters, or names such as <end>", reprlib.repr(name))
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ModelFormatError(where, "'vocabulary': each name once", f"{twice!r} twice")
    return tuple(names)
