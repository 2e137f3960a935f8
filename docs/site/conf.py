"""The site: README, lectures and documents as pages, with the reference made from the docstrings.

    make site        writes build/site/index.html, and other languages below build/site/zh/ (see languages.py)

Pages stand where they are in the repository, so that a link in a file works on GitHub and on the site alike. Nothing on
a page comes from the network.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils.nodes import SkipNode, math, math_block
from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer
from sphinx.util.matching import patfilter

import kuiper
from kuiper.course.material import SITE_FORM
from kuiper.course.notebooks import HIDDEN
from kuiper.language import noop, translate

sys.path.insert(0, str(Path(__file__).parent))
from explore_pages import PLACE as PLACE_OF_PAGES
from explore_pages import links as explore_links
from languages import short_name
from moved_pages import write_pages as write_moved_pages
from source_pages import linkcode_resolve as linkcode_resolve  # Sphinx looks for it here

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project = "kuiper"
author = "the kuiper authors"
release = kuiper.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "source_pages",
    "languages",
    "chinese_search",
]
language = "en"
root_doc = "README"
include_patterns = ["*.md", "course*/README.md", "notebooks/*.ipynb"]
include_patterns += [f"{folder}/**.md" for folder in ("benchmarks", "docs", "kuiper", "notebooks")]
include_patterns += ["live/*.md", "packaging/*/README.md"]
exclude_patterns = [".*", "build"]
html_theme = "furo"
html_title = "kuiper"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["kuiper.css"]
html_js_files = ["language.js"]
html_copy_source = False
html_show_copyright = False
templates_path = ["templates"]
html_additional_pages = {"index": "to_first_page.jinja"}

highlight_language = "none"  # what is no code does not say so: commands, diagrams
pygments_dark_style = "github-dark"

nb_execution_mode = "off"  # the outputs that are stored are the ones that CI has checked
nb_render_markdown_format = "myst"  # links in outputs are links to pages too
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"  # browsers draw it themselves: nothing comes from the network
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_prompt_text = ">>> "
copybutton_exclude = ".gp, .go"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("Array", "ClassMap", "ImageSource", "Labels")}
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False

CHAPTERS = {
    noop("Learn"): ["docs/README", "notebooks/README", "notebooks/*", "docs/learn/*"],
    noop("Exercises"): ["course*/README"],
    noop("Teach"): ["docs/teach/*"],
    noop("Use"): ["docs/use/*", "SECURITY"],
    noop("Reference"): ["docs/reference/*", "docs/site/reference"],
    noop("Inside"): ["docs/inside/*", "live/PROTOCOL", "packaging/*/README", "CONTRIBUTING", "AGENTS", "CHANGELOG"],
    noop("Evidence"): ["docs/evidence/*"],
    noop("Files and where they come from"): [
        "kuiper/**/README",
        "notebooks/**/README",
        "docs/*/README",
        "benchmarks/*/README",
    ],
}


def add_chapters(app: Sphinx, page: str, source: list[str]) -> None:
    """The README is the first page; only the site wants a table of contents behind it."""
    if page == root_doc:
        for title, patterns in CHAPTERS.items():
            caption = translate(title, into=short_name(app.config.language))
            if pages := [pattern for pattern in patterns if patfilter(app.env.found_docs, pattern)]:
                entries = "\n".join(pages)
                source[0] += f"\n\n```{{toctree}}\n:caption: {caption}\n:hidden:\n:glob:\n\n{entries}\n```\n"


def lead_on(app: Sphinx, error: Exception | None) -> None:
    """Pages at the places where documents once stood."""
    if error is None and app.config.language == "en":
        write_moved_pages(Path(app.outdir))


def add_pages_of_models(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to the bundled models at work, which only the site has."""
    if page == "docs/use/explore":
        source[0] = source[0].replace(PLACE_OF_PAGES, explore_links())


def prepare_notebook(app: Sphinx, page: str, source: list[str]) -> None:
    """The pictures of a lecture in the form that is stored for the site, and the first line of code that is folded."""
    if not page.startswith("notebooks/") or not source[0].startswith("{"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if SITE_FORM in output.get("data", {}):
                output["data"] = {"text/html": output["data"][SITE_FORM]}
        if HIDDEN in cell["metadata"].get("tags", []):
            line = "".join(cell["source"]).splitlines()[0].lstrip("# ")
            spoken = short_name(app.config.language)
            cell["metadata"]["mystnb"] = {
                "code_prompt_show": translate(noop("Show the code: {line}"), into=spoken).format(line=line),
                "code_prompt_hide": translate(noop("Hide the code"), into=spoken),
            }
    source[0] = json.dumps(notebook)


def as_numpy_writes(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """What our docstrings do otherwise than napoleon and docutils expect.

    Behind the colon of a parameter there are words, not a type: the types are in the signature. A section is over
    where text begins at the left again. What stands further in, after an empty line, is to be shown as it stands. And
    the first line of a property may have a colon.
    """
    text = re.sub(r"^(\S.*)\n\n(?=    )", r"\1\n\n::\n\n", "\n".join(lines), flags=re.MULTILINE)
    section, paragraphs = "", []
    for paragraph in text.split("\n\n"):
        if heading := re.match(r"(\w+)\n-{4,}\n", paragraph):
            section = heading[1]
        elif section and not paragraph.startswith(" "):
            section, paragraph = "", f"\n{paragraph}"  # for napoleon, two empty lines end a section
        if section == "Parameters":
            paragraph = re.sub(r"^(\S.*?) : ", r"\1\n    ", paragraph, flags=re.MULTILINE)
        paragraphs.append(paragraph)
    nothing = [".."] if what == "property" else []  # napoleon would look for a colon here
    lines[:] = "\n\n".join([*nothing, *paragraphs]).split("\n")


def is_left_out(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """The fields of named tuples: they have nothing to say but their numbers."""
    return True if str(getattr(thing, "__doc__", "")).startswith("Alias for field number") else None


def write_formula(self: HTML5Translator, node: math | math_block) -> None:
    """A formula as MathML; one in the text, or one on lines of its own."""
    tag, place = ("div", "block") if isinstance(node, math_block) else ("span", "inline")
    self.body.append(f'<{tag} class="formula">{convert(node.astext(), display=place)}</{tag}>')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.add_lexer("pnnx", TextLexer)
    app.connect("source-read", add_chapters)
    app.connect("source-read", add_pages_of_models)
    app.connect("source-read", prepare_notebook)
    app.connect("autodoc-process-docstring", as_numpy_writes, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("build-finished", lead_on)
