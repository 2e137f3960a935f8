"""The site in other languages: each has its pages below a folder of its name, and a switch leads from one to the other.

    python docs/site/languages.py                     the locales that have a build of their own
    sphinx-build -D language=zh_CN -d DOCTREES/zh ... build/site/zh

A page has the place of the English one: ``zh/docs/use/install.html`` beside ``docs/use/install.html``. Its sections
have the ids of the English ones, so that ``#section`` leads to the same place in both. Pages that nobody has
translated, and source files, are in English only: links lead there. The English site is built first: its doctrees say
what it has.
"""

from __future__ import annotations

import json
import pickle
import re
from functools import lru_cache
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from babel import Locale
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util import logging

from kuiper.course.translations import (
    english_words,
    read_translation,
    sources,
    translated_lecture,
    translated_page,
    translation_file,
)
from kuiper.language import ENGLISH, noop, other_languages, tag, translate

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).parents[2]
FIRST_PAGE = "README"
BILINGUAL = {"zh": ("docs/learn/glossary", "docs/learn/credits")}
"""Pages that speak a language beside English themselves; their titles are in the catalogue."""

# What templates say, where Sphinx has no words for it in a language.
SAID = (
    noop("In English"),
    noop("All documents"),
    noop("Glossary"),
    noop("Where each topic comes from"),
    noop("Skip to content"),
    noop("Back to top"),
    noop("On this page"),
    noop("Home"),
    noop("Made with "),
    noop("Toggle site navigation sidebar"),
    noop("Toggle table of contents sidebar"),
    noop("Toggle Light / Dark / Auto color theme"),
)
LINK_TO_OTHER = re.compile(r"\A\[[^\]]+\]\(README[\w.-]*\.md\)\n+")
"""The first line of the README leads to it in another language; pages of the site have a switch for that."""

logger = logging.getLogger(__name__)


class Switch(NamedTuple):
    """A link to a page in another language: what the language is called, its tag, and what the link says of itself."""

    name: str
    tag: str
    address: str
    title: str


class Words(NullTranslations):
    """What templates say, from kuiper's own catalogue."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def gettext(self, message: str) -> str:
        return translate(message, into=self.name)


def short_name(locale: str) -> str:
    """The language of a locale, as kuiper calls it.

    >>> short_name("zh_CN")
    'zh'
    """
    return locale.partition("_")[0]


def others() -> list[str]:
    """The languages beside English that have a first page."""
    return [name for name in other_languages() if FIRST_PAGE in translated_pages(name)]


@lru_cache
def translated_pages(name: str) -> dict[str, Path]:
    """The pages of the site that a language has, by their names, with their English sources."""
    found = [source for source in sources(ROOT) if translation_file(source, name).is_file()]
    found += [ROOT / f"{page}.md" for page in BILINGUAL.get(name, ())]
    pages = {source.relative_to(ROOT).with_suffix("").as_posix(): source for source in found}
    return {page: source for page, source in pages.items() if not page.startswith("student_folder/")}


def choose_pages(app: Sphinx, config: Config) -> None:
    """English has all pages but the translations; another language has these, and the theme speaks it."""
    name = short_name(config.language)
    if name == ENGLISH:
        config.exclude_patterns += [
            pattern for other in others() for pattern in (f"**.{tag(other)}.md", f"**/{other}/*.md")
        ]
        return
    config.include_patterns = [source.relative_to(ROOT).as_posix() for source in translated_pages(name).values()]
    config.html_use_index = config.html_domain_indices = False
    sidebar = [
        "brand",
        "search",
        "scroll-start",
        "navigation",
        "english",
        "ethical-ads",
        "scroll-end",
        "variant-selector",
    ]
    config.html_sidebars = {"**": [f"sidebar/{part}.html" for part in sidebar]}
    app.translator.add_fallback(Words(name))


def translate_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the translation of a page, or a lecture, in its place."""
    if page == FIRST_PAGE:
        source[0] = LINK_TO_OTHER.sub("", source[0])
    name = short_name(app.config.language)
    if name == ENGLISH:
        return
    if page in BILINGUAL.get(name, ()):
        source[0] = re.sub(r"\A# (.+)", lambda title: f"# {translate(title[1], into=name)}", source[0])
        return
    english = translated_pages(name)[page]
    passages = read_translation(translation_file(english, name))
    app.env.note_dependency(str(translation_file(english, name)))
    if english.suffix == ".ipynb":
        source[0] = json.dumps(translated_lecture(json.loads(source[0]), passages, name))
    else:
        source[0] = translated_page(source[0], passages, name)
    if page == FIRST_PAGE:
        source[0] = LINK_TO_OTHER.sub("", source[0])


def use_english_ids(app: Sphinx, document: nodes.document) -> None:
    """Give the sections of a translation the ids of the English ones, and say where sections differ."""
    if short_name(app.config.language) == ENGLISH:
        return
    page = app.env.docname
    english = english_document(app, page)
    sections, originals = list(document.findall(nodes.section)), list(english.findall(nodes.section))
    if [depth(section) for section in sections] != [depth(section) for section in originals]:
        titles = [[section[0].astext() for section in each] for each in (originals, sections)]
        logger.warning("%s: expected the sections of the English page: %s, got %s", page, *titles)
        return
    renamed = {}
    for section, original in zip(sections, originals, strict=True):
        renamed |= dict.fromkeys(section["ids"], original["ids"][0])
        section["ids"] = original["ids"][:]
    for link in document.findall(nodes.reference):
        if "refid" in link:
            link["refid"] = renamed.get(link["refid"], link["refid"])
    titles = {section["ids"][0]: section[0].astext() for section in sections}
    slugs = english_environment(app).metadata[page].get("myst_slugs", {})
    places = {slug: id_ for slug, (_, id_, _) in slugs.items()}
    places |= places_of_headings(page, short_name(app.config.language), list(titles))
    app.env.metadata[page]["myst_slugs"] = {slug: (0, id_, titles.get(id_, "")) for slug, id_ in places.items()}
    lead_to_places(document, places)


def places_of_headings(page: str, name: str, ids: list[str]) -> dict[str, str]:
    """Where a link leads that names a heading of a translation as GitHub does; ``ids`` are those of the sections.

    A passage that is not shown, since English has changed, has a place too: that of the English one, or the title.
    """
    source = translated_pages(name)[page]
    passages = read_translation(translation_file(source, name))
    sections, found = iter(ids), dict[str, str]()
    for english in english_words(source):
        own = [next(sections, ids[0]) for _ in headings(english.words) if not english.is_code]
        passage = passages.pop(english.key, None)
        found |= zip(headings(passage.text) if passage else (), own, strict=False)
    return found | {heading: ids[0] for passage in passages.values() for heading in headings(passage.text)}


def headings(text: str) -> list[str]:
    """The headings of a Markdown text, as a link names them on GitHub.

    >>> headings("# A `b`-c, d")
    ['a-b-c-d']
    """
    outside = re.sub(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#{1,6} +(.+?)(?: +#+)? *$", outside, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", title).lower()).replace(" ", "-") for title in titles]


def lead_to_places(document: nodes.document, places: dict[str, str]) -> None:
    """Resolve links within a page that name a section as English has it."""
    for link in list(document.findall(pending_xref)):
        if link["reftype"] == "myst" and link["refdomain"] is None and link["reftarget"] in places:
            id_ = places[link["reftarget"]]
            link.replace_self(nodes.reference("", "", *link.children, refid=id_, internal=True))


def depth(section: nodes.Node) -> int:
    """In how many sections a section is."""
    return 0 if section.parent is None else depth(section.parent) + isinstance(section.parent, nodes.section)


@lru_cache
def _unpickled(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


def english_document(app: Sphinx, page: str) -> nodes.document:
    """A page of the English site, as it was read."""
    return _unpickled(Path(app.doctreedir).parent / f"{page}.doctree")


def english_environment(app: Sphinx) -> BuildEnvironment:
    """What the English build knows of its pages."""
    return _unpickled(Path(app.doctreedir).parent / "environment.pickle")


def to_english(app: Sphinx, page: str) -> str:
    """The way from a page to the folder that holds the English site."""
    return "../" * (page.count("/") + (short_name(app.config.language) != ENGLISH))


def lead_to_english(app: Sphinx, document: nodes.document) -> None:
    """Lead links to pages that nobody has translated to the English site."""
    if short_name(app.config.language) == ENGLISH:
        return
    english, page = english_environment(app), app.env.docname
    for link in list(document.findall(pending_xref)):
        target, place = link["reftarget"], link.get("reftargetid")
        if link["refdomain"] == "doc" and target in english.found_docs and target not in app.env.found_docs:
            slugs = english.metadata[target].get("myst_slugs", {})
            anchor = f"#{slugs[place][1] if place in slugs else place}" if place else ""
            address = f"{to_english(app, page)}{target}.html{anchor}"
            link.replace_self(nodes.reference("", "", *link.children, refuri=address))


def address(language: str, page: str) -> str | None:
    """Where the site has a page in a language, seen from its folder; None if it is not translated."""
    if language == ENGLISH:
        return f"{page}.html"
    return f"{language}/{page}.html" if page in translated_pages(language) or page == "search" else None


def add_switch(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """What the template of a page needs to lead to the other languages."""
    spoken, root = short_name(app.config.language), to_english(app, page)
    there = {name: found for name in (ENGLISH, *others()) if (found := address(name, page))}
    is_pair = len(there) > 1 and spoken in there
    context["english"] = root
    context["alternates"] = [(tag(name), f"{root}{found}") for name, found in there.items() if is_pair]
    context["switches"] = [switch(name, there.get(name), root) for name in (ENGLISH, *others()) if name != spoken]


def switch(name: str, found: str | None, root: str) -> Switch:
    """The link to a page in a language, or to its first page; ``root`` leads to the folder of the site."""
    only_english = translate(noop("This page is in English only; this leads to the first page."), into=name)
    called = Locale.parse(name).get_display_name(name) or name
    address_there = found or address(name, FIRST_PAGE)
    return Switch(called, tag(name), f"{root}{address_there}", "" if found else only_english)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx. A translation comes before anything else is done to a page."""
    app.connect("config-inited", choose_pages)
    app.connect("source-read", translate_page, priority=100)
    app.connect("doctree-read", use_english_ids, priority=100)
    app.connect("doctree-read", lead_to_english, priority=300)  # before source files are looked for
    app.connect("html-page-context", add_switch)
    return {"parallel_read_safe": False}


if __name__ == "__main__":
    print(*(tag(name).replace("-", "_") for name in others()))
