"""The words of pictures, in the language of the reader.

A picture is drawn in English. Where it is shown, each text in it is looked up in the catalogue ``pictures``: so the
texts of a notebook's cell, of matplotlib, and of a picture that was stored long ago are found as those that kuiper has
drawn. What the catalogue does not have is a name or a number, and stays.

    label(x, y, words("step {step}: {rows} of {budget} rows", step=1, rows=3, budget=8))

A text is found by its message even when numbers and names stand in the message's fields, and these are looked up, too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kuiper.course.places import speak_as_here
from kuiper.language import ENGLISH, is_wide, language, messages

if TYPE_CHECKING:
    from collections.abc import Mapping

DOMAIN = "pictures"
FIELD = re.compile(r"\{(\w+)\}")
WORD = re.compile("[A-Za-z]{2}")  # a single letter is a name
_SENTENCE_ENDS = re.compile(r"(?<=[.!?]) (?=\S)")


def words(message: str, /, **fields: object) -> str:
    """A text of a picture, in English; the catalogue gets the message.

    >>> words("{count} tokens", count=3)
    '3 tokens'
    """
    return message.format(**fields)


def template(message: str) -> str:
    """A message whose fields are filled later, by ``words``; the catalogue gets it.

    >>> template("{reader} writes.")
    '{reader} writes.'
    """
    return message


class Translation:
    """From an English text of a picture to the same in another language.

    >>> say = Translation({"step {n}": "第 {n} 步", "free": "空闲"})
    >>> say("step 3"), say("free"), say("relu"), say("All is well. free")
    ('第 3 步', '空闲', 'relu', 'All is well. 空闲')

    Parameters
    ----------
    messages : for each English message the other
    """

    def __init__(self, messages: Mapping[str, str]) -> None:
        self._whole = {message: text for message, text in messages.items() if not FIELD.search(message)}
        patterns = [message for message in messages if FIELD.search(message)]
        patterns.sort(key=lambda message: -len(FIELD.sub("", message)))  # the more it says, the surer it is
        self._patterns = [(pattern(message), messages[message]) for message in patterns]

    def __call__(self, text: str) -> str:
        """The text in the other language, as far as the catalogue has it."""
        if not has_words(text):
            return text
        found = self._found(text)
        if found is not None:
            return found
        return joined([self._found(sentence) or sentence for sentence in sentences(text)])

    def _found(self, text: str) -> str | None:
        if text in self._whole:
            return self._whole[text]
        for looks, message in self._patterns:
            if match := looks.fullmatch(text):
                return message.format(**{name: self(value) for name, value in match.groupdict().items()})
        return None


def sentences(text: str) -> list[str]:
    """A text in its sentences.

    >>> sentences("One. Two.")
    ['One.', 'Two.']
    """
    return _SENTENCE_ENDS.split(text)


def pattern(message: str) -> re.Pattern[str]:
    """What a text of this message looks like; no field reaches into the next sentence."""
    written, known = "", set()
    for i, part in enumerate(FIELD.split(message)):
        if i % 2 == 0:
            written += re.escape(part)
        else:
            written += f"(?P={part})" if part in known else f"(?P<{part}>(?:(?![.!?] ).)+?)"
            known.add(part)
    return re.compile(written)


def joined(sentences: list[str]) -> str:
    """Sentences one after the other: with a blank between them, but not behind the full stop of Chinese.

    >>> joined(["One.", "Two."]), joined(["一。", "二。"])
    ('One. Two.', '一。二。')
    """
    text = ""
    for sentence in sentences:
        text += sentence if not text or is_wide(text[-1]) else f" {sentence}"
    return text


def has_words(text: str) -> bool:
    """Whether a text has more than numbers and names of one letter.

    >>> has_words("3 rows"), has_words("a[3]")
    (True, False)
    """
    return WORD.search(text) is not None


def for_reader() -> Translation | None:
    """What puts pictures into the language of the notebook, the folder or the terminal; None if that is English."""
    speak_as_here()
    spoken = language()
    return None if spoken == ENGLISH else into(spoken)


@lru_cache(maxsize=4)
def into(other: str) -> Translation:
    """What puts pictures into a language; they have titles of courses, too."""
    titles = {title: text for title, text in messages("hints", other).items() if not FIELD.search(title)}
    return Translation({**titles, **messages(DOMAIN, other)})
