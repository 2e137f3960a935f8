"""What the check of the site wants of pages in several languages: that each leads to the same section of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.language import ENGLISH, other_languages, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# To the section in the middle, and from there to the other language: the section, and where the switch leads. Of a
# page that is too short to be moved there is nothing to be said.
PRESS_SWITCH = """(() => {
    const sections = [...document.querySelectorAll("article section section[id]")];
    const section = sections[Math.floor(sections.length / 2)], link = document.querySelector("a.language");
    if (!section || !link) return null;
    section.scrollIntoView({behavior: "instant"});
    if (section.getBoundingClientRect().top > 1) return null;
    link.addEventListener("click", event => event.preventDefault());
    link.click();
    return [section.id, link.href];
})()"""


def language_folders(root: Path) -> dict[str, Path]:
    """The folder of each language that a site has."""
    others = {name: root / name for name in other_languages()}
    return {ENGLISH: root, **{name: folder for name, folder in others.items() if folder.is_dir()}}


def compare_languages(browser: Any, root: Path, found: Mapping[Path, Mapping[str, Any]]) -> list[str]:
    """What is wrong with the languages of a site.

    Parameters
    ----------
    browser : to press the switch in
    root : the folder of the site
    found : what PLACES of check_pages.py gives of each page that is looked at
    """
    problems = []
    for page, said in found.items():
        language = next(
            (name for name, at in language_folders(root).items() if at != root and at in page.parents), ENGLISH
        )
        name = page.relative_to(root).as_posix().removesuffix(".html")
        if said["language"] != tag(language):
            problems.append(f"{name}: expected lang={tag(language)!r}, got {said['language']!r}")
        if language != ENGLISH:
            english = root / page.relative_to(root / language)
            pair = {ENGLISH: english, tag(language): page}
            problems += [f"{name}: {problem}" for problem in wrong_with_pair(pair, said, found.get(english))]
            problems += [f"{name}: {problem}" for problem in wrong_with_switch(browser, english, page)]
    return problems


def wrong_with_pair(
    pair: Mapping[str, Path], said: Mapping[str, Any], english: Mapping[str, Any] | None
) -> Iterator[str]:
    """Each of two pages is to name both, and to have the sections of the other."""
    wanted = [[hreflang, path.as_uri()] for hreflang, path in pair.items()]
    wanted.append(["x-default", pair[ENGLISH].as_uri()])
    for each in filter(None, (said, english)):
        if each["alternates"] != wanted:
            yield f"expected links to its languages {wanted}, got {each['alternates']}"
    if english and said["sections"] != english["sections"]:
        yield f"expected the sections {english['sections']}, got {said['sections']}"


def wrong_with_switch(browser: Any, one: Path, other: Path) -> Iterator[str]:
    """The switch of either page is to lead to the section that is being read, on the other page."""
    for here, there in ((one, other), (other, one)):
        browser.open(here.as_uri())
        pressed = browser.run(PRESS_SWITCH)
        if pressed and pressed[1] != f"{there.as_uri()}#{pressed[0]}":
            yield f"expected the switch at #{pressed[0]} to lead to {there.name}, got {pressed[1]}"
