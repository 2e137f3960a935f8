"""Words that a page says outside of its catalogue: with the language of brackets, of tests/pseudo_language.py."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.pseudo_language import NAME, escaped, write_catalogues  # noqa: E402

TEXTS = """(() => {
    const told = ["alt", "aria-label", "aria-valuetext", "placeholder", "title", "data-empty", "data-end"], texts = [];
    for (const element of document.body.querySelectorAll("*")) {
        if (element.closest("SKIPPED, script, style, code, kbd, [translate=no]")) continue;
        if (element.closest(".formula")) continue;
        for (const child of element.childNodes) if (child.nodeType === 3) texts.push(child.data);
        for (const name of told) if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
    }
    texts.push(...[...document.querySelectorAll(".formula")].map(formula => formula.textContent)); // with its code
    return [...new Set(texts.map(text => text.trim()).filter(Boolean))];
})()"""

UNITS = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "GFLOP/s", "kB", "MB", "ms", "NaN", "kuiper"}


@contextmanager
def language(name: str, **more: str) -> Iterator[None]:
    """Programs that are started speak this language."""
    before = {key: os.environ.get(key) for key in ("KUIPER_LANG", *more)}
    os.environ.update({"KUIPER_LANG": name, **more})
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@contextmanager
def brackets(folder: Path) -> Iterator[None]:
    """Programs that are started speak in brackets; the catalogues are written to a folder."""
    with language(NAME, KUIPER_LOCALE=str(write_catalogues(folder))):
        yield


def words_outside(run: Callable[[str], Any], skipped: str, names: Collection[str]) -> list[str]:
    """The texts of a page that are not in brackets.

    Parameters
    ----------
    run : runs a script in the page
    skipped : a selector of elements with texts that are no words of the page's
    names : what the page is about: operators, files, models
    """
    known = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name) or "$^")
    texts = run(TEXTS.replace("SKIPPED", skipped))
    return [f"outside of the catalogue: {text[:120]}" for text in texts if escaped(known.sub(" ", text), UNITS)]
