"""Links from the pages of the site to the live page: each lecture opens there, each exercise is solved there.

A lecture has one to its notebook in JupyterLite, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kuiper.language import ENGLISH, languages, noop, translate

if TYPE_CHECKING:
    from pathlib import Path

_EXERCISE = re.compile(
    r'<a class="reference external" href="[^"]*source/(course\d_\w+/exercises/[\w.]+)\.html">.*?</a>'
)


def add_links(site: Path, table: dict[str, Any]) -> None:
    """Write the links into the built pages, in each language."""
    for language in languages():
        folder = site if language == ENGLISH else site / language
        live = "../live/index.html" if language == ENGLISH else f"../../live/index.html?lang={language}"
        for lecture in table["lectures"]:
            words = translate(noop("Open it live"), into=language)
            notebook = translate(noop("As a notebook (JupyterLite)"), into=language)
            lab = f"{live.partition('live/')[0]}lab/{language}/lab/index.html"
            address = f"{lab}?path=notebooks/{lecture['name']}.ipynb"
            link = f'<a href="{live}#{lecture["name"]}">{words}</a> · <a href="{address}">{notebook}</a>'
            link = f'<p class="live">{link}</p>'
            rewrite(folder / "notebooks" / f"{lecture['name']}.html", link, table, live, language)
        for course in table["courses"]:
            rewrite(folder / course["name"] / "README.html", "", table, live, language)


def rewrite(page: Path, link: str, table: dict[str, Any], live: str, language: str) -> None:
    """One page: a link below its title, and links beside the files of its exercises; a page that has them stays."""
    if not page.is_file() and language != ENGLISH:
        return  # nobody has translated it
    text = page.read_text(encoding="utf-8")
    if f"{live}#" not in text:
        text = text.replace("</h1>", f"</h1>\n{link}", 1)
        page.write_text(with_exercises(text, table, live, language), encoding="utf-8")


def with_exercises(text: str, table: dict[str, Any], live: str, language: str) -> str:
    """A page whose links to files of exercises have a link to the live page beside them."""
    words = translate(noop("Solve it here"), into=language)
    exercises = {entry["file"]: entry for entry in table["exercises"]}

    def beside(link: re.Match[str]) -> str:
        entry = exercises.get(link[1])
        if entry is None:
            return link[0]
        address = f"{live}#{entry['lecture']}/{entry['id']}"
        return f'{link[0]} · <a class="live" href="{address}">{words}</a>'

    return _EXERCISE.sub(beside, text)
