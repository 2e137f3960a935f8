"""The document: the template with its styles, scripts and the data put in, one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.printable import printable

if TYPE_CHECKING:
    from os import PathLike

    from kuiper.explore.arrays import Table

_FOLDER = Path(__file__).parent / "page"
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)"\s*/?>')
_SCRIPT = re.compile(r'<script src="([\w.-]+)"></script>')
_DATA = '<script type="application/json" id="network"></script>'
_TITLE = "<!-- title -->"
_LONGEST_TITLE = 100
_FRAME_HEIGHT = 760  # pixels, in a notebook

# What could end the script that holds the data, and the two ends of a line that older JavaScript takes for such.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


class Page:
    """A network at work, as one HTML document. A notebook shows it in a frame.

    Parameters
    ----------
    data : what docs/use/explore.md describes; JSON can say all of it
    """

    def __init__(self, data: Table) -> None:
        self.data = data

    @property
    def html(self) -> str:
        """The document.

        >>> page = Page({"model": {"name": "</script><b>"}})
        >>> "</script><b>" in page.html, "\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e" in page.html
        (False, True)
        """
        text = (_FOLDER / "template.html").read_text(encoding="utf-8")
        text = _STYLE.sub(lambda found: f"<style>\n{_part(found[1])}</style>", text)
        text = _SCRIPT.sub(lambda found: f"<script>\n{_part(found[1])}</script>", text)
        name = printable(str(self.data["model"]["name"]))
        text = text.replace(_TITLE, escape(name if len(name) <= _LONGEST_TITLE else f"{name[:_LONGEST_TITLE]}..."), 1)
        before, _, after = text.partition(_DATA)
        return "".join([before, _DATA.removesuffix("</script>"), as_json(self.data), "</script>", after])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the document to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        document = escape(self.html)
        style = f"width: 100%; height: {_FRAME_HEIGHT}px; border: 0"
        return f'<iframe title="kuiper explore" sandbox="allow-scripts" style="{style}" srcdoc="{document}"></iframe>'

    def __repr__(self) -> str:
        return f"<page of {printable(str(self.data['model']['name']))}: {len(self.data['operators'])} operators>"


def as_json(data: Table) -> str:
    """The data as JSON that may stand within a script of an HTML document, whatever texts are in it.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
