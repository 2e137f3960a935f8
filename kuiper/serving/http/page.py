"""The page at ``/``: one document that needs nothing else, and asks nobody but its own server.

It is page/template.html with its styles and scripts put in. The header allows these alone, by their hashes: what a
model or a client writes can never run there. The messages of another language are data, which no policy concerns.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from kuiper.language import accepted, language
from kuiper.page_language import in_language

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOLDER = Path(__file__).parent / "page"
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">')
_SCRIPT = re.compile(r'<script src="([\w./-]+)"></script>')


def page_response(wishes: str) -> Any:
    """The document, with the header that says what may run in it.

    Parameters
    ----------
    wishes : the browser's ``Accept-Language``; it chooses the language unless ``KUIPER_LANG`` does
    """
    template = (_FOLDER / "template.html").read_text(encoding="utf-8")
    parts = {kind: [_part(name) for name in found.findall(template)] for kind, found in _KINDS.items()}
    text = _STYLE.sub(lambda found: f"<style>{_part(found[1])}</style>", template)
    text = _SCRIPT.sub(lambda found: f"<script>{_part(found[1])}</script>", text)
    text = in_language(text, "serve", language() if os.environ.get("KUIPER_LANG") else accepted(wishes))
    policy = [
        "default-src 'none'",
        f"script-src {_hashes(parts['script'])}",
        f"style-src {_hashes(parts['style'])}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    headers = {
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
        "Vary": "Accept-Language",
    }
    return Response(text, headers=headers, media_type="text/html")


_KINDS = {"style": _STYLE, "script": _SCRIPT}


def _part(name: str) -> str:
    return f"\n{(_FOLDER / name).read_text(encoding='utf-8')}"


def _hashes(texts: Iterable[str]) -> str:
    """What a policy calls these texts.

    >>> _hashes(["a"])
    "'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"
    """
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
