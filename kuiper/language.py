"""The language in which kuiper speaks to students: English, or another that ``kuiper/locale`` has messages in.

    from kuiper.language import _
    print(_("{passed} of {total} tests pass").format(passed=3, total=5))

``KUIPER_LANG=zh`` chooses, or else ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``, as ``zh_CN.UTF-8``. Messages are kept by
gettext: ``locale/zh/LC_MESSAGES/kuiper.po``, of which setup.py makes what is read here. A message without a translation
is English. Errors of the engine are English in every language.
"""

from __future__ import annotations

import gettext
import os
import sys
from functools import lru_cache
from pathlib import Path

ENGLISH = "en"
DOMAIN = "kuiper"
FOLDER = Path(__file__).parent / "locale"


def languages() -> list[str]:
    """Those that can be chosen.

    >>> "en" in languages()
    True
    """
    return sorted({ENGLISH, *(path.parents[1].name for path in _folder().glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))})


def language() -> str:
    """The one that is spoken now.

    >>> language() in languages()
    True
    """
    asked = os.environ.get("KUIPER_LANG", "")
    if asked:
        return _known(asked) or _refused(asked)
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return _known(next(filter(None, names), ENGLISH)) or ENGLISH


def translate(message: str) -> str:
    """A message in the language that is spoken now; English if there is no translation.

    >>> translate("a sentence that nobody has translated")
    'a sentence that nobody has translated'
    """
    return _catalogue(language()).gettext(message) if message else ""


_ = translate


def _folder() -> Path:
    """Where the languages are; tests have folders of their own."""
    return Path(os.environ.get("KUIPER_LOCALE", FOLDER))


def _known(name: str) -> str:
    """The language of a locale's name, if there is one."""
    short = name.partition(".")[0].partition("_")[0].lower()
    return short if short == ENGLISH or (_folder() / short / "LC_MESSAGES" / f"{DOMAIN}.mo").is_file() else ""


@lru_cache(maxsize=8)
def _refused(asked: str) -> str:
    """Say once which languages there are, and go on in English."""
    print(f"KUIPER_LANG: expected one of {', '.join(languages())}, got {asked!r}; this is English", file=sys.stderr)
    return ENGLISH


@lru_cache(maxsize=8)
def _catalogue(name: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, _folder(), [name], fallback=True)
