"""Links from the pages of the site to the live page: each lecture opens there, each exercise is solved there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_EXERCISE = re.compile(
    r'<a class="reference external" href="[^"]*source/(course\d_\w+/exercises/[\w.]+)\.html">.*?</a>'
)


def add_links(site: Path, table: dict[str, Any]) -> None:
    """Write the links into the built pages."""
    for lecture in table["lectures"]:
        link = f'<p class="live"><a href="../live/index.html#{lecture["name"]}">Open it live</a></p>'
        rewrite(site / "notebooks" / f"{lecture['name']}.html", link, table)
    for course in table["courses"]:
        rewrite(site / course["name"] / "README.html", "", table)


def rewrite(page: Path, link: str, table: dict[str, Any]) -> None:
    """One page: a link below its title, and links beside the files of its exercises; a page that has them stays."""
    text = page.read_text(encoding="utf-8")
    if "live/index.html#" not in text:
        page.write_text(with_exercises(text.replace("</h1>", f"</h1>\n{link}", 1), table), encoding="utf-8")


def with_exercises(text: str, table: dict[str, Any]) -> str:
    """A page whose links to files of exercises have a link to the live page beside them."""
    exercises = {entry["file"]: entry for entry in table["exercises"]}

    def beside(link: re.Match[str]) -> str:
        entry = exercises.get(link[1])
        if entry is None:
            return link[0]
        address = f"../live/index.html#{entry['lecture']}/{entry['id']}"
        return f'{link[0]} · <a class="live" href="{address}">Solve it here</a>'

    return _EXERCISE.sub(beside, text)
