"""The language in which kuiper speaks to students: English, or another that ``kuiper/locale`` has messages in.

    from kuiper.language import _
    print(_("{passed} of {total} tests pass").format(passed=3, total=5))

``KUIPER_LANG=zh`` chooses, or else the notebook or the course folder, or else ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``,
as ``zh_CN.UTF-8``. Messages are kept by gettext: ``locale/zh/LC_MESSAGES/kuiper.po``, of which setup.py makes what is
read here; other domains beside it hold the texts of the course. A message without a translation is English. Errors of
the engine are English in every language; those of the course's commands are ``CommandError``, and are said in it.
"""

from __future__ import annotations

import gettext
import os
import re
import struct
import sys
import textwrap
import unicodedata
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGLISH = "en"
DOMAIN = "kuiper"
FOLDER = Path(__file__).parent / "locale"
TAGS = {"zh": "zh-CN"}
"""What the web, and names of files, call a language; by default its own name."""
_preferred = ""
_spoken = ""

_COPIED = re.compile(
    r"`[^`\n]+`|\bkuiper (?:course )?[a-z]+(?: --?[a-z-]+| [A-Z]+\b| [\w.]*\d(?:[\w.]*\w)?)*"
    r"|\bpytest(?: \w+_\w+| --?[a-z-]+(?: [\w.]*\d)?)*|--ref [\d.]*\d"
)
"""Code and commands in a sentence."""
_JOINT = "\0"  # stands for a space at which no line breaks
_WISH = re.compile(r"([A-Za-z]+)(?:-[\w-]*)?(?:\s*;\s*q=([01](?:\.\d{0,3})?))?")  # a language of Accept-Language


def languages() -> list[str]:
    """Those that can be chosen.

    >>> "en" in languages()
    True
    """
    return sorted({ENGLISH, *(path.parents[1].name for path in _folder().glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))})


def other_languages() -> list[str]:
    """Those that English texts are translated into.

    >>> "en" in other_languages()
    False
    """
    return [name for name in languages() if name != ENGLISH]


def language() -> str:
    """The one that is spoken now.

    >>> language() in languages()
    True
    """
    if _spoken:
        return _spoken
    wanted = os.environ.get("KUIPER_LANG", "")
    if wanted:
        return asked(wanted)
    if _preferred:
        return _known(_preferred) or ENGLISH
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return _known(next(filter(None, names), ENGLISH)) or ENGLISH


def asked(name: str | None) -> str:
    """A language that somebody asks for by its name, or else the one that is spoken; English if there is no such.

    >>> asked("en")
    'en'
    """
    return (_known(name) or _refused(name)) if name else language()


def prefer(name: str) -> None:
    """Speak the language of a course folder, unless ``KUIPER_LANG`` asks for another; "" is none of its own."""
    global _preferred
    _preferred = name


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Say everything in this language, whichever was chosen: for files that are written in several."""
    global _spoken
    before, _spoken = _spoken, name
    try:
        yield
    finally:
        _spoken = before


def tag(name: str) -> str:
    """What the web calls a language.

    >>> tag("zh"), tag("en")
    ('zh-CN', 'en')
    """
    return TAGS.get(name, name)


def translate(message: str, domain: str = DOMAIN, into: str = "") -> str:
    """A message in a language, or in the one that is spoken now; English if there is no translation.

    >>> translate("a sentence that nobody has translated")
    'a sentence that nobody has translated'
    """
    return _catalogue(into or language(), domain).gettext(message) if message else ""


_ = translate


def messages(domain: str, into: str = "") -> dict[str, str]:
    """All that a domain says in a language, for a page that speaks by itself; nothing in English.

    >>> messages("explore", into="en")
    {}
    """
    catalogue = _catalogue(into or language(), domain)
    known: dict[str, str] = getattr(catalogue, "_catalog", {})  # gettext has no other way to all of them
    return {message: text for message, text in known.items() if message}


def accepted(header: str) -> str:
    """The language of a browser by its ``Accept-Language``: the one it likes best of those that there are, or English.

    >>> accepted("en-GB,en;q=0.9"), accepted("tlh"), accepted("")
    ('en', 'en', 'en')
    """
    wishes = [_WISH.fullmatch(part.strip()) for part in header.split(",")]
    liked = sorted(((float(wish[2] or 1), wish[1].lower()) for wish in wishes if wish), key=lambda wish: -wish[0])
    spoken = languages()
    return next((name for weight, name in liked if weight and name in spoken), ENGLISH)  # 0 refuses a language


def noop(text: str) -> str:
    """Mark a text that is translated later, where it is said: the catalogue gets it."""
    return text


def columns(text: str) -> int:
    """How wide a text is in a terminal: a Chinese letter takes two columns, an accent of its own none.

    >>> columns("conv"), columns("卷积")
    (4, 4)
    """
    return sum(0 if unicodedata.combining(sign) else 1 + is_wide(sign) for sign in text)


def is_wide(letter: str) -> bool:
    """Whether a letter, or a mark, is as wide as it is high; "" is not.

    >>> is_wide("步"), is_wide("。"), is_wide("x")
    (True, True, False)
    """
    return letter != "" and unicodedata.east_asian_width(letter) in ("W", "F")


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text with spaces behind it, or before it for ``right``, so that it fills a number of columns.

    >>> padded("卷积", 6), padded("conv", 6, right=True)
    ('卷积  ', '  conv')
    """
    spaces = " " * (width - columns(text))
    return spaces + text if right else text + spaces


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """A text in lines of up to so many columns, the first of which begins with ``first``, the others with ``rest``.

    A word longer than a line stays whole, and so do code in backticks and a command, if they fit a line. Chinese may
    break between any two letters, but no line begins with a mark that closes something.

    >>> wrapped("你的层和参考实现一样。", 10)
    ['你的层和参', '考实现一', '样。']
    """
    room = width - columns(rest)
    whole = _COPIED.sub(lambda found: found[0].replace(" ", _JOINT) if columns(found[0]) <= room else found[0], text)
    return [line.replace(_JOINT, " ") for line in _wrapped(whole, width, first, rest)]


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    if text.isascii():
        plain = textwrap.TextWrapper(width, initial_indent=first, subsequent_indent=rest)
        plain.break_long_words = plain.break_on_hyphens = False
        return plain.wrap(text)
    lines, line, room = [], first, False
    for word in _words(text):
        if room and columns(f"{line}{word.rstrip()}") > width:
            lines.append(line.rstrip())
            line, word = rest, word.lstrip()
        line, room = line + word, True
    return [*lines, line.rstrip()] if room else []


def _words(text: str) -> list[str]:
    """What stays together in a line, with the spaces behind it: a word, or a Chinese letter with marks around it."""
    wide = "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]"
    closing, opening = "，。：；？！、）」』》】”…", "（「『《【“"
    plain = f"(?:(?!{wide})[^\\s{closing}{opening}])+"
    return re.findall(f"[{opening}]*(?:{plain}|{wide}|\\S)[{closing}]*\\s*", " ".join(text.split()))


def _folder() -> Path:
    """Where the languages are; tests have folders of their own."""
    return Path(os.environ.get("KUIPER_LOCALE", FOLDER))


def _known(name: str) -> str:
    """The language of a locale's name, or of the web's, if there is one."""
    short = re.split("[-_.@]", name, maxsplit=1)[0].lower()
    # A name comes from folders and notebooks of others, too: a path would bring messages of theirs.
    return short if short == ENGLISH or (short.isalpha() and _mo_file(short, DOMAIN).is_file()) else ""


def _mo_file(name: str, domain: str) -> Path:
    return _folder() / name / "LC_MESSAGES" / f"{domain}.mo"


@lru_cache(maxsize=8)
def _refused(name: str) -> str:
    """Say once which languages there are, and go on in English."""
    print(f"language: expected one of {', '.join(languages())}, got {name!r}; this is English", file=sys.stderr)
    return ENGLISH


def _catalogue(name: str, domain: str) -> gettext.NullTranslations:
    return _read(_mo_file(name, domain))


@lru_cache(maxsize=32)
def _read(path: Path) -> gettext.NullTranslations:
    """The messages of a file; none if there is no such file."""
    if not path.is_file():
        return gettext.NullTranslations()
    try:
        with path.open("rb") as file:
            return gettext.GNUTranslations(file)
    except (OSError, ValueError, struct.error) as error:
        from kuiper.errors import KuiperError  # here: what packs kuiper for browsers runs this file alone

        raise KuiperError(str(path), "messages as gettext has them", error, "install kuiper anew") from error
