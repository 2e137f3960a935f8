"""Words that are compared and kept in English, and said in the student's language: a slip, a cause, an error's message.

    words = phrase("{what} is left out{place}", what="`abs`", place=phrase(" in what is returned"))
    words == "`abs` is left out in what is returned", said(words) == "返回的值里，漏掉了 `abs`"

A field may be a phrase, too: a language puts it where it belongs in its sentence.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, reduce
from string import Formatter
from typing import TYPE_CHECKING, Any

from kuiper.language import is_wide, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Phrase(str):
    """A sentence in English that knows its message and what stands in the message's fields."""

    template: str
    fields: Mapping[str, Any]

    def __new__(cls, template: str, fields: Mapping[str, Any]) -> Phrase:
        made = super().__new__(cls, template.format(**fields))
        made.template, made.fields = template, fields
        return made

    def __reduce__(self) -> tuple[type[Phrase], tuple[str, Mapping[str, Any]]]:
        return Phrase, (self.template, self.fields)


def code(text: str) -> str:
    """What stands in a student's file, as sentences quote it."""
    return f"`{text}`"


def phrase(template: str, /, **fields: Any) -> Phrase:
    """A sentence; its template is a message of the catalogue.

    >>> phrase("{what} is {count} too large", what="an index", count=1)
    'an index is 1 too large'
    """
    return Phrase(template, fields)


def listed(words: Iterable[str]) -> str:
    """Some words, at least one, behind each other.

    >>> listed(["mean", "var"]), listed(["mean"])
    ('mean, var', 'mean')
    """
    return reduce(lambda before, last: phrase("{before}, {last}", before=before, last=last), words)


def said(words: str) -> str:
    """A phrase in the language that is spoken now; other texts as they are.

    >>> said(phrase("the answer has an axis too many")), said("conv2d")
    ('the answer has an axis too many', 'conv2d')
    """
    if not isinstance(words, Phrase):
        return words
    text = ""
    for literal, field, *_ in Formatter().parse(translate(words.template)):
        text = _joined(text, literal)
        if field:
            value = words.fields[field]
            text = _joined(text, said(value) if isinstance(value, str) else str(value))
    return text


def _joined(left: str, right: str) -> str:
    """Two pieces of a sentence; Chinese has a space beside code and numbers, and none between its own letters."""
    one, other = left[-1:], right[:1]
    if (_is_chinese(one) and _is_code(other)) or (_is_code(one) and _is_chinese(other)):
        return f"{left} {right}"
    if one == " " and is_wide(left[-2:-1]) and is_wide(other):
        return left[:-1] + right
    return left + right[1:] if other == " " and is_wide(one) and is_wide(right[1:2]) else left + right


def _is_chinese(sign: str) -> bool:
    return is_wide(sign) and unicodedata.category(sign) == "Lo"


def _is_code(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign == "`")


def recognised(text: str, templates: Iterable[str]) -> str:
    """A text that came in English out of another process, or out of a file, as a phrase; as it is if it is none.

    >>> text = recognised("no answer within 5 seconds", ["no answer within {seconds} seconds"])
    >>> text.template, text.fields
    ('no answer within {seconds} seconds', {'seconds': '5'})
    """
    for template in templates:
        found = _pattern(template).fullmatch(text)
        if found:
            return Phrase(template, found.groupdict())
    return text


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """What a text of this template looks like."""
    parts = Formatter().parse(template)
    return re.compile(
        "".join(re.escape(text) + (f"(?P<{field}>.+?)" if field else "") for text, field, *_ in parts), re.DOTALL
    )
