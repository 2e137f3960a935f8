"""Documents that speak the language of their reader: ``kuiper explore``, and the page of ``kuiper serve``.

Texts of documents and scripts are English. For a reader of another language a document gets the catalogue's messages,
and language.js, beside this module, says them. An English document has none.
"""

from __future__ import annotations

import json
from typing import Any

from kuiper.language import ENGLISH, messages, tag

# What could end the script that holds the data, and the two ends of a line that older JavaScript takes for such.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def in_language(document: str, domain: str, language: str) -> str:
    """An English document as its reader gets it.

    Parameters
    ----------
    document : HTML with ``<html lang="en">`` and a head; one of its scripts is language.js
    domain : the catalogue that has its messages
    language : the reader's

    >>> in_language('<html lang="en"><head></head>', "explore", "en")
    '<html lang="en"><head></head>'
    """
    if language == ENGLISH:
        return document
    table = f'<script type="application/json" id="messages">{as_json(messages(domain, language))}</script>\n'
    document = document.replace('<html lang="en">', f'<html lang="{tag(language)}">', 1)
    return document.replace("</head>", f"{table}</head>", 1)


def as_json(data: Any) -> str:
    """The data as JSON that may stand within a script of an HTML document, whatever texts are in it.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")
