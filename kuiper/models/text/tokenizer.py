"""Hugging Face's ``tokenizer.json``, read by their package ``tokenizers``.

A file has at most MAX_FILE bytes, a prompt at most LONGEST_PROMPT characters. The package does to a text what the
file describes, replacements and regular expressions among it; for how long, and into how much memory, is bounded by
nothing but the prompt's length.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import Path, read_text
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.text.extra import package
from kuiper.models.text.protocols import Spelling
from kuiper.models.text.spelling import speller

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MAX_FILE = 64 * 2**20
LONGEST_PROMPT = 1 << 20

_UNFINISHED = "\ufffd"  # what stands for the bytes of a character that is not complete
_LONGEST_WINDOW = 16  # tokens that wait for the end of a character, which has four bytes at most


class Tokenizer:
    """Text to tokens and back, as a ``tokenizer.json`` says; a vocabulary for ``Generation``.

    Parameters
    ----------
    path : the file
    ends : the tokens that end a text

    Raises
    ------
    ModelFormatError
        If the file cannot be read, is too large, or is no tokenizer.
    ImportError
        If the package ``tokenizers`` is not installed.
    """

    def __init__(self, path: Path, ends: Collection[int] = ()) -> None:
        library = package("tokenizers", "tokenizer")
        self._where = os.fspath(path)
        text = read_text(path, ModelFormatError, "a tokenizer.json", most=MAX_FILE)
        self._tokenizer: Any = self._guarded(lambda: library.Tokenizer.from_str(text))
        self._guarded(self._tokenizer.no_padding)  # to a length that a file may choose
        self._guarded(self._tokenizer.no_truncation)
        self.ends = frozenset(ends)
        self.prefix: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        """One more than the highest token."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """What each token adds to a text.

        Raises
        ------
        ModelFormatError
            If the file turns tokens into text in a way that is not known.
        """
        decoder = self._tokenizer.decoder
        spell = speller(None if decoder is None else json.loads(decoder.__getstate__()), self._where)
        added = self._tokenizer.get_added_tokens_decoder()

        def spelling(token: int) -> Spelling:
            if token in added:
                return Spelling(str(added[token].content).encode(), not added[token].special)
            name = self._tokenizer.id_to_token(token)
            return Spelling(b"", False) if name is None else Spelling(spell(name), True)

        found: tuple[Spelling, ...] = self._guarded(lambda: tuple(map(spelling, range(self.size))))
        return found

    def token(self, name: str) -> int | None:
        """The token of a name such as ``<|im_end|>``, or None."""
        found = self._tokenizer.token_to_id(name)
        return None if found is None else int(found)

    def encode(self, text: str, *, is_complete: bool = False) -> list[int]:
        """The tokens of a text, behind those that begin every text; of one that ``is_complete``, of this text alone.

        Raises
        ------
        ParameterError
            If the text has more than LONGEST_PROMPT characters, or half of a pair of surrogates.
        ModelFormatError
            If the file describes something that cannot be done.
        """
        _check_text(text, "prompt")
        found = self._guarded(lambda: self._tokenizer.encode(text, add_special_tokens=not is_complete).ids)
        return [int(token) for token in found]

    @property
    def added(self) -> int:
        """How many tokens stand around every text."""
        return int(self._tokenizer.num_special_tokens_to_add(False))

    def encode_within(self, text: str, most: int) -> tuple[list[int], int]:
        """The tokens of a text and of what stands around it, at most so many, and how many were left off for that.

        The end of the text is left off; what stands behind it stays. ``most`` is more than ``added``; errors as
        ``encode``.
        """
        _check_text(text, "text")
        found = self._guarded(lambda: self._tokenizer.encode(text))
        ids, excess = [int(token) for token in found.ids], max(0, len(found.ids) - most)
        if excess:
            is_added = found.special_tokens_mask
            behind = next(i for i in range(len(ids)) if not is_added[-1 - i])
            del ids[most - behind : len(ids) - behind]
        return ids, excess

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens, without those that are no text; errors as ``encode``."""
        return str(self._guarded(lambda: self._tokenizer.decode(tokens, skip_special_tokens=True)))

    def decoder(self) -> StreamDecoder:
        """A decoder of tokens that come one by one."""
        return StreamDecoder(self.decode)

    def _guarded(self, work: Callable[[], Any]) -> Any:
        """What the package returns; its errors are plain ``Exception``, and those of Rust are not even that."""
        try:
            return work()
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ModelFormatError(self._where, "a tokenizer.json", str(error) or type(error).__name__) from error


def _check_text(text: str, where: str) -> None:
    if len(text) > LONGEST_PROMPT:
        raise ParameterError(where, f"at most {LONGEST_PROMPT} characters", len(text))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(where, "text", f"half a character, {text[error.start]!r}") from error


class StreamDecoder:
    """Shows the text of tokens as soon as it is certain: never half of a character.

    Byte-pair encoding cuts characters of several bytes into several tokens, and how a token is spelled may depend on
    the one before it (a space that only stands inside of a text). So each token is decoded behind those that were shown
    last, and what ends in an unfinished character waits.

    >>> parts = [b"caf", b"\\xc3", b"\\xa9", b"!"]
    >>> decoder = StreamDecoder(lambda tokens: b"".join(parts[i] for i in tokens).decode(errors="replace"))
    >>> [decoder.piece(token) for token in range(4)]
    ['caf', '', 'é', '!']
    """

    def __init__(self, decode: Callable[[list[int]], str]) -> None:
        self._decode = decode
        self._window: list[int] = []
        self._shown = 0  # tokens at the beginning of the window whose text has been given

    def piece(self, token: int) -> str:
        """The text that has become certain with one more token; it may be empty."""
        self._window.append(token)
        text = self._text()
        waits = text.endswith(_UNFINISHED) and len(self._window) - self._shown < _LONGEST_WINDOW
        if waits or not text:
            return ""
        del self._window[: self._shown]
        self._shown = len(self._window)
        return text

    def rest(self) -> str:
        """What has waited for the end of its character, which will not come."""
        text = self._text()
        self._window.clear()
        self._shown = 0
        return text

    def _text(self) -> str:
        """The text of the tokens that were not shown yet."""
        return self._decode(self._window)[len(self._decode(self._window[: self._shown])) :]
