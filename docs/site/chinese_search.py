"""Search for Chinese words: pages are found by pairs of letters that stand side by side, so no dictionary is needed.

``卷积核`` is found where ``卷积`` and ``积核`` are. Words of other letters are found as on the English site.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from sphinx.search.en import SearchEnglish

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The Chinese letters, as a class of regular expressions has them."""
_WORDS = re.compile(rf"([{HAN}]+)|[^\W{HAN}]+")


class SearchChinese(SearchEnglish):
    """How pages and questions are split: the first here, the second by the same rule in the browser.

    Words of other letters are English, and so is the name, by which the browser finds what takes off their endings.
    """

    lang = "zh"
    js_splitter_code = f"""
var splitQuery = (query) => query
    .replace(/[{HAN}]+/gu, (run) => {{
        const letters = [...run];
        const pairs = letters.slice(1).map((letter, place) => letters[place] + letter);
        return ` ${{(pairs.length ? pairs : letters).join(" ")}} `;
    }})
    .split(/[^\\p{{Letter}}\\p{{Number}}_]+/u)
    .filter((word) => word);
"""

    def split(self, input: str) -> list[str]:  # noqa: A002 (Sphinx calls it so)
        """The words of a text: of Chinese letters each one, for those who ask for one, and each two side by side."""
        found = []
        for match in _WORDS.finditer(input):
            run = match[1] or ""
            found += [*run, *(one + other for one, other in pairwise(run))] if run else [match[0]]
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_search_language(SearchChinese)
    return {"parallel_read_safe": True}
